"""A call with ten arguments, and nine operations."""

from __future__ import annotations

import numpy as np

TITLE = "call with ten arguments"
FULL = TINY = {}


def _total(a, b, c, d, e, f, g, h, i, j):
    return a + b + c + d + e + f + g + h + i + j


def tensorflow(tf, compiled):
    total = tf.function(_total, jit_compile=compiled)
    x = [tf.constant(float(i)) for i in range(10)]
    return lambda: total(*x)


def jax(jax):
    total = jax.jit(lambda *x: _total(*x))
    x = [jax.numpy.float32(i) for i in range(10)]
    return lambda: total(*x).block_until_ready()


def torch(torch, compiled):
    x = [torch.tensor(float(i)) for i in range(10)]
    run = torch.compile(_total) if compiled else _total
    return lambda: run(*x)


def numba(numba):
    total = numba.njit(_total)
    x = [np.float32(i) for i in range(10)]
    return lambda: total(*x)


def by_hand():
    x = [np.array(i, np.float32) for i in range(10)]
    return lambda: _total(*x)
