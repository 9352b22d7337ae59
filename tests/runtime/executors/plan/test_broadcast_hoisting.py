"""Rows that a loop adds to each row of a matrix are repeated before it."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS, Plan


def steps(x: tf.Tensor, row: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
    for _ in tf.range(n):
        x = (row - x) * row
    return x


def planned(*arguments: np.ndarray) -> tuple[Plan, list[np.ndarray]]:
    given = [tf.constant(argument) for argument in (*arguments, np.array(5, np.int32))]
    graph = tf.function(steps).get_concrete_function(*given).graph
    values = [value.numpy() for value in given]
    (expected,) = EXECUTORS["interpret"](graph)(values)
    plan = Plan(graph)
    (found,) = plan.run(values)
    np.testing.assert_array_equal(found, expected)
    return plan, values


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_row_is_broadcast_once_for_all_its_uses(dtype: object) -> None:
    random = np.random.default_rng(1)
    x, row = (random.integers(-5, 5, shape).astype(dtype) for shape in ((20, 8), (8,)))
    plan, (_, given, _) = planned(x, row)
    assert plan.source.count("np.broadcast_to(row, (20, 8)).copy()") == 1
    assert plan.source.count("row_rows") == 3
    np.testing.assert_array_equal(given, row)


@pytest.mark.parametrize(
    ("shape", "row"),
    [
        pytest.param((4, 8), (8,), id="few rows"),
        pytest.param((20, 600), (600,), id="long rows"),
        pytest.param((20, 8), (20, 8), id="a matrix"),
        pytest.param((20, 8), (20, 1), id="a column"),
        pytest.param((20, 8), (), id="a number"),
    ],
)
def test_unsuitable_shapes_are_not_broadcast_early(shape: tuple[int, ...], row: tuple[int, ...]) -> None:
    plan, _ = planned(np.ones(shape, np.float32), np.full(row, 0.5, np.float32))
    assert "broadcast_to" not in plan.source
