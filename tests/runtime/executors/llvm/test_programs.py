"""Native code does what the interpreter does, on small programs."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def jumps(n: Any) -> Any:
    total = 0
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        if total > 5000:
            break
        total += i * 7
    return total, i


def escape_times(re: Any, im: Any) -> Any:
    x, y, times = tf.zeros_like(re), tf.zeros_like(im), tf.zeros_like(re)
    for _ in tf.range(20):
        inside = x * x + y * y <= 4.0
        x, y = tf.where(inside, x * x - y * y + re, x), tf.where(inside, 2.0 * x * y + im, y)
        times += tf.cast(inside, tf.float32)
    return times


def swapped(a: Any, b: Any, n: Any) -> Any:
    for i in tf.range(n):
        a, b = b, a
        if i % 2 == 0:
            a = a + b
    return a, b


def one_start(a: Any, n: Any) -> Any:
    """Two states of a loop begin with the same tensor, and each goes its own way."""
    r = a * 2.0
    p = r
    while n > 0 and tf.reduce_sum(p) < 1e6:
        p = p * 2.0 + r
        r = r - 1.0
        n -= 1
    return r, p


def start_and_constant(a: Any, n: Any) -> Any:
    """A state begins with a tensor that the loop reads as well."""
    r = a * 2.0
    p = r
    while n > 0 and tf.reduce_sum(p) < 1e6:
        p = p * 2.0 + r
        n -= 1
    return p


def items_of_two(a: Any, n: Any) -> Any:
    r = a * 2.0
    p = r
    for i in tf.range(n):
        p[i] = r[i] + p[0]
        r[i] = p[i] - 1.0
    return r, p


def reductions(x: Any) -> Any:
    y = x * 2.0 + 1.0
    centred = y - tf.reduce_mean(y, axis=0)
    return tf.reduce_max(centred), tf.reduce_sum(tf.abs(centred), axis=1), tf.reduce_min(y, axis=0), centred


def three_in_a_row(x: Any, y: Any, z: Any, n: Any) -> Any:
    for _ in tf.range(n):
        x, y, z = x * 0.5 + y, y * 0.25 + z, z * 0.5 + 1.0
    return x, y, z


GRID = np.linspace(-2, 2, 60, dtype=np.float32).reshape(5, 12)
CASES = [
    (collatz, (97,)),
    (jumps, (1000,)),
    (jumps, (10,)),
    (escape_times, (GRID, GRID[::-1].copy())),
    (escape_times, (GRID.T.copy(), GRID.T[::-1].copy())),
    (escape_times, (np.resize(GRID, (7, 11)), np.resize(GRID[::-1], (7, 11)))),
    (swapped, (GRID, GRID * 3, 5)),
    (swapped, (GRID[0], GRID[1], 0)),
    (swapped, (GRID[0, :3], GRID[1, :3], 7)),
    *((one_start, (GRID[0, :size], 3)) for size in (1, 5, 12)),
    (one_start, (GRID, 3)),
    *((start_and_constant, (GRID[0, :size], 3)) for size in (1, 5, 12)),
    (start_and_constant, (GRID, 3)),
    (items_of_two, (GRID[0], 9)),
    (items_of_two, (GRID.ravel(), 40)),
    (reductions, (GRID,)),
    *((three_in_a_row, (*np.resize(GRID, (3, size)), 4)) for size in (1, 31, 33, 65)),  # blocks, and a rest
]


@pytest.mark.parametrize(("program", "arguments"), CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_native_code_agrees_with_the_interpreter(program: Any, arguments: tuple[Any, ...]) -> None:
    tensors = [tf.constant(argument) for argument in arguments]
    graph = tf.function(program).get_concrete_function(*tensors).graph
    values = [tensor.numpy() for tensor in tensors]
    wanted = interpret(graph, values)
    found = JitFunction(graph).run([np.asarray(value) for value in values])
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_large_sums_run_in_threads():
    total = tf.function(lambda x: tf.reduce_sum(x * 2.0), jit_compile=True)
    for size in (262_144, 300_000, 409_600, 600_000):
        x = np.arange(size, dtype=np.float32) % 7
        assert float(total(tf.constant(x))) == 2 * float(x.astype(np.float64).sum())
