"""A call that finds its graph, and one operation."""

from __future__ import annotations

import numpy as np

TITLE = "call x + 1, scalar"
FULL = TINY = {}


def tensorflow(tf, compiled):
    @tf.function(jit_compile=compiled)
    def successor(x):
        return x + 1

    x = tf.constant(1.5)
    return lambda: successor(x)


def jax(jax):
    @jax.jit
    def successor(x):
        return x + 1

    x = jax.numpy.float32(1.5)
    return lambda: successor(x).block_until_ready()


def torch(torch, compiled):
    def successor(x):
        return x + 1

    x = torch.tensor(1.5)
    run = torch.compile(successor) if compiled else successor
    return lambda: run(x)


def numba(numba):
    @numba.njit
    def successor(x):
        return x + np.float32(1)

    x = np.float32(1.5)
    return lambda: successor(x)


def by_hand():
    x, one = np.array(1.5, np.float32), np.float32(1)
    return lambda: x + one
