"""Histograms, permutations, labels, shapes, patches, fingerprints: values of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework.op import find
from support.everywhere import everywhere

refused = tf.errors.InvalidArgumentError


def test_histograms() -> None:
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    count = everywhere(lambda x, r: tf.histogram_fixed_width(x, r, nbins=5), values, [0.0, 5.0])
    assert count.tolist() == [2, 1, 1, 0, 2]
    bins = everywhere(lambda x, r: tf.histogram_fixed_width_bins(x, r, nbins=5), values, [0.0, 5.0])
    assert bins.tolist() == [0, 0, 1, 2, 4, 4]
    for arguments, message in (
        (([1.0], [5.0, 0.0], 5), r"value_range\[0\] < value_range\[1\]"),
        (([1.0], [0.0, 5.0], 0), "positive"),
        (([np.nan], [0.0, 5.0], 2), "NaN"),
    ):
        with pytest.raises(refused, match=message):
            tf.histogram_fixed_width(*arguments)


def test_permutations_and_indices() -> None:
    assert everywhere(tf.math.invert_permutation, [2, 0, 1]).tolist() == [1, 2, 0]
    for wrong, message in (
        ([2, 0, 0], "0 is duplicated"),
        ([2, 0, 3], "3 is not between"),
        ([[2]], "1D vector"),
    ):
        with pytest.raises(refused, match=message):
            tf.math.invert_permutation(wrong)
    assert everywhere(tf.unravel_index, [5, 3], [2, 3]).tolist() == [[1, 1], [2, 0]]
    assert tf.unravel_index(5, [2, 3]).numpy().tolist() == [1, 2]
    with pytest.raises(refused, match="out of bound"):
        tf.unravel_index([7], [2, 3])
    y, places, count = everywhere(tf.unique_with_counts, [7, 8, 7])
    assert (y.tolist(), places.tolist(), count.tolist()) == ([7, 8], [0, 1, 0], [2, 1])
    assert tf.unique_with_counts([7], tf.int64).count.dtype == tf.int64  # type: ignore[union-attr]


def test_confusion_matrix() -> None:
    matrix = everywhere(tf.math.confusion_matrix, [1, 2, 4], [2, 2, 4])
    assert matrix.shape == (5, 5)
    assert np.argwhere(matrix).tolist() == [[1, 2], [2, 2], [4, 4]]
    weighted = tf.math.confusion_matrix([[1], [2]], [2, 2], 3, weights=[5, 6], dtype=tf.float32)
    assert weighted.numpy().tolist() == [[0, 0, 0], [0, 0, 5], [0, 0, 6]]
    for labels in ([1, 2, 4], [-1, 2, 2]):
        with pytest.raises(refused):
            tf.math.confusion_matrix(labels, [2, 2, 2], num_classes=3)


def test_in_top_k() -> None:
    rows = [[0.1, 0.5, 0.4], [0.1, 0.1, 0.1], [0.5, np.nan, 0.3]]
    assert tf.math.in_top_k([0, 1, 2], rows, 1).numpy().tolist() == [False, True, False]
    assert tf.math.in_top_k([5], [[0.5, 0.2]], 2).numpy().tolist() == [False]
    assert tf.math.in_top_k([1], [[np.inf, 1.0]], 2).numpy().tolist() == [False]


def test_approximations_are_exact() -> None:
    found = tf.math.approx_max_k([1.0, 5.0, 3.0, 2.0], 2)
    assert (found.values.numpy().tolist(), found.indices.numpy().tolist()) == ([5, 3], [1, 2])
    least = tf.math.approx_min_k(np.arange(24.0).reshape(2, 3, 4), 2, reduction_dimension=1)
    assert least.values.numpy().tolist() == np.arange(24.0).reshape(2, 3, 4)[:, :2].tolist()
    with pytest.raises(refused):
        tf.math.approx_max_k([1, 5], 1)


def test_shapes() -> None:
    assert tf.broadcast_static_shape(tf.TensorShape([1, 3]), tf.TensorShape([2, 1])) == [2, 3]
    with pytest.raises(ValueError, match="Incompatible"):
        tf.broadcast_static_shape(tf.TensorShape([4, 3]), tf.TensorShape([2, 1]))
    assert everywhere(tf.broadcast_dynamic_shape, [1, 3], [4, 2, 1]).tolist() == [4, 2, 3]
    assert tf.broadcast_dynamic_shape([], tf.TensorShape([])).numpy().tolist() == []
    assert tf.broadcast_dynamic_shape([], tf.constant([2], tf.int64)).dtype == tf.int64
    with pytest.raises(refused, match="Incompatible"):
        tf.broadcast_dynamic_shape([4, 3], [2, 1])
    assert [part.tolist() for part in everywhere(lambda x, y: tf.shape_n([x, y]), [1, 2], [[3]])] == [
        [2],
        [1, 1],
    ]
    assert tf.function(lambda: tf.parallel_stack([[1, 2], [3, 4]]))().numpy().tolist() == [[1, 2], [3, 4]]
    paddings, crops = tf.required_space_to_batch_paddings([5, 7], [2, 3], base_paddings=[[1, 0], [0, 0]])
    assert (paddings.numpy().tolist(), crops.numpy().tolist()) == ([[1, 0], [0, 2]], [[0, 0], [0, 2]])


def test_patches_of_volumes() -> None:
    volume = np.arange(8.0, dtype=np.float32).reshape(1, 2, 2, 2, 1)

    def patches(x: Any) -> Any:
        return tf.extract_volume_patches(x, [1, 2, 1, 2, 1], [1, 2, 1, 1, 1], "SAME")

    expected = [[[[[0, 1, 4, 5], [1, 0, 5, 0]], [[2, 3, 6, 7], [3, 0, 7, 0]]]]]
    assert everywhere(patches, volume).tolist() == expected
    op: Any = find("extract_volume_patches")
    attrs = {"ksizes": (1, 2, 1, 2, 1), "strides": (1, 2, 1, 1, 1), "padding": "SAME"}
    ones = tf.ones([1, 1, 2, 2, 4])
    given = op.differentiate(ones, ones, tf.constant(volume), **attrs)
    assert given.numpy().ravel().tolist() == [1, 2, 1, 2, 1, 2, 1, 2]
    with pytest.raises(refused, match="do not fit"):
        tf.extract_volume_patches(volume, [1, 3, 1, 1, 1], [1] * 5, "VALID")


def test_fingerprints() -> None:
    texts = [b"abc", b"d", b"", b"a" * 20, b"b" * 40, b"c" * 100]
    expected = [
        [105, 243, 231, 116, 160, 179, 165, 36], [33, 154, 125, 149, 99, 228, 10, 62],
        [79, 64, 144, 47, 59, 106, 225, 154], [46, 131, 219, 44, 125, 143, 18, 209],
        [35, 74, 92, 138, 185, 93, 209, 177], [190, 148, 74, 15, 201, 123, 199, 82],
    ]  # fmt: skip
    assert everywhere(tf.fingerprint, np.array(texts, object)).tolist() == expected
    assert tf.fingerprint([1.5]).numpy().tolist() == [[64, 181, 56, 72, 223, 224, 189, 72]]
    assert tf.fingerprint([[1, 2], [3, 4]]).numpy()[1].tolist() == [254, 162, 60, 240, 103, 244, 53, 255]
    with pytest.raises(refused, match="at least one dimension"):
        tf.fingerprint(3)
