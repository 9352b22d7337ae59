"""Sums of products by Einstein's notation, compiled: as batches of products of matrices, or as one loop nest."""

from __future__ import annotations

import string
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

SIZES = dict(zip(string.ascii_lowercase, (3, 2, 4, 5, 6, 2, 3, 4, 5, 3, 4), strict=False))
EQUATIONS = (
    "ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bjk->bik", "bij,bkj->ikb", "bhed,bhfd->bhef", "ij,ij->i",
    "ij,ij", "i,j->ij", "i,i->i", "ijk->kij", "ijk->j", "ii->i", "ii", "iji,jk->ik", "...ij,...jk->...ik",
    "...i,i", "i...,i...->...", "ab,bc,cd->ad", "abc,bd,ce->ade", "ij,k->j", "ab,ab,ab->b", "ab,cb,b->a",
    "ab,cd,bc->ad", "a,b,c->abc", "...a,ab,...b->...", "aa,ab,bc,c->",
)  # fmt: skip


def operands(equation: str) -> list[np.ndarray[Any, Any]]:
    """Return tensors of the sizes of the labels; an ellipsis means two axes."""
    rng = np.random.default_rng(len(equation))
    terms = equation.partition("->")[0].replace("...", "gh").split(",")
    return [rng.normal(size=[SIZES[label] for label in term]) for term in terms]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_sums_of_products_and_their_gradients(equation: str) -> None:
    def program(*factors: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(factors)
            y = tf.einsum(equation, *factors)
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, factors)]

    arrays = operands(equation)
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    for found, wanted in zip(JitFunction(graph).run(arrays), interpret(graph, arrays), strict=True):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_ellipsis_axes_of_size_one_are_broadcast() -> None:
    a, b = np.arange(6).reshape(1, 2, 3), np.arange(12).reshape(4, 3, 1)
    graph = (
        tf.function(lambda x, y: tf.einsum("...ij,...jk->...ik", x, y))
        .get_concrete_function(tf.constant(a), tf.constant(b))
        .graph
    )
    np.testing.assert_array_equal(JitFunction(graph).run([a, b])[0], a @ b)


@pytest.mark.parametrize("axes", [0, 1, 2, [[0, 2], [1, 0]], [[2], [0]]])
def test_tensordot_and_its_gradients(axes: Any) -> None:
    def program(a: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((a, b))
            loss = tf.reduce_sum(tf.tensordot(a, b, axes) ** 3)
        return tape.gradient(loss, (a, b))

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 2) if isinstance(axes, int) else (3, 3))
    graph = tf.function(program).get_concrete_function(tf.constant(a), tf.constant(b)).graph
    for found, wanted in zip(JitFunction(graph).run([a, b]), interpret(graph, [a, b]), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
