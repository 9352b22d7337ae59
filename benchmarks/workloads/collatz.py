"""A loop over integers with an unknown trip count."""

from __future__ import annotations

import numpy as np

TITLE = "Collatz, 525 iterations"
FULL = {"start": 1675598}
TINY = {"start": 27}

C = """
void work(void **arrays, const long *sizes) {
    long n = sizes[0], steps = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        steps++;
    }
    *(long *)arrays[0] = steps;
}
"""


def _collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def tensorflow(tf, compiled, start):
    @tf.function(jit_compile=compiled)
    def collatz(n):
        steps = tf.constant(0, tf.int64)
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    n = tf.constant(start, tf.int64)
    return lambda: collatz(n)


def jax(jax, start):
    @jax.jit
    def collatz(n):
        def step(state):
            n, steps = state
            return jax.numpy.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return jax.lax.while_loop(lambda state: state[0] != 1, step, (n, jax.numpy.int64(0)))[1]

    n = jax.numpy.int64(start)
    return lambda: collatz(n).block_until_ready()


def numba(numba, start):
    collatz = numba.njit(_collatz)
    return lambda: collatz(start)


def by_hand(start):
    return lambda: _collatz(start)


def limit(compiled_c, start):
    return compiled_c(C, [np.zeros((), np.int64)], [start])
