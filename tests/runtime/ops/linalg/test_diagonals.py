"""Ranges of diagonals: expected values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.everywhere import everywhere

L = tf.linalg
refused = tf.errors.InvalidArgumentError
MATRIX = np.arange(12).reshape(3, 4)
ALIGNED = {
    "LEFT_RIGHT": [[3, 9, 9], [2, 7, 9], [1, 6, 11], [0, 5, 10], [9, 4, 9], [9, 9, 8]],
    "RIGHT_LEFT": [[9, 9, 3], [9, 2, 7], [1, 6, 11], [0, 5, 10], [4, 9, 9], [8, 9, 9]],
    "LEFT_LEFT": [[3, 9, 9], [2, 7, 9], [1, 6, 11], [0, 5, 10], [4, 9, 9], [8, 9, 9]],
    "RIGHT_RIGHT": [[9, 9, 3], [9, 2, 7], [1, 6, 11], [0, 5, 10], [9, 4, 9], [9, 9, 8]],
}


@pytest.mark.parametrize("align", ALIGNED)
def test_alignments(align: str) -> None:
    found = everywhere(lambda x: L.diag_part(x, k=(-2, 3), align=align, padding_value=9), MATRIX)
    assert found.tolist() == ALIGNED[align]
    back = everywhere(lambda x: L.diag(x, k=(-2, 3), num_rows=3, num_cols=4, align=align), found)
    assert back.tolist() == MATRIX.tolist()
    other = everywhere(lambda x, d: L.set_diag(x, d, k=(-2, 3), align=align), MATRIX * 0, found)
    assert other.tolist() == MATRIX.tolist()


def test_sizes_of_matrices() -> None:
    rows = [[1, 2, 3], [4, 5, 0]]
    assert L.diag(rows, k=(-1, 0)).numpy().tolist() == [[1, 0, 0], [4, 2, 0], [0, 5, 3]]
    wide = L.diag(rows, k=(-1, 0), num_rows=3, num_cols=5, padding_value=9).numpy().tolist()
    assert wide == [[1, 9, 9, 9, 9], [4, 2, 9, 9, 9], [9, 5, 3, 9, 9]]
    assert L.diag([1, 2], k=1, num_rows=2).numpy().tolist() == [[0, 1, 0], [0, 0, 2]]
    outside = L.diag([[1], [2]], k=(-3, -2), num_rows=3).numpy().tolist()
    assert outside == [[0], [0], [1]]  # of diagonal -3 there is nothing in three rows


def test_every_spelling_of_one_diagonal() -> None:
    for k in (1, (1,), (1, 1), [1], np.array([1]), tf.constant(1), tf.constant([1, 1])):
        assert L.diag_part(MATRIX, k=k).numpy().tolist() == [1, 6, 11]
    assert L.diag_part(MATRIX, k=tf.constant([0, 1])).numpy().tolist() == [[1, 6, 11], [0, 5, 10]]
    assert L.diag_part(tf.zeros([2, 2], tf.bool), k=(0, 1)).dtype == tf.bool
    assert L.diag_part(tf.zeros([0, 3]), k=(0, 1)).shape == [2, 0]


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_a_dynamic_range_of_diagonals(executor: str) -> None:
    def work(k: Any) -> Any:
        part = L.diag_part(MATRIX, k=k)
        return part, L.diag(part, k=k, num_rows=3), L.set_diag(MATRIX, part * 2, k=k)

    traced = tf.function(work, input_signature=[tf.TensorSpec([2], tf.int32)], experimental_executor=executor)
    for k in ((0, 1), (1, 1), (-2, -1)):
        for one, other in zip(traced(tf.constant(k)), work(k), strict=True):
            assert one.numpy().tolist() == other.numpy().tolist()


def test_static_shapes_of_diagonals() -> None:
    def shape(function: Any, dims: Any) -> Any:
        traced = tf.function(function, input_signature=[tf.TensorSpec(dims, tf.int32)])
        return traced.get_concrete_function().structured_outputs.shape

    assert shape(lambda x: L.diag_part(x, k=(0, 1)), [None, 3]).as_list() == [2, None]
    assert shape(lambda x: L.diag_part(x, k=(0, 1)), [5, 3, 3]).as_list() == [5, 2, 3]
    assert shape(lambda x: L.diag(x, k=(0, 1)), [2, 3]).as_list() == [3, 3]
    assert shape(lambda x: L.diag(x, k=(0, 1)), [None, None]).as_list() == [None, None]


@pytest.mark.parametrize("align", ALIGNED)
def test_gradients(align: str) -> None:
    part, matrix = tf.Variable(np.ones((2, 2, 3))), tf.Variable(np.ones((2, 3, 4)))
    weights = np.arange(24.0).reshape(2, 3, 4)
    with tf.GradientTape() as tape:
        made = L.diag(part, k=(-1, 0), num_cols=4, align=align)
        y = tf.reduce_sum((made + L.set_diag(matrix, part, k=(-1, 0), align=align)) * weights)
        z = tf.reduce_sum(L.diag_part(matrix, k=(-1, 0), align=align) * weights[:, :2, :3])
    to_part, to_matrix = tape.gradient([y, z], [part, matrix])
    rows = L.diag_part(weights, k=(-1, 0), align=align).numpy()
    np.testing.assert_array_equal(to_part.numpy(), rows * 2)
    kept = L.set_diag(weights, rows * 0, k=(-1, 0), align=align).numpy()
    added = L.set_diag(weights * 0, weights[:, :2, :3], k=(-1, 0), align=align).numpy()
    np.testing.assert_array_equal(to_matrix.numpy(), kept + added)


@pytest.mark.parametrize(
    "call",
    [
        lambda: L.diag_part(MATRIX, k=(1, 4)),
        lambda: L.diag_part(MATRIX, k=(2, 1)),
        lambda: L.diag_part(MATRIX, k=(0, 1, 2)),
        lambda: L.diag_part(MATRIX, k=(0, 1), align="RIGHT"),
        lambda: L.diag_part(MATRIX, k=(0, 1), padding_value=[1]),
        lambda: L.set_diag(MATRIX, [[1, 2, 3]], k=(0, 1)),
        lambda: L.set_diag(MATRIX, [[1, 2], [3, 4]], k=(0, 1)),
        lambda: L.diag([[1, 2]], k=(0, 1)),
        lambda: L.diag([1, 2], k=1, num_rows=5, num_cols=6),
        lambda: L.diag([1, 2], k=1, num_cols=2),
    ],
)
def test_refusals(call: Any) -> None:
    with pytest.raises(refused):
        call()
    with pytest.raises(ValueError):
        tf.function(call)()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "bfloat16", "float16"])
def test_cross_products_of_any_real_dtype(dtype):
    a, b = tf.cast([1, 2, 3], dtype), tf.cast([1, 2, 4], dtype)
    expected = np.array([2, -1, 0], np.int64).astype(tf.as_dtype(dtype).as_numpy_dtype)
    for call in (tf.linalg.cross, tf.function(tf.linalg.cross)):
        assert call(a, b).numpy().tolist() == expected.tolist()
