"""Attention in the interpreter, in plans and in native code: layouts of heads, masks, unknown sizes, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import Plan, interpret
from agc.runtime.executors.llvm import JitFunction

BATCH, LENGTH, HEADS, WIDTH = 2, 40, 3, 24


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def by_products(q: Any, k: Any, v: Any, mask: Any = 0.0) -> Any:
    q, k, v = (tf.transpose(x, [0, 2, 1, 3]) for x in (q, k, v))
    shares = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * WIDTH**-0.5 + mask)
    return tf.transpose(tf.matmul(shares, v), [0, 2, 1, 3])


def by_einsum(q: Any, k: Any, v: Any, mask: Any = 0.0) -> Any:
    shares = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", q, k) * WIDTH**-0.5 + mask)
    return tf.einsum("bhqk,bkhd->bqhd", shares, v)


def causal() -> Any:
    return -1e9 * (1 - tf.linalg.band_part(tf.ones([LENGTH, LENGTH]), -1, 0))


def with_where(q: Any, k: Any, v: Any) -> Any:
    q, k, v = (tf.transpose(x, [0, 2, 1, 3]) for x in (q, k, v))
    scores = tf.matmul(q, k, transpose_b=True) * WIDTH**-0.5
    positions = tf.range(LENGTH)
    scores = tf.where(positions[:, None] >= positions, scores, float("-inf"))
    return tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])


FORMS: dict[str, Callable[..., Any]] = {
    "products": by_products,
    "einsum": by_einsum,
    "products and mask": lambda q, k, v: by_products(q, k, v, causal()),
    "einsum and mask": lambda q, k, v: by_einsum(q, k, v, causal()),
    "where": with_where,
}


def with_gradients(form: Callable[..., Any]) -> Callable[..., Any]:
    def program(q: Any, k: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([q, k, v])
            y = form(q, k, v)
            loss = tf.reduce_sum(y * tf.sin(y))
        return [y, *tape.gradient(loss, [q, k, v])]

    return program


def check(program: Callable[..., Any], arrays: list[Any], specs: list[Any]) -> None:
    graph = tf.function(program).get_concrete_function(*specs).graph
    wanted = interpret(graph, arrays)
    for found in (Plan(graph).run(arrays), JitFunction(graph).run(arrays)):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", FORMS)
def test_all_executors_agree(name: str) -> None:
    arrays = [numbers(BATCH, LENGTH, HEADS, WIDTH) for _ in range(3)]
    check(with_gradients(FORMS[name]), arrays, arrays)


@pytest.mark.parametrize("name", ["products", "einsum"])
def test_the_batch_may_be_unknown(name: str) -> None:
    arrays = [numbers(BATCH, LENGTH, HEADS, WIDTH) for _ in range(3)]
    check(with_gradients(FORMS[name]), arrays, [tf.TensorSpec([None, LENGTH, HEADS, WIDTH])] * 3)


@pytest.mark.parametrize("name", FORMS)
def test_gradients_are_finite_differences(name: str) -> None:
    arrays = [numbers(BATCH, LENGTH, HEADS, WIDTH) for _ in range(3)]
    direction = [numbers(*x.shape) / 8 for x in arrays]
    step = tf.function(with_gradients(FORMS[name]), jit_compile=True)

    def loss(by: float) -> float:
        y = np.asarray(
            step(*(x + np.float32(by) * d for x, d in zip(arrays, direction, strict=True)))[0], np.float64
        )
        return float((y * np.sin(y)).sum())

    slope = sum(float((np.asarray(g) * d).sum()) for g, d in zip(step(*arrays)[1:], direction, strict=True))
    np.testing.assert_allclose((loss(1e-2) - loss(-1e-2)) / 2e-2, slope, rtol=2e-2, atol=1e-2)


@pytest.mark.parametrize("name", FORMS)
def test_results_do_not_depend_on_the_number_of_threads(name: str) -> None:
    arrays = [numbers(4, LENGTH, HEADS, WIDTH) for _ in range(3)]
    found = []
    for threads in (1, 2, 3):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            found.append(tf.function(with_gradients(FORMS[name]), jit_compile=True)(*arrays))
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
    for one, two, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)


ROWS = {
    "a number that is not one": [[1.0, np.nan, 2.0], [0.0, 1.0, 2.0]],
    "infinity": [[1.0, np.inf, 2.0], [0.0, 1.0, 2.0]],
    "nothing": [[-np.inf, -np.inf, -np.inf], [0.0, 1.0, 2.0]],
    "one": [[-np.inf, 3.0, -np.inf], [-1e9, 1e9, -1e30]],
}
"""Scores of rows, by what is special in the first one."""


@pytest.mark.parametrize("name", ROWS)
def test_softmax_of_special_rows(name: str) -> None:
    scores = np.repeat(np.asarray(ROWS[name], np.float32), 40, 0)
    graph = tf.function(lambda x: tf.nn.softmax(x + tf.zeros([80, 1]))).get_concrete_function(scores).graph
    wanted = interpret(graph, [scores])[0]
    assert np.isfinite(wanted[40:]).all()
    for found in (Plan(graph).run([scores])[0], JitFunction(graph).run([scores])[0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
