"""A hundred products of small integer matrices, as many operations of a graph."""

from __future__ import annotations

import numpy as np

TITLE = "100 int32 10x10 matmuls"
UNROLLED = True
FULL = {"times": 100}
TINY = {"times": 5}

C = """
void work(void **arrays, const long *sizes) {
    const int *x = arrays[0];
    int *result = arrays[1], next[100];
    for (int i = 0; i < 100; i++) result[i] = i % 11 == 0;
    for (long step = 0; step < sizes[0]; step++) {
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 10; j++) {
                int sum = 0;
                for (int k = 0; k < 10; k++) sum += x[i * 10 + k] * result[k * 10 + j];
                next[i * 10 + j] = sum;
            }
        for (int i = 0; i < 100; i++) result[i] = next[i];
    }
}
"""


def _matrix():
    return np.array([[(i * j) % 3 - 1 for j in range(10)] for i in range(10)], np.int32)


def tensorflow(tf, compiled, times):
    @tf.function(jit_compile=compiled)
    def power(x):
        result = tf.eye(10, dtype=tf.int32)
        for _ in range(times):
            result = tf.matmul(x, result)
        return result

    x = tf.constant(_matrix())
    return lambda: power(x)


def jax(jax, times):
    @jax.jit
    def power(x):
        result = jax.numpy.eye(10, dtype="int32")
        for _ in range(times):
            result = x @ result
        return result

    x = jax.numpy.asarray(_matrix())
    return lambda: power(x).block_until_ready()


def torch(torch, compiled, times):
    def power(x):
        result = torch.eye(10, dtype=torch.int32)
        for _ in range(times):
            result = x @ result
        return result

    x = torch.from_numpy(_matrix())
    run = torch.compile(power) if compiled else power
    return lambda: run(x)


def numba(numba, times):
    @numba.njit
    def power(x):
        result = np.eye(10).astype(np.int32)
        for _ in range(times):
            product = np.zeros((10, 10), np.int32)
            for i in range(10):
                for k in range(10):
                    for j in range(10):
                        product[i, j] += x[i, k] * result[k, j]
            result = product
        return result

    x = _matrix()
    return lambda: power(x)


def by_hand(times):
    def power():
        result = np.eye(10, dtype=np.int32)
        for _ in range(times):
            result = x @ result
        return result

    x = _matrix()
    return power


def limit(compiled_c, times):
    return compiled_c(C, [_matrix(), np.zeros((10, 10), np.int32)], [times])
