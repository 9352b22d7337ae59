"""sort, argsort, top_k, searchsorted."""

import agc.runtime as tf
import numpy as np
import pytest


def test_sort_orders_along_an_axis() -> None:
    x = tf.constant([[3, 1], [2, 4]])
    assert tf.sort(x).numpy().tolist() == [[1, 3], [2, 4]]
    assert tf.sort(x, axis=0, direction="DESCENDING").numpy().tolist() == [[3, 4], [2, 1]]
    with pytest.raises(ValueError, match="should be one of ASCENDING, DESCENDING"):
        tf.sort(x, direction="foo")


def test_argsort_is_stable_in_both_directions() -> None:
    assert tf.argsort([1, 0, 1, 0]).numpy().tolist() == [1, 3, 0, 2]
    assert tf.argsort([1, 0, 1, 0], direction="DESCENDING").numpy().tolist() == [0, 2, 1, 3]
    assert tf.math.top_k([1, 3, 3, 2], 2).indices.numpy().tolist() == [1, 2]


SORTED = (
    np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
    np.bool_,
)  # fmt: skip


def stable_order(values, is_descending: bool):
    """Return the indices that Python's stable sort gives for a vector, with NaN as the greatest number."""
    keys = [(1, 0) if item != item else (0, item) for item in values.tolist()]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=is_descending)


@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
@pytest.mark.parametrize("dtype", SORTED)
def test_the_order_is_that_of_python(dtype, direction) -> None:
    values = np.random.RandomState(0).randint(-50, 50, 60).astype(dtype)  # unsigned ones are large
    if np.dtype(dtype).kind == "f":
        values[5:10] = 0.0, -0.0, np.nan, -np.nan, np.inf
        values[50:55] = -0.0, 0.0, -np.nan, np.nan, -np.inf
    order = stable_order(values, direction == "DESCENDING")
    assert tf.argsort(values, direction=direction).numpy().tolist() == order
    assert tf.sort(values, direction=direction).numpy().tobytes() == values[order].tobytes()
    assert tf.argsort(values[:, None], 0, direction).numpy()[:, 0].tolist() == order
    if direction == "DESCENDING":
        assert tf.math.top_k(values, 7).indices.numpy().tolist() == order[:7]


def test_top_k() -> None:
    values, indices = tf.math.top_k([[1, 5, 3], [9, 7, 8]], k=2)
    assert values.numpy().tolist() == [[5, 3], [9, 8]]
    assert indices.numpy().tolist() == [[1, 2], [0, 2]]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"input must have at least k columns\. Had 2, needed 3"
    ):
        tf.math.top_k([1, 2], 3)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_the_largest_of_rows_without_elements_are_none(jit_compile: bool) -> None:
    largest = tf.function(lambda rows: tf.math.top_k(rows, 0), jit_compile=jit_compile)
    for call in (lambda rows: tf.math.top_k(rows, 0), largest):
        assert [part.shape.as_list() for part in call(tf.zeros([3, 0]))] == [[3, 0], [3, 0]]


def test_searchsorted_finds_places_row_by_row() -> None:
    assert tf.searchsorted([1, 3, 5], [3, 6], side="right").numpy().tolist() == [2, 3]
    assert tf.searchsorted([[1, 3], [2, 4]], [[2], [2]]).numpy().tolist() == [[1], [0]]
    assert tf.searchsorted(tf.zeros([2, 0]), [[2.0], [2.0]]).numpy().tolist() == [[0], [0]]
    rows, values = [[1.0, np.nan], [1.0, 5.0]], [[np.nan, 1.0, 7.0], [0.0, np.nan, 5.0]]
    for side in ("left", "right"):
        expected = [np.searchsorted(row, some, side) for row, some in zip(rows, values, strict=True)]
        assert np.array_equal(tf.searchsorted(rows, values, side), expected)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_of_many_values(side) -> None:
    row = np.sort(np.random.RandomState(0).randint(0, 300, 500)).astype(np.float32)
    values = np.append(np.random.RandomState(1).randint(-5, 310, 5000), [np.nan, -0.0, np.inf]).astype(
        np.float32
    )
    assert tf.searchsorted(row, values, side).numpy().tolist() == np.searchsorted(row, values, side).tolist()
