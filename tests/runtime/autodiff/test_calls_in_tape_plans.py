"""A plan of an eager tape contains the backward graphs of the functions that were called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import tape_plans

W = np.linspace(0.5, -0.7, 8, dtype=np.float32).reshape(4, 2)


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """Return the plans of tapes: a tape is planned when it comes for the third time."""
    monkeypatch.setattr(tape_plans, "OFTEN", 2)
    return tape_plans._plans


def rows(x: Any) -> Any:
    """Return a number for each row, by a loop."""
    total = tf.zeros([tf.shape(x)[0]])
    for i in tf.range(tf.shape(x)[1]):
        total += tf.sin(x[:, i]) * tf.cast(i, tf.float32)
    return total


def chosen(x: Any) -> Any:
    return tf.exp(x) if tf.reduce_sum(x) > 0.0 else x * x


def two(x: Any) -> Any:
    return tf.sin(x), {"square": x * x, "count": tf.size(x)}


MODELS: dict[str, Callable[[Any, Any, Callable[[Any], Any]], Any]] = {
    "a layer": lambda x, w, f: tf.reduce_sum(f(tf.matmul(x, w)) ** 2) + tf.nn.l2_loss(w),
    "two calls": lambda x, w, f: tf.reduce_sum(f(f(tf.matmul(x, w)) * 0.5)),
    "a call on a part": lambda x, w, f: tf.reduce_mean(f(x[:2])) + tf.reduce_mean(w * x[0, 1]),
    "a result that is not used": lambda x, w, f: tf.reduce_sum(w * x[0, 0]) + 0.0 * tf.reduce_sum(f(x * 2.0)),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("f", [tf.tanh, chosen, tf.nn.softmax], ids=["tanh", "branch", "softmax"])
def test_gradients_are_those_of_eager_code(model: str, f: Any, plans: dict[Any, Any]) -> None:
    traced, w = tf.function(f), tf.Variable(W)
    for i in range(8):
        x = tf.constant(np.random.default_rng(i).normal(size=(3, 4)).astype(np.float32))
        grads = []
        for each in (traced, f):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = MODELS[model](x, w, each)
            grads.append(tape.gradient(y, [x, w]))
        for one, other in zip(*grads, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert any(plan is not None for plan in plans.values())


def test_loops_of_functions(plans: dict[Any, Any]) -> None:
    traced, x = tf.function(rows), tf.constant(W)
    expected = np.cos(W) * np.arange(2, dtype=np.float32) * 3.0
    for _ in range(6):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(traced(x) * 3.0)
        np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-5)


def test_functions_with_variables_and_several_results(plans: dict[Any, Any]) -> None:
    w = tf.Variable(W)
    traced = tf.function(lambda x: two(x * w))
    for i in range(6):
        x = tf.constant(W + i)
        with tf.GradientTape() as tape:
            sine, rest = traced(x)
            y = tf.reduce_sum(sine) + 2.0 * tf.reduce_sum(rest["square"])
        expected = (np.cos(x * w) + 4.0 * (x * w)) * x
        np.testing.assert_allclose(tape.gradient(y, w), expected, rtol=1e-5)
        w.assign_sub(w * 0.1)
    assert any(plan is not None for plan in plans.values())


def test_gradients_of_rows_stay_in_parts(plans: dict[Any, Any]) -> None:
    table = tf.Variable(W)
    looked_up = tf.function(lambda ids: tf.gather(table, ids))
    for _ in range(6):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(looked_up(tf.constant([1, 1, 3])) * 2.0)
        grad = tape.gradient(y, table)
        assert isinstance(grad, tf.IndexedSlices)
        assert tf.convert_to_tensor(grad).numpy().tolist() == [[0.0, 0.0], [4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]


def test_random_numbers_of_the_forward_pass_are_those_of_the_backward_pass(plans: dict[Any, Any]) -> None:
    noisy = tf.function(lambda x: x * tf.random.normal([4, 2]))
    x = tf.constant(W)
    for _ in range(6):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = noisy(x)
            loss = tf.reduce_sum(y)
        np.testing.assert_allclose(tape.gradient(loss, x) * x, y, rtol=1e-5)


def test_derivatives_of_higher_order_and_jacobians(plans: dict[Any, Any]) -> None:
    cube, x = tf.function(lambda x: x * x * x), tf.constant([1.0, 2.0])
    for _ in range(6):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = cube(x) * 2.0
            slope = inner.gradient(y, x)
        assert outer.gradient(slope, x).numpy().tolist() == [12.0, 24.0]
        assert outer.jacobian(slope, x).numpy().tolist() == [[12.0, 0.0], [0.0, 24.0]]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x) * 2.0
        assert tape.jacobian(y, x).numpy().tolist() == [[6.0, 0.0], [0.0, 24.0]]


def test_another_graph_of_the_function_has_another_plan(plans: dict[Any, Any]) -> None:
    scaled = tf.function(lambda x, by: x * by)
    x = tf.constant([1.0, 2.0])
    for _ in range(6):
        for by in (2.0, 3.0):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(scaled(x, by))
            assert tape.gradient(y, x).numpy().tolist() == [by, by]


def test_large_graphs_are_planned_by_themselves(
    plans: dict[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape_plans, "_MOST_COMPILED", 4)
    traced, x = tf.function(lambda x: tf.sin(tf.cos(tf.exp(x)))), tf.constant([0.5])
    found = []
    for _ in range(6):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = traced(x) * 2.0
        found.append(tape.gradient(y, x).numpy().tolist())
    assert found == found[:1] * 6
    assert [*plans.values()] == [None]
