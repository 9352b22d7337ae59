"""Tridiagonal matrices, compared with the same dense matrices."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case
from support.everywhere import everywhere

L = tf.linalg


def dense(rows: Any) -> Any:
    upper, middle, lower = rows
    return np.diag(middle) + np.diag(upper[:-1], 1) + np.diag(lower[1:], -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_products_and_solutions(dtype: Any, size: int) -> None:
    random = np.random.default_rng(size)
    rows = random.normal(size=(2, 3, size)).astype(dtype) * (1 + 0.5j if dtype is np.complex128 else 1)
    right = random.normal(size=(2, size, 2)).astype(dtype)
    matrices = np.array([dense(part) for part in rows])
    given = tf.function(L.tridiagonal_solve)(rows, right).numpy()
    np.testing.assert_allclose(matrices @ given, right, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(
        L.tridiagonal_matmul(rows, right).numpy(), matrices @ right, rtol=1e-5, atol=1e-5
    )
    for form, diagonals in (("matrix", matrices), ("sequence", [rows[:, i] for i in range(3)])):
        other = L.tridiagonal_solve(diagonals, right, diagonals_format=form).numpy()
        np.testing.assert_allclose(other, given, rtol=1e-5)
    vector = L.tridiagonal_solve(rows, right[..., 0]).numpy()
    np.testing.assert_allclose(vector, given[..., 0], rtol=1e-5)


def test_a_zero_pivot_is_solved_and_a_singular_matrix_refused() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    assert L.tridiagonal_solve(rows, [3.0, 4.0]).numpy().tolist() == [4.0, 3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        L.tridiagonal_solve(np.zeros((3, 2)), [3.0, 4.0])


def test_eigenvalues() -> None:
    alpha, beta = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 1.0, -1.0])
    matrix = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1)
    expected = np.linalg.eigvalsh(matrix)
    values, vectors = L.eigh_tridiagonal(alpha, beta, eigvals_only=False)
    np.testing.assert_allclose(values.numpy(), expected)
    np.testing.assert_allclose(matrix @ vectors.numpy(), vectors.numpy() * values.numpy(), atol=1e-12)
    some = L.eigh_tridiagonal(alpha, beta, select="i", select_range=(1, 2)).numpy()
    np.testing.assert_allclose(some, expected[1:3])
    some = L.eigh_tridiagonal(alpha, beta, select="v", select_range=(1.5, 4.0)).numpy()
    np.testing.assert_allclose(some, expected[(expected > 1.5) & (expected <= 4.0)])


@each_case("dtype", [np.float32, np.float64, np.complex128])
@each_case("lower", [True, False])
@each_case("adjoint", [True, False])
@each_case(("count", "size"), [(1, 4), (2, 4), (3, 4), (4, 4), (3, 2), (1, 1)])
def test_triangles_of_few_diagonals(count: int, size: int, adjoint: bool, lower: bool, dtype: Any) -> None:
    random = np.random.default_rng(count)
    bands = random.normal(size=(3, 1, count, size)) + 2
    bands = (bands + 1j * random.normal(size=bands.shape) if dtype is np.complex128 else bands).astype(dtype)
    right = random.normal(size=(2, size, 2)).astype(dtype)
    rows = bands[..., :size, :] if lower else bands[..., max(count - size, 0) :, :]
    ends = (-rows.shape[-2] + 1, 0) if lower else (0, rows.shape[-2] - 1)
    shape = tf.zeros([3, 1, size, size], dtype)
    one = rows[..., 0, :] if rows.shape[-2] == 1 else rows
    matrices = L.set_diag(shape, one, k=ends, align="LEFT_RIGHT").numpy()
    matrices = np.conj(np.swapaxes(matrices, -1, -2)) if adjoint else matrices
    found = everywhere(
        lambda b, r: L.banded_triangular_solve(b, r, lower=lower, adjoint=adjoint), bands, right
    )
    np.testing.assert_allclose(
        matrices @ found, np.broadcast_to(right, (3, 2, size, 2)), rtol=1e-3, atol=1e-3
    )


def test_triangles_that_are_refused() -> None:
    refused = tf.errors.InvalidArgumentError
    with pytest.raises(refused, match="not invertible"):
        L.banded_triangular_solve([[1.0, 0.0]], [[1.0], [2.0]])
    with pytest.raises(refused, match="rank >= 2"):
        L.banded_triangular_solve([[1.0, 2.0]], [1.0, 2.0])
    with pytest.raises(refused):
        L.banded_triangular_solve(tf.ones([1, 3]), tf.ones([2, 1]))


def test_three_diagonals_of_unknown_rank() -> None:
    random = np.random.default_rng(0)
    rows, right = random.normal(size=(2, 3, 4)), random.normal(size=(2, 4, 2))
    found = everywhere(L.tridiagonal_solve, rows, right)
    parts = [rows[:, i] for i in range(3)]
    other = everywhere(
        lambda a, b, c, r: L.tridiagonal_solve([a, b, c], r, diagonals_format="sequence"), *parts, right
    )
    np.testing.assert_allclose(found, other)
    np.testing.assert_allclose(np.array([dense(part) for part in rows]) @ found, right)


def test_whole_matrices_of_unknown_size():
    matrix, x = np.diag([4.0, 5.0, 6.0]) + np.eye(3, k=1), np.ones((3, 1))
    sizes = [tf.TensorSpec([None, None], tf.float64)] * 2
    for call, expected in (
        (tf.linalg.tridiagonal_matmul, matrix @ x),
        (tf.linalg.tridiagonal_solve, np.linalg.solve(matrix, x)),
    ):
        traced = tf.function(lambda m, x, call=call: call(m, x, "matrix"), input_signature=sizes)
        np.testing.assert_allclose(traced(matrix, x), expected)
