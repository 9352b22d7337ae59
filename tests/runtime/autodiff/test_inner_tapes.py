"""Backward passes that outer tapes record run operation by operation, after some runs as kept programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import eager_gradients, tape_plans
from agc.runtime.autodiff.plan_counts import RunCounts
from support.each_case import each_case

X = np.linspace(-0.9, 1.1, 12, dtype=np.float32).reshape(3, 4)
W = np.linspace(0.5, -0.7, 8, dtype=np.float32).reshape(4, 2)


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the programs of backward passes, each of which is made when its tape comes for the third time."""
    found: list[Any] = []
    make = eager_gradients._program
    monkeypatch.setattr(tape_plans, "OFTEN", 2)
    monkeypatch.setattr(tape_plans, "_plans", {})
    monkeypatch.setattr(tape_plans, "_runs", RunCounts())
    monkeypatch.setattr(eager_gradients, "_program", lambda *args: found.append(make(*args)) or found[-1])
    return found


@tf.custom_gradient
def clipped(x: Any) -> Any:
    return tf.exp(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "a layer": lambda x, w: tf.reduce_sum(tf.tanh(tf.matmul(x, w)) ** 2) + tf.nn.l2_loss(w),
    "softmax": lambda x, w: tf.reduce_mean(tf.nn.softmax(x @ w) * tf.nn.log_softmax(x @ w)),
    "rows": lambda x, w: tf.reduce_sum(tf.gather(w, [0, 2, 0]) ** 3) * x[0, 1],
    "a convolution": lambda x, w: tf.reduce_sum(tf.nn.conv1d(x[tf.newaxis], w[tf.newaxis], 1, "SAME") ** 3),
    "a source that is not used": lambda x, w: tf.reduce_sum(x**3),
    "a kink": lambda x, w: tf.reduce_sum(tf.nn.relu(x @ w) + tf.abs(x[:, :2])),
    "a linear function": lambda x, w: tf.reduce_sum(x @ w) + tf.reduce_sum(x),
    "a norm": lambda x, w: tf.norm(x @ w) * tf.reduce_max(x),
}


def second(loss: Callable[[Any, Any], Any], x: Any, w: Any, persistent: bool = False) -> Any:
    """Return the gradients, and those of their squares, with None where there is none."""
    with tf.GradientTape(persistent) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = loss(x, w)
        first = inner.gradient(y, [x, w])
        total = tf.add_n([tf.reduce_sum(tf.convert_to_tensor(g) ** 2) for g in first if g is not None])
    return first + outer.gradient(total, [x, w])


def assert_equal(one: Any, other: Any) -> None:
    for x, y in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
        assert type(x) is type(y)
        if y is not None:
            np.testing.assert_allclose(tf.convert_to_tensor(x), tf.convert_to_tensor(y), rtol=1e-5, atol=1e-6)


@each_case("name", LOSSES)
def test_derivatives_of_gradients_stay_what_they_were(name: str) -> None:
    x, w = tf.constant(X), tf.Variable(W)
    for persistent in (False, True):
        expected = second(LOSSES[name], x, w, persistent)
        for _ in range(8):
            assert_equal(second(LOSSES[name], x, w, persistent), expected)


def test_the_operations_become_one_program_for_all_values(programs: list[Any]) -> None:
    for i in range(6):
        x, w = X * i, W + np.float32(0.1 * i)
        found = second(LOSSES["a layer"], tf.constant(x), tf.Variable(w))
        slopes = 2 * np.tanh(x @ w) / np.cosh(x @ w) ** 2
        np.testing.assert_allclose(found[0], slopes @ w.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found[1], x.T @ slopes + w, rtol=1e-4, atol=1e-5)
    (program,) = programs
    assert len(program.steps) > 3


def test_third_derivatives() -> None:
    x = tf.constant([0.5, 2.0])
    for _ in range(12):
        with tf.GradientTape() as one, tf.GradientTape() as two:
            one.watch(x)
            two.watch(x)
            with tf.GradientTape() as three:
                three.watch(x)
                y = x**4 + tf.sin(x)
            first = three.gradient(y, x)
            with two.stop_recording():
                np.testing.assert_allclose(first, 4 * X64**3 + np.cos(X64), rtol=1e-5)
            second = two.gradient(first, x)
        np.testing.assert_allclose(second, 12 * X64**2 - np.sin(X64), rtol=1e-5)
        np.testing.assert_allclose(one.gradient(second, x), 24 * X64 - np.cos(X64), rtol=1e-5)


X64 = np.array([0.5, 2.0])


def test_hessians_by_inner_jacobians_and_outer_ones() -> None:
    x = tf.constant(X64, tf.float32)
    for _ in range(10):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x[::-1] ** 2
            rows = inner.jacobian(y, x)
        a, b = X64
        np.testing.assert_allclose(rows, [[b * b, 2 * a * b], [2 * a * b, a * a]], rtol=1e-5)
        found = outer.jacobian(rows, x)
        np.testing.assert_allclose(found[0], [[0, 2 * b], [2 * b, 2 * a]], rtol=1e-5)
        np.testing.assert_allclose(found[1], [[2 * b, 2 * a], [2 * a, 0]], rtol=1e-5)


def test_forward_mode_over_a_tape() -> None:
    x, v = tf.constant(X64, tf.float32), tf.constant([1.0, -2.0])
    for _ in range(8):
        with tf.autodiff.ForwardAccumulator(x, v) as forward:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x**3)
            dx = tape.gradient(y, x)
        np.testing.assert_allclose(forward.jvp(dx), 6 * X64 * [1.0, -2.0], rtol=1e-5)


def test_functions_and_custom_gradients_have_no_program(programs: list[Any]) -> None:
    traced, x, w = tf.function(lambda x: tf.sin(x) * x), tf.constant(X), tf.Variable(W)
    for f in (traced, clipped):
        expected = second(lambda x, w: tf.reduce_sum(f(x @ w)), x, w)  # noqa: B023
        for _ in range(6):
            assert_equal(second(lambda x, w: tf.reduce_sum(f(x @ w)), x, w), expected)  # noqa: B023
    assert not any(programs)


def test_a_tape_that_tracks_nothing_of_a_backward_pass() -> None:
    x, other = tf.constant(X), tf.constant(W)
    for _ in range(8):
        with tf.GradientTape() as outer:
            outer.watch(other)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x
            dx = inner.gradient(y, x)
        np.testing.assert_array_equal(dx, 2 * X)
        assert outer.gradient(dx, other) is None


def test_errors_of_a_program_are_those_of_its_operations() -> None:
    x = tf.constant([1.0, 2.0])

    def gradient(dy: float) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.debugging.check_numerics(x, "the loss") * tf.constant([1.0, 1.0])
            return inner.gradient(y, x, output_gradients=tf.constant([1.0, dy]))

    for _ in range(6):
        np.testing.assert_array_equal(gradient(1.0), [1.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
        gradient(np.nan)
    np.testing.assert_array_equal(gradient(1.0), [1.0, 1.0])
