"""Eager calls keep assignments of variables and records of tapes, and do what the first call did."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import eager_gradients, tape_plans

pytestmark = pytest.mark.usefixtures("language")

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_variable_counts_as_its_present_value() -> None:
    v, x = tf.Variable([1.0, 2.0]), tf.constant([10.0, 20.0])
    for i in range(5):
        assert (v + x).numpy().tolist() == [11.0 + i, 22.0 + i]
        assert tf.reduce_sum(v).numpy() == 3.0 + 2 * i
        assert tf.stack([v, x])[0].numpy().tolist() == [1.0 + i, 2.0 + i]
        v.assign_add(tf.ones(2))
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot update variable with shape"):
            v.assign_sub(tf.ones(3))
        v.assign(tf.constant([1.0, 2.0]))
    assert v.numpy().tolist() == [1.0, 2.0]


ASSIGNED: dict[str, Callable[[Any], Any]] = {
    "a tensor": lambda v: v.assign_add(tf.constant([1.0, 2.0])),
    "a number": lambda v: v.assign(3.0),
    "a list": lambda v: v.assign_sub([1.0, 2.0]),
    "an array": lambda v: v.assign_sub(np.array([1.0, 2.0], np.float32)),
    "the variable": lambda v: v.assign_add(v),
    "a handle": lambda v: v.assign_add(v.assign(tf.constant([5.0, 6.0]))),
    "by a handle": lambda v: v.assign(tf.constant([5.0, 6.0])).assign_sub(tf.constant([1.0, 1.0])),
    "another shape": lambda v: v.assign(tf.constant([1.0])),
    "a shape to broadcast": lambda v: v.assign_add(tf.constant(1.0)),
    "another dtype": lambda v: v.assign_sub(tf.constant([1, 2])),
    "double precision": lambda v: v.assign_add(np.array([1.0, 2.0])),
    "text": lambda v: v.assign("text"),
    "nothing": lambda v: v.assign(None),
}


@pytest.mark.parametrize("name", ASSIGNED)
def test_a_kept_assignment_does_what_the_first_did(name: str) -> None:
    found: set[Any] = set()
    for _ in range(4):
        v = tf.Variable([3.0, 4.0])
        try:
            result = ASSIGNED[name](v)
            found.add(repr(result))
            assert result.ref() == v.ref() and result.numpy().tolist() == v.numpy().tolist()
        except (TypeError, ValueError, tf.errors.OpError) as error:
            found.add((type(error), re.sub("Variable:0", "v", str(error))))
    assert len(found) == 1


def test_scalar_variables_count() -> None:
    n = tf.Variable(0)
    for i in range(5):
        assert int(n.assign_add(1)) == i + 1
        with pytest.raises(TypeError):
            n.assign_add(0.5)
    assert n.assign(7, read_value=False) is None and int(n) == 7
    with tf.GradientTape() as tape:
        w = tf.Variable(2.0)
        w.assign_add(tf.constant(1.0))
        y = w * w
    assert float(tape.gradient(y, w)) == 6.0


def test_a_tape_records_what_depends_on_watched_tensors(language: str) -> None:
    x, v, counter, frozen = tf.constant(X), tf.Variable(X), tf.Variable(0), tf.Variable(X, trainable=False)
    for _ in range(3):
        with tf.GradientTape(persistent=True) as recorded:
            unwatched = x * 2.0
            recorded.watch(x)
            parts = tf.split(x * v, 3, axis=1)
            whole = tf.cast(tf.reduce_sum(parts[0]), tf.int32) + counter
            with recorded.stop_recording():
                v * 3.0
            tf.exp(unwatched) + frozen + tf.cast(whole, tf.float32)
        names = [(record.name, record.origin.line) for record in recorded._records]  # type: ignore
    first = names[0][1]
    assert [(name, line - first) for name, line in names] == [
        ("read_variable", 0), ("multiply", 0), ("split", 0), ("reduce_sum", 1), ("cast", 1),
    ]  # fmt: skip
    assert recorded.watched_variables() == (v,)
    assert recorded.gradient(parts, [x, v])[0].numpy().tolist() == X.tolist()
    del recorded


def test_backward_passes_become_the_same_plans(language: str) -> None:
    x, v = tf.constant(X), tf.Variable(2 * X)
    found = []
    for _ in range(tape_plans.OFTEN + 12):
        with tf.GradientTape() as recorded:
            recorded.watch(x)
            y = tf.reduce_sum(tf.tanh(x * v) ** 2.0)
        found.append([each.numpy() for each in recorded.gradient(y, [x, v])])
    assert tape_plans._plans
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], rtol=1e-6)


@pytest.mark.parametrize("sources", [1, 2])
def test_jacobians_become_the_same_plans(sources: int) -> None:
    x, v, unused = tf.constant(X), tf.Variable(2 * X), tf.Variable(1.0)

    def jacobians() -> list[Any]:
        with tf.GradientTape(persistent=True) as recorded:
            recorded.watch(x)
            y = tf.tanh(x * v)[:, :2]
        if sources == 1:
            return [recorded.batch_jacobian(y, x).numpy()]
        *found, missing = recorded.jacobian(y, [x, v, unused])
        assert missing is None
        return [each.numpy() for each in (*found, recorded.jacobian(v, v))]

    first = jacobians()
    for _ in range(tape_plans.OFTEN + 2):
        for one, other in zip(jacobians(), first, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert eager_gradients.GradientPlan in map(type, tape_plans._plans.values())


@pytest.mark.parametrize(("length", "executor"), [(3, "automatic"), (9, "plan")])
def test_the_backward_pass_of_a_long_tape_is_not_compiled(
    length: int, executor: str, monkeypatch: Any
) -> None:
    made: list[str] = []

    def finished(builder: Any, tensors: Any, found: Any, executor: str) -> Any:
        made.append(executor)
        return eager_gradients.finished(builder, tensors, found, executor)

    monkeypatch.setattr(tape_plans, "_MOST_COMPILED", 5)
    monkeypatch.setattr(tape_plans, "finished", finished)
    x = tf.constant(X)
    for _ in range(tape_plans.OFTEN + 2):
        with tf.GradientTape() as recorded:
            recorded.watch(x)
            y = x
            for _ in range(length):
                y = tf.sin(y)
        recorded.gradient(y, x)
    assert made == [executor]
