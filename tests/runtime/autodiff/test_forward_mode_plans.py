"""Derivatives of `ForwardAccumulator` that are often needed come from a plan, and are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import tape_plans
from agc.runtime.autodiff.forward_mode import jvp_of_records

TANH = tf.function(tf.tanh)

W = np.linspace(0.5, -0.7, 8, dtype=np.float32).reshape(4, 2)

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "elements": lambda x, w: tf.sin(x) * tf.exp(x),
    "a layer": lambda x, w: tf.nn.softmax(tf.tanh(tf.matmul(x, w))),
    "rows of a variable": lambda x, w: tf.gather(w, [1, 1, 3]) * x[0, :2],
    "a function": lambda x, w: TANH(tf.matmul(x, w)) * 2.0,
    "no primal": lambda x, w: tf.constant(1.0) * 2.0,
    "one primal": lambda x, w: tf.reduce_sum(w * w),
}


@pytest.fixture(autouse=True)
def plans(monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """Return the plans of tapes: a derivative is planned when it comes for the third time."""
    monkeypatch.setattr(tape_plans, "OFTEN", 2)
    return tape_plans._plans


def numbers(seed: int, *shape: int) -> Any:
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_direction_gives_the_same_with_and_without_a_plan(name: str, plans: dict[Any, Any]) -> None:
    w = tf.Variable(W)
    for i in range(8):
        x, dx, dw = numbers(i, 3, 4), numbers(i + 20, 3, 4), numbers(i + 40, 4, 2)
        with tf.autodiff.ForwardAccumulator([x, w], [dx, dw]) as acc:
            y = PROGRAMS[name](x, w)
        found = acc.jvp(y)
        (expected,) = jvp_of_records(acc._records or [], [(y, dx, dw)], [x, w], acc._watched)
        assert (found is None) is (expected is None) is (name == "no primal")
        if found is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert any(plan is not None for plan in plans.values())


def test_forward_over_reverse() -> None:
    x, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, 10.0])
    for _ in range(6):
        with tf.autodiff.ForwardAccumulator(x, direction) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x * x * x)
            slope = tape.gradient(y, x)
        assert acc.jvp(slope).numpy().tolist() == [6.0, 120.0]


def test_an_outer_accumulator_sees_the_derivative_of_the_inner_one() -> None:
    x, one = tf.constant(2.0), tf.constant(1.0)
    for _ in range(6):
        with tf.autodiff.ForwardAccumulator(x, one) as outer:
            with tf.autodiff.ForwardAccumulator(x, one) as inner:
                y = x * x * x
            slope = inner.jvp(y)
        assert (slope.numpy(), outer.jvp(slope).numpy()) == (12.0, 12.0)


def test_a_primal_that_is_given_twice_is_refused() -> None:
    x, tangent = tf.constant(1.0), tf.constant(2.0)
    with pytest.raises(ValueError, match="twice: give it once, with the sum of its tangents"):
        tf.autodiff.ForwardAccumulator([x, {"again": x}], [tangent, {"again": tangent}])
