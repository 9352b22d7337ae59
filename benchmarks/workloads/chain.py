"""A chain of elementwise operations over much data, and a sum: what fusion and threads are for."""

from __future__ import annotations

import numpy as np

TITLE = "elementwise chain + sum, 10M float32"
FULL = {"size": 10_000_000}
TINY = {"size": 1000}
TOLERANCE = 2e-3  # ten million numbers of float32 are added up, by some one after the other
"""Relative: sums of so many numbers depend on their order."""

C = """
#include <math.h>
void work(void **arrays, const long *sizes) {
    const float *x = arrays[0];
    double total = 0;
    #pragma omp parallel for reduction(+: total)
    for (long block = 0; block < sizes[0]; block += 1000) {
        float sum = 0;
        for (long i = block; i < block + 1000; i++)
            sum += tanhf(x[i] * 0.5f + 1.0f) * expf(-x[i] * x[i]) + sqrtf(fabsf(x[i]));
        total += sum;
    }
    *(float *)arrays[1] = total;
}
"""


def _numbers(size):
    return np.linspace(-3, 3, size, dtype=np.float32)


def tensorflow(tf, compiled, size):
    @tf.function(jit_compile=compiled)
    def chain(x):
        return tf.reduce_sum(tf.tanh(x * 0.5 + 1.0) * tf.exp(-x * x) + tf.sqrt(tf.abs(x)))

    x = tf.constant(_numbers(size))
    return lambda: chain(x)


def jax(jax, size):
    numpy = jax.numpy

    @jax.jit
    def chain(x):
        return numpy.sum(numpy.tanh(x * 0.5 + 1.0) * numpy.exp(-x * x) + numpy.sqrt(numpy.abs(x)))

    x = numpy.asarray(_numbers(size))
    return lambda: chain(x).block_until_ready()


def torch(torch, compiled, size):
    def chain(x):
        return torch.sum(torch.tanh(x * 0.5 + 1.0) * torch.exp(-x * x) + torch.sqrt(torch.abs(x)))

    x = torch.from_numpy(_numbers(size))
    run = torch.compile(chain) if compiled else chain
    return lambda: run(x)


def numba(numba, size):
    @numba.njit(parallel=True, fastmath=True)
    def chain(x):
        total = 0.0
        half, one = np.float32(0.5), np.float32(1)
        for i in numba.prange(x.size):
            total += np.tanh(x[i] * half + one) * np.exp(-x[i] * x[i]) + np.sqrt(np.abs(x[i]))
        return np.float32(total)

    x = _numbers(size)
    return lambda: chain(x)


def by_hand(size):
    x, half, one = _numbers(size), np.float32(0.5), np.float32(1)
    return lambda: np.sum(np.tanh(x * half + one) * np.exp(-x * x) + np.sqrt(np.abs(x)))


def limit(compiled_c, size):
    return compiled_c(C, [_numbers(size), np.zeros((), np.float32)], [size])
