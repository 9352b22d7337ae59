"""Straight-line programs of some length: what an operation costs, traced and run, must not depend on how many."""

from __future__ import annotations

import numpy as np

TITLE = "{count} operations"
FULL = TINY = {"size": 10}


def _straight(x, y, count):
    for _ in range(count // 2):
        x = x * y
        x = x + y
    return x


def tensorflow(tf, compiled, count, size):
    @tf.function(jit_compile=compiled)
    def straight(x, y):
        return _straight(x, y, count)

    x, y = tf.fill([size], 0.5), tf.fill([size], 0.25)
    return lambda: straight(x, y)


def jax(jax, count, size):
    straight = jax.jit(lambda x, y: _straight(x, y, count))
    x, y = jax.numpy.full(size, 0.5, "float32"), jax.numpy.full(size, 0.25, "float32")
    return lambda: straight(x, y).block_until_ready()


def by_hand(count, size):
    x, y = np.full(size, 0.5, np.float32), np.full(size, 0.25, np.float32)
    return lambda: _straight(x, y, count)
