"""A loop over whole pictures: the state is three tensors, and all of its operations are elementwise."""

from __future__ import annotations

import numpy as np

TITLE = "Mandelbrot 256x256, 50 iterations"
UNROLLED = True
FULL = {"side": 256, "iterations": 50}
TINY = {"side": 8, "iterations": 5}
DIFFERENT = 0.01
"""So many of the pixels may differ: those at the edge, where the last bit of a product decides."""

C = """
void work(void **arrays, const long *sizes) {
    const float *c_re = arrays[0], *c_im = arrays[1];
    int *times = arrays[2];
    for (long first = 0; first < sizes[0] * sizes[0]; first += 64) {
        float re[64] = {0}, im[64] = {0};
        int count[64] = {0};
        for (long step = 0; step < sizes[1]; step++)
            for (int i = 0; i < 64; i++) {
                float new_re = re[i] * re[i] - im[i] * im[i] + c_re[first + i];
                float new_im = 2.0f * re[i] * im[i] + c_im[first + i];
                int inside = new_re * new_re + new_im * new_im <= 4.0f;
                re[i] = inside ? new_re : re[i];
                im[i] = inside ? new_im : im[i];
                count[i] += inside;
            }
        for (int i = 0; i < 64; i++) times[first + i] = count[i];
    }
}
"""


def _plane(side):
    c_re, c_im = np.meshgrid(np.linspace(-2.0, 0.6, side), np.linspace(-1.2, 1.2, side))
    return c_re.astype(np.float32), c_im.astype(np.float32)


def tensorflow(tf, compiled, side, iterations):
    @tf.function(jit_compile=compiled)
    def mandelbrot(c_re, c_im, iterations):
        z_re, z_im = tf.zeros_like(c_re), tf.zeros_like(c_im)
        times = tf.zeros([side, side], tf.int32)
        for _ in tf.range(iterations):
            re = z_re * z_re - z_im * z_im + c_re
            im = 2.0 * z_re * z_im + c_im
            inside = re * re + im * im <= 4.0
            z_re = tf.where(inside, re, z_re)
            z_im = tf.where(inside, im, z_im)
            times += tf.cast(inside, tf.int32)
        return times

    arguments = [*map(tf.constant, _plane(side)), tf.constant(iterations)]
    return lambda: mandelbrot(*arguments)


def jax(jax, side, iterations):
    numpy = jax.numpy

    @jax.jit
    def mandelbrot(c_re, c_im, iterations):
        def step(_, state):
            z_re, z_im, times = state
            re = z_re * z_re - z_im * z_im + c_re
            im = 2.0 * z_re * z_im + c_im
            inside = re * re + im * im <= 4.0
            return numpy.where(inside, re, z_re), numpy.where(inside, im, z_im), times + inside

        zero = numpy.zeros_like(c_re)
        return jax.lax.fori_loop(0, iterations, step, (zero, zero, numpy.zeros(c_re.shape, "int32")))[2]

    arguments = [*map(numpy.asarray, _plane(side)), numpy.int32(iterations)]
    return lambda: mandelbrot(*arguments).block_until_ready()


def torch(torch, compiled, side, iterations):
    def mandelbrot(c_re, c_im):
        z_re, z_im = torch.zeros_like(c_re), torch.zeros_like(c_im)
        times = torch.zeros(c_re.shape, dtype=torch.int32)
        for _ in range(iterations):
            re = z_re * z_re - z_im * z_im + c_re
            im = 2.0 * z_re * z_im + c_im
            inside = re * re + im * im <= 4.0
            z_re = torch.where(inside, re, z_re)
            z_im = torch.where(inside, im, z_im)
            times = times + inside
        return times

    arguments = [torch.from_numpy(part) for part in _plane(side)]
    run = torch.compile(mandelbrot) if compiled else mandelbrot
    return lambda: run(*arguments)


def numba(numba, side, iterations):
    @numba.njit(parallel=True)
    def mandelbrot(c_re, c_im):
        times = np.zeros(c_re.shape, np.int32)
        for row in numba.prange(c_re.shape[0]):
            for column in range(c_re.shape[1]):
                z_re = z_im = np.float32(0)
                for _ in range(iterations):
                    re = z_re * z_re - z_im * z_im + c_re[row, column]
                    z_im = np.float32(2) * z_re * z_im + c_im[row, column]
                    z_re = re
                    if z_re * z_re + z_im * z_im > np.float32(4):
                        break
                    times[row, column] += 1
        return times

    arguments = _plane(side)
    return lambda: mandelbrot(*arguments)


def by_hand(side, iterations):
    def mandelbrot():
        z_re, z_im = np.zeros_like(c_re), np.zeros_like(c_im)
        times = np.zeros([side, side], np.int32)
        for _ in range(iterations):
            re = z_re * z_re - z_im * z_im + c_re
            im = 2 * z_re * z_im + c_im
            inside = re * re + im * im <= 4
            z_re = np.where(inside, re, z_re)
            z_im = np.where(inside, im, z_im)
            times += inside
        return times

    c_re, c_im = _plane(side)
    return mandelbrot


def limit(compiled_c, side, iterations):
    return compiled_c(C, [*_plane(side), np.zeros([side, side], np.int32)], [side, iterations])
