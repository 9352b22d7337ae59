"""A loop with `if`, `break` and `continue` over scalars."""

from __future__ import annotations

import numpy as np

TITLE = "10,000 iterations with if, break, continue"
FULL = {"limit_of_loop": 10_000}
TINY = {"limit_of_loop": 50}
EAGER = False

C = """
void work(void **arrays, const long *sizes) {
    int n = sizes[0], total = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) continue;
        if (total > 1000000000) break;
        total += i % 2 == 0 ? i : 1;
    }
    *(int *)arrays[0] = total;
}
"""


def _jumps(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if total > 1_000_000_000:
            break
        if i % 2 == 0:
            total += i
        else:
            total += 1
    return total


def tensorflow(tf, compiled, limit_of_loop):
    jumps = tf.function(_jumps, jit_compile=compiled)
    n = tf.constant(limit_of_loop)
    return lambda: jumps(n)


def jax(jax, limit_of_loop):
    @jax.jit
    def jumps(n):
        def step(state):
            i, total = state
            more = jax.numpy.where(i % 2 == 0, i, 1)
            return i + 1, total + jax.numpy.where(i % 3 == 0, 0, more)

        def goes_on(state):
            i, total = state
            return (i < n) & (total <= 1_000_000_000)

        return jax.lax.while_loop(goes_on, step, (jax.numpy.int32(0), jax.numpy.int32(0)))[1]

    n = jax.numpy.int32(limit_of_loop)
    return lambda: jumps(n).block_until_ready()


def numba(numba, limit_of_loop):
    jumps = numba.njit(_jumps)
    n = np.int32(limit_of_loop)
    return lambda: jumps(n)


def by_hand(limit_of_loop):
    return lambda: _jumps(limit_of_loop)


def limit(compiled_c, limit_of_loop):
    return compiled_c(C, [np.zeros((), np.int32)], [limit_of_loop])
