"""tf.math.bincount."""

from __future__ import annotations

import agc.runtime as tf
import pytest


def test_bincount() -> None:
    count = tf.function(lambda x: tf.math.bincount(x, minlength=3, maxlength=4, dtype=tf.int64))
    counts = count(tf.constant([[1, 1], [3, 9]]))
    assert (counts.numpy().tolist(), counts.dtype) == ([0, 2, 0, 1], tf.int64)
    assert tf.math.bincount([], minlength=2).numpy().tolist() == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        tf.math.bincount([-1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an integer dtype"):
        tf.math.bincount(tf.constant([1.5]))
