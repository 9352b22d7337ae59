"""The adaptive integrator of Dormand and Prince: each iteration accepts or rejects a step, and chooses the next."""

from __future__ import annotations

import numpy as np

TITLE = "RK45, Lorenz system to t = 5"
FULL = {"end": 5.0}
TINY = {"end": 0.2}
UNROLLED = True

START, FIRST, ALLOWED = (1.0, 1.0, 1.0), 0.01, 1e-6
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def _sum(weights, slopes):
    """The sum of slopes times weights that are not zero."""
    terms = [weight * slope for weight, slope in zip(weights, slopes, strict=True) if weight]
    return sum(terms[1:], terms[0])


def _attempt(slope, y, h):
    """The state after a step, and the estimate of its error."""
    slopes = [slope(y)]
    for weights in STAGES:
        last = y + h * _sum(weights, slopes)
        slopes.append(slope(last))
    return last, h * _sum(ERROR, slopes)


def tensorflow(tf, compiled, end):
    def slope(s):
        x, y, z = s[0], s[1], s[2]
        return tf.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    @tf.function(jit_compile=compiled)
    def integrate(y, end):
        t, h = tf.zeros([], tf.float64), tf.constant(FIRST, tf.float64)
        while t < end:
            h = tf.minimum(h, end - t)
            after, estimate = _attempt(slope, y, h)
            error = tf.reduce_max(tf.abs(estimate)) / ALLOWED + 1e-10
            if error <= 1.0:
                t += h
                y = after
            h = h * tf.clip_by_value(0.9 * error**-0.2, 0.2, 5.0)
        return y

    y, end = tf.constant(START, tf.float64), tf.constant(end, tf.float64)
    return lambda: integrate(y, end)


def jax(jax, end):
    numpy = jax.numpy

    def slope(s):
        x, y, z = s
        return numpy.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    @jax.jit
    def integrate(y, end):
        def step(state):
            t, h, y = state
            h = numpy.minimum(h, end - t)
            after, estimate = _attempt(slope, y, h)
            error = numpy.max(numpy.abs(estimate)) / ALLOWED + 1e-10
            is_good = error <= 1.0
            t, y = numpy.where(is_good, t + h, t), numpy.where(is_good, after, y)
            return t, h * numpy.clip(0.9 * error**-0.2, 0.2, 5.0), y

        start = numpy.float64(0), numpy.float64(FIRST), y
        return jax.lax.while_loop(lambda state: state[0] < end, step, start)[2]

    y, end = numpy.array(START), numpy.float64(end)
    return lambda: integrate(y, end).block_until_ready()


def torch(torch, compiled, end):
    def slope(s):
        x, y, z = s
        return torch.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    def integrate():
        y = torch.tensor(START, dtype=torch.float64)
        t, h = torch.zeros((), dtype=torch.float64), torch.tensor(FIRST, dtype=torch.float64)
        while t < end:
            h = torch.clamp(h, max=end - t)
            after, estimate = _attempt(slope, y, h)
            error = torch.max(torch.abs(estimate)) / ALLOWED + 1e-10
            if error <= 1.0:
                t, y = t + h, after
            h = h * torch.clip(0.9 * error**-0.2, 0.2, 5.0)
        return y

    return integrate


def by_hand(end):
    def slope(s):
        x, y, z = s
        return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    def integrate():
        y, t, h = np.array(START), 0.0, FIRST
        while t < end:
            h = min(h, end - t)
            after, estimate = _attempt(slope, y, h)
            error = np.abs(estimate).max() / ALLOWED + 1e-10
            if error <= 1.0:
                t, y = t + h, after
            h *= min(max(0.9 * error**-0.2, 0.2), 5.0)
        return y

    return integrate
