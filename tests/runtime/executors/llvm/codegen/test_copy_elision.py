"""Copy elision: buffers that become a result unchanged use the result's memory; others are copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph

X = np.arange(1600, dtype=np.float64).reshape(40, 40) / 1600


def products(x: Any) -> Any:
    return tf.matmul(tf.matmul(x, x), x)


def listed(x: Any) -> Any:
    array = tf.TensorArray(tf.float64, 3, element_shape=[40, 40])
    for i in tf.range(3):
        array = array.write(i, x)
        x = tf.matmul(x, x)
    return array.stack()


def twice(x: Any) -> Any:
    y = tf.matmul(x, x)
    return y, y


def one_of_two(x: Any) -> Any:
    y = tf.matmul(x, x)
    return tf.cond(y[0, 0] > 1e9, lambda: y, lambda: x)


def also_read_on(x: Any) -> Any:
    y = tf.matmul(x, x)
    return y, tf.matmul(y, y)


def stacked_and_written(x: Any) -> Any:
    array = tf.TensorArray(tf.float64, 2, element_shape=[40, 40], clear_after_read=False).unstack([x, x * 2])
    before = array.stack()
    return before, array.write(0, tf.matmul(x, x)).stack()


def state_of_a_loop(x: Any) -> Any:
    y = x
    for _ in tf.range(tf.cast(x[0, 0], tf.int32) + 3):
        y = tf.matmul(y, x)
    return y


def graph_of(program: Callable[..., Any]) -> Any:
    return tf.function(program).get_concrete_function(tf.TensorSpec([40, 40], tf.float64)).graph


@pytest.mark.parametrize(
    "program",
    [products, listed, twice, one_of_two, also_read_on, stacked_and_written, state_of_a_loop],
    ids=lambda each: str(each.__name__),
)
def test_results_equal_the_interpreters(program: Callable[..., Any]) -> None:
    """Again, in memory that is kept from the call before, and while the results of that are still there."""
    graph = graph_of(program)
    native = JitFunction(graph)
    wanted = interpret(graph, [X])
    for found in [native.run([X]) for _ in range(3)]:
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(("program", "matrices"), [(products, 1), (listed, 2), (twice, 0), (also_read_on, 0)])
def test_only_necessary_buffers_are_allocated(program: Callable[..., Any], matrices: int) -> None:
    graph = graph_of(program)
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert sum(place.size for place in unit.slots) == matrices * X.nbytes
