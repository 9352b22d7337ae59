"""Variables next to NumPy's arrays and numbers, and handles that assignments return, are operands as tensors are."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

V = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

LEFT = [np.float32(2), np.float64(2), np.int64(2), V, V.astype(np.float64), V.astype(int), V[0], V.T, V[::-1]]

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


@pytest.mark.parametrize("apply", OPERATORS, ids=lambda apply: apply.__name__)
def test_an_array_before_a_variable_becomes_a_tensor(apply: Callable[[Any, Any], Any]) -> None:
    for left in LEFT:
        for variable in (tf.Variable(V), tf.Variable(V).assign(V)):
            found = apply(left, variable)
            assert isinstance(found, tf.Tensor)
            assert found.dtype == apply(tf.constant(V), V).dtype  # the variable's, or bool
            np.testing.assert_allclose(found, apply(left, V), rtol=1e-6)


def test_products_of_an_array_and_a_variable() -> None:
    found = V @ tf.Variable(V)
    assert isinstance(found, tf.Tensor)
    np.testing.assert_array_equal(found, V @ V)


def test_tapes_and_functions_see_the_variable_next_to_an_array() -> None:
    v = tf.Variable(V)
    with tf.GradientTape() as tape:
        y = np.float64(2.0) * v + V * v
    np.testing.assert_array_equal(tape.gradient(y, v), 2.0 + V)
    doubled = tf.function(lambda: np.float64(2.0) * v)
    for factor in (1, 2):
        v.assign(V * factor)
        np.testing.assert_array_equal(doubled(), 2.0 * V * factor)


def test_an_array_that_is_added_to_in_place_becomes_a_tensor() -> None:
    x = V.copy()
    x += tf.Variable(V)
    np.testing.assert_array_equal(x, 2 * V)


@pytest.mark.parametrize("staged", [False, True])
def test_the_handle_of_an_assignment_is_a_source_of_gradients(staged: bool) -> None:
    v = tf.Variable(V)

    def gradients() -> Any:
        handle = v.assign_add(0.0 * V)
        with tf.GradientTape() as tape:
            tape.watch(handle)
            y = handle * v
        return tape.gradient(y, [handle, v])

    for found in (tf.function(gradients) if staged else gradients)():
        np.testing.assert_array_equal(found, 2 * V)
