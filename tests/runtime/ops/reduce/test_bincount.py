"""tf.math.bincount."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.ops.reduce.bincount import occurrences
from support.everywhere import everywhere


def test_bincount() -> None:
    count = tf.function(lambda x: tf.math.bincount(x, minlength=3, maxlength=4, dtype=tf.int64))
    counts = count(tf.constant([[1, 1], [3, 9]]))
    assert (counts.numpy().tolist(), counts.dtype) == ([0, 2, 0, 1], tf.int64)
    assert tf.math.bincount([], minlength=2).numpy().tolist() == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        tf.math.bincount([-1])
    assert tf.math.bincount([1.0, 2.0]).numpy().tolist() == [0, 1, 1]


def test_weights_rows_and_mere_occurrence() -> None:
    """The values are TensorFlow 2.21's."""
    rows = [[1, 1, 2], [0, 0, 3]]

    def count(x: Any, w: Any) -> Any:
        return tf.math.bincount(x, weights=w, minlength=6)

    assert everywhere(count, [1, 1, 2], [0.5, 0.5, 1.0]).tolist() == [0, 1, 1, 0, 0, 0]
    by_row = everywhere(lambda x: tf.math.bincount(x, axis=-1), rows)
    assert by_row.tolist() == [[0, 2, 1, 0], [2, 0, 0, 1]]
    assert tf.math.bincount(rows, axis=-1, maxlength=2).numpy().tolist() == [[0, 2], [2, 0]]
    assert tf.math.bincount(rows, axis=0).numpy().tolist() == [2, 2, 1, 1]
    binary = tf.math.bincount(rows, axis=-1, binary_output=True)
    assert binary.numpy().tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert tf.math.bincount([1, 1, 9], maxlength=3, minlength=5).numpy().tolist() == [0, 2, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same shape as `arr`"):
        tf.math.bincount([1, 1, 2], weights=[0.5, 0.5])
    with pytest.raises(ValueError, match="axis=1"):
        tf.math.bincount([1], axis=1)


def test_the_gradient_of_weights() -> None:
    weights = tf.constant([1.0, 2.0, 3.0])
    given = occurrences.differentiate(
        tf.constant([5.0, 6.0]), tf.zeros([2]), tf.constant([0, 1, 7]), weights, 0, 2, False, False
    )
    assert given[1].numpy().tolist() == [5.0, 6.0, 0.0]
