"""The attributes of a graph."""

from __future__ import annotations

import agc.runtime as tf
import pytest
from agc.runtime.ir.parser import parse


@pytest.mark.parametrize(
    ("body", "is_scalar"),
    [
        ("(x: int32[]) -> int32[]\n  y = add x, 1  : int32[]\n  return y", True),
        ("(x: int32[2]) -> int32[2]\n  return x", False),
        ("(x: int32[?]) -> int32[]\n  return 1", False),
        ("(x: int32[]) -> int32[]\n  y = gather [5, 6], x  : int32[]\n  return y", False),
        ("(x: ref int32[]) -> int32[]\n  y = read_variable x  : int32[]\n  return y", False),
    ],
    ids=["scalars", "array", "unknown size", "constant array", "variable"],
)
def test_a_graph_of_scalars_is_marked(body: str, is_scalar: bool) -> None:
    assert parse(f"graph g{body}\n").is_scalar is is_scalar


def test_an_array_in_a_region_counts() -> None:
    def step(n, size):
        while n > 0:
            n = n - tf.reduce_sum(tf.range(size))
        return n

    graph = tf.function(step).get_concrete_function(tf.constant(9), tf.constant(2)).graph
    assert all(value.shape == () for operation in graph.operations for value in operation.outputs)
    assert not graph.is_scalar


def test_a_walk_visits_a_callee_once_however_often_it_is_called() -> None:
    twice = tf.function(lambda x: tf.tanh(x) * 2.0, autograph=False)
    x = tf.TensorSpec([3])
    graph = tf.function(lambda x: twice(twice(twice(x))), autograph=False).get_concrete_function(x).graph
    assert [operation.type for operation in graph.walk()] == ["call"] * 3 + ["tanh", "multiply"]
