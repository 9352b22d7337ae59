"""How far integers are apart, and what that says of the lengths of slices."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.functionalize.affine_analysis import constant_difference, selected_sizes

ROWS = 100


def traced(program: Any, dtype: Any = tf.int32) -> tuple[list[Any], Any]:
    """What a program computes from two integers, and which operation makes what."""
    graph = tf.function(program).get_concrete_function(*[tf.TensorSpec([], dtype)] * 2).graph
    return graph.outputs, {value: each for each in graph.operations for value in each.outputs}


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (lambda i, j: (i, i), 0),
        (lambda i, j: (i, i + 3), 3),
        (lambda i, j: (i + 3, i), -3),
        (lambda i, j: (5 - i, 7 - i), 2),
        (lambda i, j: (3 * i, (i + 1) * 3), 3),
        (lambda i, j: (2 * (i + j) - j, i + i + j + 7), 7),
        (lambda i, j: (i * 0 + 2, (j + 5) - j), 3),
        (lambda i, j: (tf.abs(i) + 1, tf.abs(i) + 3), None),  # two operations, as CSE has not run yet
        (lambda i, j: (i, j), None),
        (lambda i, j: (i, 2 * i), None),
        (lambda i, j: (i, i * i), None),
        (lambda i, j: (i * i, i * (i + 1) - i), None),
        (lambda i, j: (i + 1, i // 1 + 4), None),
        (lambda i, j: (i, tf.maximum(i, j)), None),
    ],
)
def test_constant_differences_of_related_integers(program: Any, wanted: int | None) -> None:
    (first, last), makers = traced(program)
    assert constant_difference(first, last, makers) == wanted


def test_shared_subexpressions_are_visited_once() -> None:
    def doubled(i: Any, j: Any) -> Any:
        for _ in range(60):
            i = i + i
        return i, i + 2

    (first, last), makers = traced(doubled)
    assert constant_difference(first, last, makers) == 2


@pytest.mark.parametrize(
    ("start", "stop", "step", "wanted"),
    [
        ("i", "further", None, 3),
        ("i", "further", 2, 2),
        ("i", "further", 3, 1),
        ("i", "i", None, 0),
        (2, "five", None, 3),
        (2, 5, None, 3),
        (None, "i", None, None),
        ("i", None, None, None),
        ("further", "i", None, None),  # nothing, or what counts from the end
        ("further", "i", -1, None),
        ("i", "further", "i", None),
    ],
)
def test_lengths_of_slices(start: Any, stop: Any, step: Any, wanted: int | None) -> None:
    values, makers = traced(lambda i, j: (i, i + 3, 5 + j - j))
    known = dict(zip(("i", "further", "five"), values, strict=True))
    index = (slice(*(known.get(each, each) for each in (start, stop, step))), None)
    assert list(selected_sizes(index, (ROWS,), makers)) == [wanted, 1]


@pytest.mark.parametrize(
    ("dtype", "rows", "wanted"),
    [
        (tf.int8, 127, 3),
        (tf.int8, 128, None),
        (tf.uint8, 255, 3),
        (tf.uint8, 256, None),
        (tf.int16, None, None),
        (tf.int32, None, 3),
        (tf.int64, 1 << 40, 3),
        (tf.int32, 1 << 40, None),
    ],
)
def test_small_integers_may_wrap_around_on_long_axes(
    dtype: Any, rows: int | None, wanted: int | None
) -> None:
    (first, last), makers = traced(lambda i, j: (i, i + 3), dtype)
    assert list(selected_sizes((slice(first, last),), (rows,), makers)) == [wanted]
