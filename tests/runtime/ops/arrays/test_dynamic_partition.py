"""dynamic_partition and dynamic_stitch: values of TensorFlow 2.21, and that one takes the other back."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.arrays.dynamic_partition import dynamic_partition, stitch
from support.everywhere import everywhere


def test_partitions() -> None:
    parts = everywhere(lambda x, p: tf.dynamic_partition(x, p, 3), [1, 2, 3, 4], [0, 1, 0, 2])
    assert [part.tolist() for part in parts] == [[1, 3], [2], [4]]
    rows = tf.dynamic_partition([[1, 2], [3, 4]], [1, 0], 2)
    assert [part.numpy().tolist() for part in rows] == [[[3, 4]], [[1, 2]]]
    assert [part.shape.as_list() for part in tf.dynamic_partition([1, 2], 0, 2)] == [[1, 2], [0, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"partitions\[1\] = 5 is not in \[0, 2\)"):
        tf.dynamic_partition([1, 2], [0, 5], 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must start with"):
        tf.dynamic_partition([1, 2], [0, 1, 1], 2)


def test_stitches() -> None:
    whole = everywhere(
        lambda i, j, x, y: tf.dynamic_stitch([i, j], [x, y]), 0, [1, 2], [1, 2], [[3, 4], [5, 6]]
    )
    assert whole.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert tf.dynamic_stitch([[0, 5], [1]], [[10, 30], [20]]).numpy().tolist() == [10, 20, 0, 0, 0, 30]
    assert tf.dynamic_stitch([[0], [0]], [[1], [2]]).numpy().tolist() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] is out of range"):
        tf.dynamic_stitch([[-1]], [[1]])


def test_stitch_inverts_partition() -> None:
    def back(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        places = tf.dynamic_partition(tf.range(tf.size(p)), p, 3)
        return tf.dynamic_stitch(places, tf.dynamic_partition(x, p, 3))

    data = np.arange(10.0).reshape(5, 2)
    np.testing.assert_array_equal(everywhere(back, data, [2, 0, 0, 1, 2]), data)


def test_gradients() -> None:
    data, partitions = tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 0, 1])
    parts = dynamic_partition(data, partitions, 2)
    given, none = dynamic_partition.differentiate([None, tf.constant([5.0, 7.0])], parts, data, partitions, 2)
    assert (given.numpy().tolist(), none) == ([5.0, 0.0, 7.0], None)
    inputs = [tf.constant([2, 0]), tf.constant([1]), tf.zeros([2]), tf.zeros([1])]
    grads = stitch.differentiate(tf.constant([1.0, 2.0, 3.0]), stitch(inputs), inputs)
    assert grads[:2] == [None, None]
    assert [grad.numpy().tolist() for grad in grads[2:]] == [[3.0, 1.0], [2.0]]
