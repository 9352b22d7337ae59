"""Loops that read a part of a tensor in each round: their gradients are right, and nothing whole is made in a round."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ir.builder import recording_by
from agc.runtime.ir.graph import Graph, Operation

ROWS, SIZE = 6, 3


def rows(x: Any) -> Any:
    total = tf.zeros_like(x[0])
    for row in x:
        total += tf.sin(row) * total + row
    return total


def windows(x: Any) -> Any:
    total = tf.zeros([2, 3], x.dtype)
    for i in tf.range(tf.shape(x)[0] - 1):
        total += x[i : i + 2] ** 2 * x[i]
    return total


def columns(x: Any) -> Any:
    total = tf.zeros_like(x[:, 0])
    for i in tf.range(3):
        total += x[:, i] * x[::-1, i, None][:, 0] + x[-1, i]
    return total


def lookups(x: Any) -> Any:
    total = tf.zeros([2, 3], x.dtype)
    for i in tf.range(4):
        total += tf.gather(x, [i, i]) * x[i] + tf.gather(x, i + 1)
    return total


def nested(x: Any) -> Any:
    total = tf.zeros([], x.dtype)
    for row in x:
        for cell in row:
            total += cell * cell * x[0, 0]
    return total


def some(x: Any) -> Any:
    total = tf.zeros([], x.dtype)
    for i in tf.range(tf.shape(x)[0]):
        if i > 1:
            total += tf.reduce_sum(x[i] ** 2 + x)
    return total


PROGRAMS = [rows, windows, columns, lookups, nested, some]
EXECUTORS = ["plan", "interpret"]


def value(dtype: Any = tf.float64) -> Any:
    return tf.cast(np.random.RandomState(3).rand(ROWS, SIZE), dtype)


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def g(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tf.convert_to_tensor(tape.gradient(y, x))

    return g


@functools.cache
def eagerly(f: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The first and the second derivatives of a program that is not staged, which differences agree with."""
    x = value()
    (first,), (expected,) = tf.test.compute_gradient(lambda x: tf.reduce_sum(f(x)), [x])
    np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-4)
    second = slope(slope(f))(x).numpy()
    _, (expected,) = tf.test.compute_gradient(lambda x: tf.reduce_sum(slope(f)(x)), [x])
    np.testing.assert_allclose(second.ravel(), expected.ravel(), rtol=1e-3, atol=1e-3)
    return first, second


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients_to_second_order(f: Callable[[Any], Any], executor: str) -> None:
    x = value()
    first, second = eagerly(f)
    staged = tf.function(slope(f), experimental_executor=executor)
    np.testing.assert_allclose(staged(x).numpy().ravel(), first.ravel(), rtol=1e-9)
    around = slope(tf.function(f, experimental_executor=executor))
    np.testing.assert_allclose(around(x).numpy().ravel(), first.ravel(), rtol=1e-9)
    for way in (slope(staged), tf.function(slope(staged), experimental_executor=executor)):
        np.testing.assert_allclose(way(x).numpy(), second, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.complex64])
def test_dtypes(dtype: Any) -> None:
    found = tf.function(slope(rows))(value(dtype))
    assert found.dtype is dtype
    expected = slope(rows)(value(tf.complex128 if dtype is tf.complex64 else tf.float64)).numpy()
    kind = np.complex128 if dtype is tf.complex64 else np.float64
    np.testing.assert_allclose(found.numpy().astype(kind), expected, rtol=0.1 if dtype.size == 2 else 1e-5)


@pytest.mark.parametrize("shape", [None, [None, None], [None, 3]])
def test_unknown_shapes(shape: Any) -> None:
    f = tf.function(slope(rows), input_signature=[tf.TensorSpec(shape, tf.float64)])
    np.testing.assert_allclose(f(value()).numpy(), slope(rows)(value()).numpy(), rtol=1e-9)


def test_a_loop_of_no_iterations() -> None:
    @tf.function
    def none(x: Any, n: Any) -> Any:
        total = x[0]
        for i in tf.range(n):
            total += x[i] * x[i]
        return total

    assert slope(lambda x: none(x, 0))(value()).numpy().sum() == SIZE


def test_variables() -> None:
    v = tf.Variable(value())

    @tf.function
    def f() -> Any:
        with tf.GradientTape() as tape:
            y = windows(v)
        return tape.gradient(y, v)

    np.testing.assert_allclose(f().numpy(), slope(windows)(value()).numpy(), rtol=1e-9)


def operations(graph: Graph) -> Iterator[Operation]:
    for operation in graph.operations:
        yield operation
        for region in operation.regions:
            yield from operations(region)


@pytest.mark.parametrize("f", [rows, windows, lookups])
def test_no_iteration_builds_a_full_size_gradient(f: Callable[[Any], Any]) -> None:
    graph = tf.function(slope(f)).get_concrete_function(tf.TensorSpec([1000, SIZE])).graph
    loops = [operation for operation in graph.operations if operation.type == "while"]
    assert len(loops) == 2
    made = [
        output.spec for loop in loops for inner in operations(loop.regions[1]) for output in inner.outputs
    ]
    assert made
    assert not [spec for spec in made if getattr(spec, "shape", None) == (1000, SIZE)]


class _Whole:
    """Counts the results that are as large as the whole."""

    def __init__(self) -> None:
        self.count = 0

    def computed(self, op: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        self.count += sum(tf.is_tensor(y) and y.shape[:1] == [1000] for y in outputs)

    def wants(self, inputs: Any) -> list[bool]:
        return [False] * len(inputs)


def test_eager_iterations_build_no_full_size_gradient() -> None:
    x = tf.ones([1000, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.zeros([2])
        for i in range(1000):
            total += x[i] * x[-1 - i]
    whole = _Whole()
    with recording_by([whole]):
        found = tape.gradient(total, x)
    assert found.numpy().tolist() == [[2.0, 2.0]] * 1000
    assert whole.count <= 2
