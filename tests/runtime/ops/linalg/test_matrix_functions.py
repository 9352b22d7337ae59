"""Factors and functions of matrices: put back into the equations that define them; values of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.everywhere import everywhere
from support.matrices import DTYPES, close, matrices

L = tf.linalg
refused = tf.errors.InvalidArgumentError


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(dtype: Any) -> None:
    a, b = matrices(dtype, 2, 3, 3), matrices(dtype, 2, 3, 4)
    factors, order = everywhere(lambda x: tuple(L.lu(x)), a)
    close(L.lu_reconstruct(factors, order), a)
    close(a @ L.lu_solve(factors, order, b).numpy(), b)
    close(a @ L.lu_matrix_inverse(factors, order).numpy(), np.broadcast_to(np.eye(3), a.shape))
    assert L.lu(a, tf.int64).p.dtype == tf.int64
    with pytest.raises(refused, match="not invertible"):
        L.lu([[1.0, 2.0], [2.0, 4.0]])


def test_lu_is_tensorflows() -> None:
    factors, order = L.lu([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
    assert order.numpy().tolist() == [2, 0, 1]
    np.testing.assert_allclose(factors.numpy()[0], [7, 8, 10])
    np.testing.assert_allclose(factors.numpy()[2], [0.5714286, 0.5, -0.5], rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (2, 4), (3, 3)])
def test_least_squares_and_pseudo_inverses(dtype: Any, rows: int, columns: int) -> None:
    a, b = matrices(dtype, 2, rows, columns), matrices(dtype, 2, rows, 2)
    expected = np.linalg.pinv(a)
    close(everywhere(L.pinv, a), expected)
    close(L.lstsq(a, b), expected @ b)
    close(L.lstsq(a, b, fast=False), expected @ b)
    assert everywhere(L.matrix_rank, a).tolist() == [min(rows, columns)] * 2
    heavy = L.lstsq(a, b, l2_regularizer=2.0).numpy()
    gramian = np.conj(np.swapaxes(a, -1, -2)) @ a + 2 * np.eye(columns)
    close(heavy, np.linalg.solve(gramian, np.conj(np.swapaxes(a, -1, -2)) @ b))


@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (2, 4)])
def test_least_squares_of_matrices_whose_shape_is_unknown(rows: int, columns: int) -> None:
    """A Krylov method solves with the leading part of a matrix, which grows."""
    a, b = matrices(np.float64, rows, columns), matrices(np.float64, rows, 1)
    leading = tf.function(lambda n, w=0.0: L.lstsq(tf.constant(a)[:n], tf.constant(b)[:n], w))
    close(leading(tf.constant(rows)), L.lstsq(a, b))
    with pytest.raises(ValueError, match="with `l2_regularizer` needs a matrix of known shape"):
        leading(tf.constant(rows), 0.5)
    with pytest.raises(refused, match="must have rank >= 2, got 1"):
        L.lstsq([1.0], [[1.0]])


def test_cholesky_solve_ranks_and_normalize() -> None:
    a = np.array([[4.0, 2.0], [2.0, 3.0]])
    close(a @ L.cholesky_solve(L.cholesky(a), np.eye(2)).numpy(), np.eye(2))
    assert L.matrix_rank([[1.0, 0.0], [0.0, 1e-3]], tol=0.01).numpy() == 1
    unit, length = L.normalize([[3.0, 4.0], [6.0, 8.0]], axis=1)
    close(unit, [[0.6, 0.8], [0.6, 0.8]])
    assert length.numpy().tolist() == [[5.0], [10.0]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues_and_vectors(dtype: Any) -> None:
    a = matrices(dtype, 2, 3, 3)
    values, vectors = everywhere(L.eig, a)
    close(a @ vectors, vectors * values[..., None, :])
    assert values.dtype == np.result_type(dtype, np.complex64)
    np.testing.assert_array_equal(L.eigvals(a).numpy(), values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_matrices(dtype: Any) -> None:
    a = matrices(dtype, 2, 3, 3)
    positive = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(3, dtype=dtype)
    root = everywhere(L.sqrtm, positive)
    close(root @ root, positive)
    close(L.expm(np.zeros_like(a)), np.broadcast_to(np.eye(3), a.shape))
    close(everywhere(L.expm, a) @ L.expm(-a).numpy(), np.broadcast_to(np.eye(3), a.shape))
    if np.dtype(dtype).kind == "c":
        close(L.expm(everywhere(L.logm, positive)), positive)
        close(L.logm(L.expm(a * 0.3)), a * 0.3)


def test_edges_of_functions_of_matrices() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(L.expm(turn * np.pi / 2).numpy(), turn, atol=1e-14)
    np.testing.assert_allclose(
        L.expm(turn * 100).numpy(), [[np.cos(100), -np.sin(100)], [np.sin(100), np.cos(100)]]
    )
    shear = np.array([[1.0, 1.0], [0.0, 1.0]])  # it has one eigenvector only
    np.testing.assert_allclose(L.sqrtm(shear).numpy(), [[1, 0.5], [0, 1]], atol=1e-7)
    np.testing.assert_allclose(L.logm(shear + 0j).numpy(), [[0, 1], [0, 0]], atol=1e-7)
    assert L.expm(tf.zeros([0, 2, 2])).shape == [0, 2, 2]
    with pytest.raises(refused, match="no real square root"):
        L.sqrtm([[-1.0, 0.0], [0.0, 2.0]])
    with pytest.raises(refused, match="singular"):
        L.logm([[0j, 0j], [0j, 1 + 0j]])
    with pytest.raises(refused, match="logm does not take float32"):
        L.logm([[1.0]])


def test_eigenvalues_need_a_dtype_that_has_a_complex_one() -> None:
    rotation = tf.constant([[0.0, 1.0], [-1.0, 0.0]], tf.bfloat16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="eig does not take bfloat16, only float32"):
        tf.linalg.eigvals(rotation)


def test_logarithms_of_matrices_with_few_eigenvectors() -> None:
    for matrix in (
        np.eye(4) + np.diag(np.ones(3), 1),
        np.diag([1.0, -2.0, 3.0]),
        np.array([[0.0, -1.0], [1.0, 0.0]]),
    ):
        whole = matrix.astype(np.complex128)
        np.testing.assert_allclose(L.expm(L.logm(whole)), whole, rtol=1e-12, atol=1e-12)


def test_diagonals_of_tensors() -> None:
    whole = L.tensor_diag([[1, 2], [3, 4]])
    assert whole.shape == [2, 2, 2, 2]
    assert whole.numpy()[1, 0, 1, 0] == 3
    assert L.tensor_diag_part(whole).numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="even rank"):
        L.tensor_diag_part([1, 2])


def test_lu_solve_broadcasts_matrices_and_right_sides() -> None:
    a, b = matrices(np.float64, 2, 3, 3), matrices(np.float64, 3, 2)
    found = everywhere(lambda m, r: L.lu_solve(*L.lu(m), r), a, b)
    close(a @ found, np.broadcast_to(b, (2, 3, 2)))
    found = everywhere(lambda m, r: L.triangular_solve(m, r), a[0], matrices(np.float64, 2, 3, 4))
    close(np.tril(a[0]) @ found, matrices(np.float64, 2, 3, 4))
    found = everywhere(lambda m, r: L.triangular_solve(m, r), a, b)
    close(np.tril(a) @ found, np.broadcast_to(b, (2, 3, 2)))
    found = everywhere(lambda m, r: L.lu_solve(*L.lu(m), r), a[0], matrices(np.float64, 2, 3, 4))
    close(a[0] @ found, matrices(np.float64, 2, 3, 4))
    everywhere(lambda m: L.lu_reconstruct(*L.lu(m)), a)
    everywhere(lambda m: L.lu_matrix_inverse(*L.lu(m)), a)
