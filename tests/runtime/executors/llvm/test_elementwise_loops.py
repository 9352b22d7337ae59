"""Vectorized loops over elements agree with the interpreter: strides, short rows, reductions, and each dtype."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.compile_graph import text
from agc.runtime.executors.llvm.processor import vector_bytes
from support.selection import in_turn

RANDOM = np.random.default_rng(0)


def chain(x: Any) -> Any:
    return tf.tanh(x) * 0.5 + tf.sqrt(tf.abs(x))


def rare(x: Any) -> Any:
    """Functions that branch for what is rare."""
    return tf.sin(x * 1e6) + tf.math.lgamma(tf.abs(x) + 0.5)


def truths(x: Any) -> Any:
    return tf.logical_and(x > 0.0, x < 1.0), tf.where(x > 0.5, x, -x), tf.cast(x > 0.0, x.dtype)


def gathered(x: Any) -> Any:
    """Sums, the largest, and whether any holds: what is taken together begins with what is there."""
    return tf.reduce_sum(x, -1), tf.reduce_max(x), tf.reduce_min(x, 0), tf.reduce_any(x > 1.5)


def rows(x: Any) -> Any:
    """Vectorize values that are uniform in a row, and sums in adjacent memory."""
    y = x - tf.reduce_mean(x, -1, keepdims=True)
    return y / tf.sqrt(tf.reduce_mean(y * y, -1, keepdims=True) + 1e-3), tf.reduce_sum(x, 0)


def shifted(x: Any) -> Any:
    return x[..., 1:] - x[..., :-1], tf.concat([x, x], -1)


def whole(x: Any) -> Any:
    i = tf.cast(x * 10.0, tf.int32)
    return i * 3 - 4, tf.reduce_sum(i), tf.cast(i, x.dtype)


def repeated(x: Any) -> Any:
    for _ in tf.range(3):
        x = tf.tanh(x) + 0.5 * x
    return x


def largest(x: Any) -> Any:
    """LLVM must not see that an infinity changes no maximum, or it branches around the maximum."""
    return tf.reduce_max(tf.where(x > 0.5, x, -np.inf), -1)


def place(x: Any) -> Any:
    return tf.argmax(x, -1)


def padded(x: Any) -> Any:
    return tf.pad(x, [[1, 2], [2, 1]], constant_values=3)


def turned(x: Any) -> Any:
    return tf.roll(x, [1, -3], [0, 1]) + 0.5


def running(x: Any) -> Any:
    """Scans along another axis than the last combine whole rows."""
    return tf.cumsum(x, 0), tf.math.cumprod(x, 0, exclusive=True), tf.cumsum(x, 0, reverse=True)


def chosen(x: Any) -> Any:
    """The index of a row is loaded before the loop over the row."""
    indices = tf.cast(tf.abs(x[:, :8]), tf.int32)
    return tf.gather(x, indices[:, 0]), tf.reduce_sum(tf.gather(x, indices), 1)


def short(x: Any) -> Any:
    """Reductions of short rows go over the results."""
    pairs, triples = tf.reshape(x, [64, 150, 2]), tf.reshape(x, [32, 2, 100, 3])
    return tf.reduce_max(pairs, -1), tf.reduce_sum(triples, [1, 3]), tf.nn.softmax(pairs)


def graph_of(program: Callable[[Any], Any], shape: Any, dtype: Any) -> Any:
    return tf.function(program).get_concrete_function(tf.TensorSpec(shape, dtype)).graph


def check(graph: Any, shape: Any, dtype: Any) -> None:
    x = RANDOM.standard_normal(shape).astype(dtype.as_numpy_dtype)
    for found, expected in zip(JitFunction(graph).run([x]), interpret(graph, [x]), strict=True):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        exact = found.dtype.kind != "f"
        np.testing.assert_allclose(found, expected, *((0, 0) if exact else (2e-5, 2e-5)))


PROGRAMS = [chain, rare, truths, gathered, rows, shifted, whole, repeated]
SHAPES = [(3, 5), (37, 29), (16, 64)]
FLOATS = [tf.float32, tf.float64]


@pytest.mark.parametrize(
    ("program", "shape", "dtype"),
    [
        pytest.param(program, shape, dtype, id=f"{program.__name__}-{shape}-{dtype.name}")
        for row, program in enumerate(PROGRAMS)
        for column, shape in enumerate(SHAPES)
        for dtype in in_turn(FLOATS, row + column)
    ],
)
def test_elementwise_loops_are_vectorized(program: Callable[[Any], Any], shape: Any, dtype: Any) -> None:
    graph = graph_of(program, shape, dtype)
    assert f" x {'float' if dtype == tf.float32 else 'double'}>" in text(graph)
    check(graph, shape, dtype)


@pytest.mark.parametrize(
    "program", [largest, place, padded, turned, running, chosen, short], ids=lambda each: str(each.__name__)
)
def test_neighbors_are_read_together(program: Callable[[Any], Any]) -> None:
    shape = [64, 300]
    graph = graph_of(program, shape, tf.float32)
    code = text(graph)
    is_gathered = re.search(r"insertelement .* i64 [1-9]|masked\.gather", code)
    assert " x float>" in code and not is_gathered
    check(graph, shape, tf.float32)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16, 31, 40, 63, 64, 65, 1000])
def test_remaining_iterations_are_computed(size: int) -> None:
    def program(x: Any) -> Any:
        return tf.exp(x) - x, tf.reduce_sum(tf.exp(x)), tf.reduce_max(x)

    check(graph_of(program, [size], tf.float32), [size], tf.float32)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=lambda each: str(each.name))
def test_long_iterations_use_the_widest_vectors(dtype: Any) -> None:
    def polynomial(x: Any) -> Any:
        result = x
        for _ in range(20):
            result = result * x + 0.5
        return result

    lanes = vector_bytes() // dtype.size
    for size in (lanes, 3 * lanes + 1, 100 * lanes + 1):
        graph = graph_of(polynomial, [size], dtype)
        assert f"<{lanes} x {'float' if dtype == tf.float32 else 'double'}>" in text(graph)
        check(graph, [size], dtype)


def test_parts_of_threads_begin_and_end_anywhere() -> None:
    shape = [3, 50_001]
    check(graph_of(chain, shape, tf.float32), shape, tf.float32)


def apart(x: Any) -> Any:
    """Elements that are read, or written, each by itself, or picked out of vectors; and those that go backward."""
    every = x[..., ::2] * x[..., ::2], x[:, 1::3] + 1.0, x[..., ::7] - 1.0, x[..., ::-1] + 2.0
    return *every, tf.stack([x, -x], -1), tf.transpose(x) + 1.0, tf.reduce_sum(tf.transpose(x), -1)


def looked_up(x: Any) -> Any:
    flat = tf.reshape(x, [-1])
    pairs = tf.stack([tf.range(300) % 3, tf.range(300) % 5], -1)
    return tf.gather(flat, tf.range(300) * 7 % 15), tf.gather_nd(x, pairs)


def slow(x: Any) -> Any:
    """Operations that no machine computes in vectors, or for which LLVM has no vector form."""
    i = tf.cast(x * 10.0, tf.int64)
    small, divisors = tf.cast(i, tf.int8), tf.cast(x * x, tf.int32) + 1
    return (
        i * i,
        i // 7,
        i % 3,
        tf.cast(i, x.dtype),
        small * small,
        tf.cast(i, tf.int32) // divisors,
        small // 3,
    )


def extremes(x: Any) -> Any:
    i = tf.cast(x * 100.0, tf.int32)
    return tf.reduce_max(i), tf.reduce_min(i, -1), tf.maximum(i, 3), tf.reduce_max(tf.cast(i, tf.uint8), -1)


def halves(x: Any) -> Any:
    y = tf.cast(x, tf.float16)
    return y * y + y, tf.where(y > 0.5, y, -y)


@pytest.mark.parametrize("shape", [(3, 5), (16, 64), (37, 29)], ids=str)
@pytest.mark.parametrize(
    "program", [apart, looked_up, slow, extremes, halves], ids=lambda each: str(each.__name__)
)
def test_strided_and_unsupported_loops_agree(program: Callable[[Any], Any], shape: Any) -> None:
    check(graph_of(program, shape, tf.float32), shape, tf.float32)


def in_order(x: Any) -> Any:
    return tf.cumsum(x, -1), tf.argmax(x, -1)


def places(x: Any) -> Any:
    return tf.roll(x, 3, -1), tf.reshape(tf.transpose(x), x.shape) + 1.0


@pytest.mark.parametrize("program", [in_order, places], ids=lambda each: str(each.__name__))
def test_loops_with_dependences_or_computed_indices_agree(program: Callable[[Any], Any]) -> None:
    check(graph_of(program, [31, 40], tf.float32), [31, 40], tf.float32)


@pytest.mark.parametrize("columns", [3, 7, 10, 21])
@pytest.mark.parametrize("program", [rows, whole, rare], ids=lambda each: str(each.__name__))
def test_short_rows_agree(program: Callable[[Any], Any], columns: int) -> None:
    check(graph_of(program, [6, columns], tf.float32), [6, columns], tf.float32)
