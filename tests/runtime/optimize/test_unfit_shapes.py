"""Parts of programs that do not fit the shapes that a call has: they fail if they run, and only then.

A function that takes all shapes is written out where it is called with one that is known. What it would do with other
shapes stands there too, behind conditions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc import runtime as tf

ANY = tf.TensorSpec(None, tf.float32)


@tf.function(input_signature=[ANY])
def pairs(x: Any) -> Any:
    """Laws about sums: those of what does not fit are not made use of."""
    if tf.size(x) == 2:
        n = tf.add(tf.add(tf.cast(x, tf.int32), [1, 2]), [3, 4])
        return tf.cast(n, tf.float32)
    return x


@tf.function(input_signature=[ANY])
def squares(x: Any) -> Any:
    """Nor are those of `reshape`."""
    if tf.size(x) == 4:
        return tf.reshape(tf.reshape(x, [2, 2]), [4])
    return x


@tf.function(input_signature=[ANY])
def sums(x: Any) -> Any:
    """A loop without rounds does not fail, though all rounds would add the same."""
    total = tf.zeros([2, 2])
    for _ in tf.range(tf.size(x) - 3):
        total += tf.add(x, [1.0, 2.0]) * 2.0
        total += tf.reshape(x, [2, 2])
    return total


@tf.function(input_signature=[ANY])
def rows(x: Any) -> Any:
    """What is told a shape that is known late would have another one, if it fitted."""
    several = tf.TensorArray(tf.float32, tf.size(x)).write(0, 1.0).stack()
    return tf.reshape(tf.reshape(tf.reduce_sum(x), [1]), tf.shape(several))


@pytest.mark.parametrize("function", [pairs, squares, sums, rows], ids=["pairs", "squares", "sums", "rows"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_mismatched_shapes_fail_only_when_they_run(function: Any, rounds: int) -> None:
    def called(x: Any, more: Any) -> Any:
        y = function(x)
        for _ in tf.range(more):
            y = function(tf.zeros([5]))
        return y

    def outcome(executor: str) -> Any:
        run = tf.function(called, experimental_executor=executor)
        try:
            return run(np.ones(3, np.float32), np.int32(rounds)).numpy().tolist()
        except tf.errors.InvalidArgumentError as error:
            return str(error)

    assert outcome("plan") == outcome("interpret")
