"""Ten chains of operations, nine of which an optimizer can do without.

dead        nine results are not used
common      all ten are the same
constant    nine start from constants
"""

from __future__ import annotations

import numpy as np

TITLE = "90 % of the ops {kind}"
UNROLLED = True
FULL = {"length": 100, "size": 20_000}
TINY = {"length": 4, "size": 10}


def _numbers(size):
    return np.linspace(0, 1, size, dtype=np.float32), np.linspace(0.1, 0.9, size, dtype=np.float32)


def _chain(x, y, length):
    for _ in range(length // 2):
        x = x * y
        x = x + y
    return x


def _chains(constant, x, y, kind, length):
    """The sum of the chains that count."""
    if kind == "constant":
        first, second = _numbers(x.shape[0])
        others = [_chain(constant(first + np.float32(i)), constant(second), length) for i in range(9)]
    else:
        others = [_chain(x, y, length) for _ in range(9)]
    result = _chain(x, y, length)
    if kind != "dead":
        for other in others:
            result = result + other
    return result


def tensorflow(tf, compiled, kind, length, size):
    @tf.function(jit_compile=compiled)
    def chains(x, y):
        return _chains(tf.constant, x, y, kind, length)

    x, y = map(tf.constant, _numbers(size))
    return lambda: chains(x, y)


def jax(jax, kind, length, size):
    chains = jax.jit(lambda x, y: _chains(jax.numpy.asarray, x, y, kind, length))
    x, y = map(jax.numpy.asarray, _numbers(size))
    return lambda: chains(x, y).block_until_ready()


def torch(torch, compiled, kind, length, size):
    x, y = map(torch.from_numpy, _numbers(size))
    run = torch.compile(_chains) if compiled else _chains
    return lambda: run(torch.as_tensor, x, y, kind, length)


def by_hand(kind, length, size):
    x, y = _numbers(size)
    return lambda: _chains(np.asarray, x, y, kind, length)


def limit(compiled_c, kind, length, size):
    """What is left, with nothing allocated: one chain and what adds the others."""

    def what_is_left():
        np.copyto(result, x)
        for _ in range(length // 2):
            np.multiply(result, y, out=result)
            np.add(result, y, out=result)
        if kind == "common":
            np.copyto(copy, result)
            for _ in range(9):
                np.add(result, copy, out=result)
        if kind == "constant":
            np.add(result, y, out=result)

    x, y = _numbers(size)
    result, copy = np.empty_like(x), np.empty_like(x)
    return what_is_left
