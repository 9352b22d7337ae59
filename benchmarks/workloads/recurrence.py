"""A long loop that computes one number from the last."""

from __future__ import annotations

import numpy as np

TITLE = "1M-iteration scalar while"
FULL = {"count": 1_000_000}
TINY = {"count": 20}
SHORT = {"count": 1_000}  # an argument: no library compiles anything else for it
EAGER = False

C = """
void work(void **arrays, const long *sizes) {
    float x = 0.0f;
    for (int i = 0; i < sizes[0]; i++) x = x * 0.5f + 1.0f;
    *(float *)arrays[0] = x;
}
"""


def tensorflow(tf, compiled, count):
    @tf.function(jit_compile=compiled)
    def recurrence(n):
        i, x = 0, 0.0
        while i < n:
            x = x * 0.5 + 1.0
            i += 1
        return x

    n = tf.constant(count)
    return lambda: recurrence(n)


def jax(jax, count):
    @jax.jit
    def recurrence(n):
        start = (jax.numpy.int32(0), jax.numpy.float32(0))
        step = lambda state: (state[0] + 1, state[1] * 0.5 + 1.0)  # noqa: E731
        return jax.lax.while_loop(lambda state: state[0] < n, step, start)[1]

    n = jax.numpy.int32(count)
    return lambda: recurrence(n).block_until_ready()


def numba(numba, count):
    @numba.njit
    def recurrence(n):
        x = np.float32(0)
        for _ in range(n):
            x = x * np.float32(0.5) + np.float32(1)
        return x

    return lambda: recurrence(count)


def by_hand(count):
    def recurrence():
        x, half, one = np.float32(0), np.float32(0.5), np.float32(1)
        for _ in range(count):
            x = x * half + one
        return x

    return recurrence


def limit(compiled_c, count):
    return compiled_c(C, [np.zeros((), np.float32)], [count])
