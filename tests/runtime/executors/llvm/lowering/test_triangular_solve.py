"""Triangular systems are solved by substitution, in native code and by the kernels: no digits are lost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

RNG = np.random.default_rng(4)


def solutions(a: Any, b: Any) -> Any:
    return [
        tf.linalg.triangular_solve(a, b, lower=lower, adjoint=adjoint)
        for lower in (True, False)
        for adjoint in (True, False)
    ] + [tf.linalg.triangular_solve(a[0], b)]


def both(a: Any, b: Any) -> Any:
    graph = tf.function(solutions).get_concrete_function(tf.constant(a), tf.constant(b)).graph
    return zip(JitFunction(graph).run([a, b]), interpret(graph, [a, b]), strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("rows", [1, 5, 30])
def test_the_interpreter_gives_the_same_solutions(rows: int, dtype: Any) -> None:
    a = (RNG.normal(size=(3, rows, rows)) + 4 * np.eye(rows)).astype(dtype)
    b = RNG.normal(size=(3, rows, 7)).astype(dtype)
    if dtype is np.complex128:
        a, b = a * (1 + 0.5j), b * 1j
    for found, wanted in both(a, b):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_rows_of_very_different_sizes_lose_no_digits() -> None:
    a = np.tril(RNG.normal(size=(20, 20))) * 10.0 ** RNG.integers(-8, 8, size=(20, 1))
    b = RNG.normal(size=(20, 1))
    exact: list[Fraction] = []
    for row, right in zip(a.tolist(), b[:, 0].tolist(), strict=True):
        known = sum(Fraction(x) * y for x, y in zip(row, exact, strict=False))
        exact.append((Fraction(right) - known) / Fraction(row[len(exact)]))
    wanted = np.array([[float(x)] for x in exact])
    for jit in (True, False):
        found = tf.function(tf.linalg.triangular_solve, jit_compile=jit)(tf.constant(a), tf.constant(b))
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_numbers_that_are_not_finite_reach_the_same_elements() -> None:
    a, b = RNG.normal(size=(3, 5, 5)), RNG.normal(size=(3, 5, 2))
    a[0, 3, 1], a[1, 2, 2], b[2, 1, 0] = np.nan, np.inf, -np.inf
    for found, wanted in both(a, b):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_zero_on_the_diagonal_is_an_error() -> None:
    solve = tf.function(tf.linalg.triangular_solve, jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        solve(tf.constant([[1.0, 0.0], [1.0, 0.0]]), tf.constant([[1.0], [1.0]]))
