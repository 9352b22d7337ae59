"""Rows by groups: values of TensorFlow 2.21; gradients by differences."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework.op import find
from support.everywhere import everywhere

SORTED = {
    "segment_sum": [3, 0, 0, 3],
    "segment_prod": [2, 1, 1, 3],
    "segment_max": [2, 0, 0, 3],
    "segment_min": [1, 0, 0, 3],
    "segment_mean": [1.5, 0, 0, 3],
}
UNSORTED = {
    "unsorted_segment_sum": [3, 0, 3, 0],
    "unsorted_segment_prod": [3, 1, 2, 1],
    "unsorted_segment_max": [3, np.finfo(np.float32).min, 2, np.finfo(np.float32).min],
    "unsorted_segment_min": [3, np.finfo(np.float32).max, 1, np.finfo(np.float32).max],
    "unsorted_segment_mean": [3, 0, 1.5, 0],
    "unsorted_segment_sqrt_n": [3, 0, np.float32(3 / np.sqrt(2)), 0],
}


@pytest.mark.parametrize("name", SORTED)
def test_sorted_groups(name: str) -> None:
    function = getattr(tf.math, name)
    assert everywhere(function, [1.0, 2.0, 3.0], [0, 0, 3]).tolist() == SORTED[name]
    rows = everywhere(function, np.zeros((0, 3), np.float32), np.zeros(0, np.int64))
    assert rows.shape == (0, 3)
    for wrong, message in (
        ([1, 0, 3], "not increasing"),
        ([-1, 0, 3], "out of range"),
        ([0, 1], "same size"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            function([1, 2, 3], wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not take bool"):
        function([True], [0])


def test_a_product_of_one_infinite_complex_number_is_that_number() -> None:
    infinite = complex(np.inf, -3.5)
    found = everywhere(tf.math.segment_prod, np.array([infinite, 2.0, 1j], np.complex64), [0, 2, 2])
    assert found.tolist() == [infinite, 1, 2j]


@pytest.mark.parametrize("name", UNSORTED)
def test_groups_in_any_order(name: str) -> None:
    function = getattr(tf.math, name)
    given = everywhere(lambda x, ids: function(x, ids, 4), [1.0, 2.0, 7.0, 3.0], [2, 2, -1, 0])
    np.testing.assert_allclose(given, UNSORTED[name], rtol=1e-6)
    assert everywhere(
        lambda x, ids: function(x, ids, 2), np.zeros((0, 3), np.float32), [0][:0] or np.zeros(0, int)
    ).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        function([1.0, 2.0], [0, 9], 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not start with"):
        function([1.0, 2.0], [0], 4)


def test_integers_and_complex_numbers() -> None:
    assert tf.math.segment_mean([1, 2, 4], [0, 0, 3]).numpy().tolist() == [1, 0, 0, 4]
    assert tf.math.segment_mean([1 + 2j, 2], [0, 0]).numpy().tolist() == [1.5 + 1j]
    mean = tf.math.unsorted_segment_mean([1, 2, 3], [2, 2, 0], 4)
    assert (mean.dtype, mean.numpy().tolist()) == (tf.float64, [3, 0, 1.5, 0])
    total = tf.math.unsorted_segment_sum([[1, 2], [3, 4]], [[0, 1], [1, -1]], 3)
    assert total.numpy().tolist() == [1, 5, 0]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("kind", ["segment_", "unsorted_segment_"])
def test_gradients_are_slopes(kind: str, name: str) -> None:
    op: Any = find(kind + name)
    data = np.array([[2.0, 1.0], [5.0, 0.0], [3.0, 4.0], [6.0, 7.0]])
    ids = tf.constant([0, 0, 1, 1] if kind == "segment_" else [1, 1, 0, -1])
    more = () if kind == "segment_" else (tf.constant(2),)
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])

    def total(x: Any) -> float:
        return float(np.sum(op(tf.constant(x), ids, *more).numpy() * weights))

    y = op(tf.constant(data), ids, *more)
    given = op.differentiate(tf.constant(weights), y, tf.constant(data), ids, *more)[0].numpy()
    for place in np.ndindex(data.shape):
        step = np.zeros_like(data)
        step[place] = 1e-6
        np.testing.assert_allclose(
            given[place], (total(data + step) - total(data - step)) / 2e-6, rtol=1e-6, atol=1e-8
        )


def test_empty_groups_of_bfloat16():
    """TensorFlow 2.21's: the limits of the dtype, which are finite."""
    pytest.importorskip("ml_dtypes")
    rows = tf.constant([2, 3], tf.bfloat16)
    for function, limit in (
        (tf.math.unsorted_segment_max, tf.bfloat16.min),
        (tf.math.unsorted_segment_min, tf.bfloat16.max),
    ):
        found = function(rows, [0, 0], 2)
        assert found.dtype == tf.bfloat16
        assert found.numpy()[1] == limit
        assert np.isfinite(float(limit))
