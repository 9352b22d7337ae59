"""Gradients of factors of matrices: what differences say, to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret

L = tf.linalg


def matrices(*shape: int, dtype: Any = np.float64) -> Any:
    numbers = np.random.default_rng(7).normal(size=(2, *shape))
    return (numbers[0] + (1j * numbers[1] if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def turned(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def positive(dtype: Any = np.float64) -> Any:
    a = matrices(2, 3, 3, dtype=dtype)
    return a @ turned(a) + np.eye(3)


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def derivative(t: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = f(t)
        return tape.gradient(y, t)

    return derivative


def difference(f: Callable[[Any], Any], h: float = 1e-3) -> float:
    def at(t: float) -> float:
        return float(f(tf.constant(t, tf.float64)))

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def check(function: Callable[[Any], Any], matrix: Any, direction: Any) -> None:
    """First and second derivatives along a line, eager; and the gradient in a graph without known shapes."""

    def along(t: Any) -> Any:
        return function(tf.constant(matrix) + tf.constant(direction) * tf.cast(t, matrix.dtype))

    zero = tf.constant(0.0, tf.float64)
    first = slope(along)
    assert float(first(zero)) == pytest.approx(difference(along), rel=1e-6, abs=1e-7)
    assert float(slope(first)(zero)) == pytest.approx(difference(first), rel=1e-5, abs=1e-6)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    expected = gradient(tf.constant(matrix)).numpy()
    for shape in ([None] * matrix.ndim, None):
        spec = tf.TensorSpec(shape, tf.as_dtype(matrix.dtype))
        traced = tf.function(gradient, input_signature=[spec])
        np.testing.assert_array_equal(traced(matrix).numpy(), expected)
        (interpreted,) = interpret(traced.get_concrete_function().graph, [matrix])
        np.testing.assert_array_equal(interpreted, expected)


def gauged(vectors: Any) -> Any:
    """What does not depend on the phases of the columns: their products with themselves."""
    return [tf.einsum("...ik,...jk->...kij", vectors, tf.math.conj(vectors))]


DTYPES = [np.float64, np.complex128]


def total(*parts: Any) -> Any:
    """A real number made of all elements."""
    sums = []
    for part in parts:
        weights = tf.cos(tf.range(tf.cast(tf.size(part), tf.float64), dtype=tf.float64) + 1.0)
        flat = tf.reshape(part, [-1])
        sums.append(tf.reduce_sum(weights * tf.math.real(flat)))
        if part.dtype.is_complex:
            sums.append(tf.reduce_sum(tf.sin(weights * 5.0) * tf.math.imag(flat)))
    return tf.add_n(sums)


HERMITIAN = {
    "cholesky": lambda x: total(L.cholesky(x)),
    "eigenvalues": lambda x: total(L.eigvalsh(x)),
    "eigenvectors": lambda x: total(L.eigh(x)[0], *gauged(L.eigh(x)[1])),
    "logdet": lambda x: total(L.logdet(x)),
    "cholesky_solve": lambda x: total(L.cholesky_solve(L.cholesky(x), x @ x)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", HERMITIAN)
def test_hermitian_matrices(name: str, dtype: Any) -> None:
    move = matrices(2, 3, 3, dtype=dtype)
    check(HERMITIAN[name], positive(dtype), move + turned(move))


SQUARE = {
    "slogdet": lambda x: total(*L.slogdet(x)),
    "eig": lambda x: total(L.eig(x)[0], *gauged(L.eig(x)[1])),
    "eigvals": lambda x: total(L.eigvals(x)),
    "expm": lambda x: total(L.expm(x)),
    "inv": lambda x: total(L.inv(x, adjoint=True)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices(name: str, dtype: Any) -> None:
    check(SQUARE[name], matrices(2, 3, 3, dtype=dtype), matrices(3, 3, dtype=dtype))


ANY = {
    "qr": lambda x: total(*L.qr(x)),
    "singular values": lambda x: total(L.svd(x, compute_uv=False)),
    "svd": lambda x: total(L.svd(x)[0], *gauged(L.svd(x)[1]), *gauged(L.svd(x)[2])),
    "both vectors": lambda x: total(tf.matmul(L.svd(x)[1], L.svd(x)[2], adjoint_b=True)),
    "values beside all vectors": lambda x: total(L.svd(x, full_matrices=True)[0]),
    "pinv": lambda x: total(L.pinv(x)),
    "lstsq": lambda x: total(L.lstsq(x, tf.sin(x), fast=False)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("name", ANY)
def test_matrices_of_any_shape(name: str, rows: int, columns: int, dtype: Any) -> None:
    check(ANY[name], matrices(2, rows, columns, dtype=dtype), matrices(rows, columns, dtype=dtype))


@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (2, 4)])
def test_least_squares_by_cholesky(rows: int, columns: int) -> None:
    a, b = matrices(rows, columns), matrices(rows, 2)

    def along(t: Any) -> Any:
        return total(L.lstsq(a + t * np.cos(a), b + t, l2_regularizer=0.1))

    first, zero = slope(along), tf.constant(0.0, tf.float64)
    assert float(first(zero)) == pytest.approx(difference(along), rel=1e-6)
    assert float(slope(first)(zero)) == pytest.approx(difference(first), rel=1e-5)


def test_the_pseudo_inverse_of_a_matrix_with_equal_singular_values() -> None:
    """By the formula of Golub and Pereyra: singular vectors, which have no derivatives here, are not asked."""
    x = tf.constant(np.eye(2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(L.pinv(x))
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), -np.cos([[1, 2], [3, 4]]), atol=1e-12)


@pytest.mark.parametrize("call", [lambda x: L.qr(x, True).q, lambda x: L.svd(x, True)[1]])
def test_columns_that_are_arbitrary_have_no_gradient(call: Any) -> None:
    x = tf.constant(matrices(4, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    with pytest.raises(LookupError, match="full_matrices=False"):
        tape.gradient(y, x)


def test_slogdet_of_an_overflowing_determinant() -> None:
    assert float(L.logdet(tf.eye(200) * 100.0)) == pytest.approx(200 * np.log(100), rel=1e-5)
