"""How many of LLVM's passes graphs go through."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.executors.llvm.opt_levels import ALL, FEW, FEWEST, level


def straight(x: Any, n: Any) -> Any:
    return tf.tanh(x) * 2.0


def repeated(x: Any, n: Any) -> Any:
    for _ in tf.range(n):
        x = tf.tanh(x) * 2.0
    return x


def branching(x: Any, n: Any) -> Any:
    for i in tf.range(n):
        if i % 3 == 0:
            x = tf.tanh(x) * 2.0
    return x


@pytest.mark.parametrize(
    ("program", "size", "expected"),
    [
        (straight, 3, FEWEST),
        (repeated, 3, FEW),
        (repeated, 1000, FEWEST),
        (repeated, None, FEW),
        (branching, 1000, ALL),
    ],
    ids=["straight", "few numbers", "many numbers", "unknown", "branching"],
)
def test_the_level_of_a_graph(program: Any, size: int | None, expected: Any) -> None:
    specs = tf.TensorSpec([size]), tf.TensorSpec([], tf.int32)
    assert level(tf.function(program).get_concrete_function(*specs).graph) == expected
