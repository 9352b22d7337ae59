"""Tapes of the same operations, types and flow have one key. C and Python find the same keys, and watch the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import tape_plans, tape_recording
from agc.runtime.autodiff.sparse_gradients import HANDING_ON
from agc.runtime.ops.framework.eager_calls import native
from agc.runtime.ops.state import variable_ops

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)

Flow = tuple[Any, Any, Any]


def records(program: Callable[[Any, Any], Any], x: Any, y: Any, watched: Any = None) -> Flow:
    """Return the records of a program, its result with the sources, and when tensors began to count."""
    with tf.GradientTape() as found:
        found.watch([x, y] if watched is None else watched)
        z = program(x, y)
    sources = [found._sought(each) for each in (x, y)]
    return found._records, [z, *sources], found._watched


def new(scale: float = 1.0) -> Any:
    return tf.constant(X * np.float32(scale))


def watched_late(x: Any, y: Any) -> Flow:
    with tf.GradientTape() as found:
        found.watch(x)
        z = x * y
        found.watch(y)
        z = z * y
    return found._records, [z, x, y], found._watched


def written(x: Any, y: Any) -> Any:
    return tf.TensorArray(x.dtype, 2).write(1, x * y).write(0, y).stack()


FLOWS: dict[str, Callable[[], Flow]] = {
    "a product": lambda: records(lambda x, y: x * y, new(), new()),
    "in the other order": lambda: records(lambda x, y: y * x, new(), new()),
    "of one tensor": lambda: records(lambda x, y: x * x, new(), new()),
    "of another type": lambda: records(lambda x, y: x * y, tf.constant(X[0]), new()),
    "a sum": lambda: records(lambda x, y: x + y, new(), new()),
    "with another target": lambda: records(lambda x, y: (x * y, x)[1], new(), new()),
    "with a variable": lambda: records(lambda x, y: x * y, new(), tf.Variable(X)),
    "a source that is not watched": lambda: records(lambda x, y: x * y, x := new(), new(), watched=x),
    "watched late": lambda: watched_late(new(), new()),
    "a TensorArray": lambda: records(written, new(), new()),
    "a TensorArray of other elements": lambda: records(written, tf.constant(X[0]), tf.constant(X[0])),
    "two products": lambda: records(lambda x, y: x * y * y, new(), new()),
}


@pytest.mark.skipif(native is None, reason="the C extension was not built")
def test_keys_are_equal_in_c_if_they_are_in_python() -> None:
    for make in [*FLOWS.values()] * 2:
        make()  # calls are kept when they come again
    flows = [(name, make()) for name, make in FLOWS.items() for _ in range(2)]
    for (name, one), (other_name, other) in itertools.combinations(flows, 2):
        for find in (tape_plans.flow_key, tape_plans.flow_key_fast):
            first, second = (find(r, HANDING_ON, ends, since) for r, ends, since in (one, other))
            assert first is not None and second is not None
            assert (first[1] == second[1]) == (name == other_name)
        assert [*map(id, first[0])] == [*map(id, tape_plans.flow_key(one[0], HANDING_ON, *one[1:])[0])]  # type: ignore[index]


def test_a_custom_gradient_has_no_key() -> None:
    passed = tf.custom_gradient(lambda x: (tf.identity(x), lambda dy: 2 * dy))
    given = records(lambda x, y: passed(x) * y, new(), new())
    for find in (tape_plans.flow_key, tape_plans.flow_key_fast):
        assert find(given[0], HANDING_ON, *given[1:]) is None


def test_tapes_of_many_tensors_have_keys() -> None:
    def total(x: Any, y: Any) -> Any:
        for _ in range(300):
            y = x * y
        return y

    records(total, new(), new())
    given = records(total, new(), new())
    for find in (tape_plans.flow_key, tape_plans.flow_key_fast):
        tensors, _ = find(given[0], HANDING_ON, *given[1:])  # type: ignore[misc]
        assert len(tensors) == 302


@pytest.fixture(params=["c", "python"])
def language(request: Any, monkeypatch: Any) -> None:
    if request.param == "python":
        monkeypatch.setattr(tape_recording, "computed_fast", tape_recording.computed)
        monkeypatch.setattr(variable_ops, "read_fast", variable_ops.read)
        operations: list[Any] = [tf.add, tf.multiply, tf.cast]
        for operation in operations:
            monkeypatch.setattr(operation, "__call__", operation._call)


@pytest.mark.usefixtures("language")
def test_trainable_continuous_variables_are_watched_from_their_first_use() -> None:
    a, b = tf.Variable(2.0, name="a"), tf.Variable(3.0, name="b")
    frozen, count = tf.Variable(5.0, trainable=False), tf.Variable(7)
    half = tf.Variable(tf.cast(0.5, tf.bfloat16))
    with tf.GradientTape(persistent=True) as t:
        x = tf.multiply(b, tf.cast(count, tf.float32))
        y = tf.add(tf.multiply(x, a), tf.multiply(frozen, b))
        z = tf.cast(half, tf.float32) * y
    assert [each.ref() for each in t.watched_variables()] == [b.ref(), a.ref(), half.ref()]
    assert t.gradient(y, [a, b, frozen, count]) == [21.0, 19.0, None, None]
    assert t.gradient(z, half).dtype is tf.bfloat16


@pytest.mark.usefixtures("language")
def test_a_tape_that_watches_no_variables_by_itself() -> None:
    a, b = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape(watch_accessed_variables=False) as t:
        t.watch(b)
        y = tf.multiply(a, b)
    assert t.gradient(y, [a, b]) == [None, 2.0]


def test_a_tape_that_is_used_again_forgets() -> None:
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    t = tf.GradientTape()
    for x in (a, b):
        with t:
            y = x * x
        assert [each.ref() for each in t.watched_variables()] == [x.ref()]
        assert t.gradient(y, [a, b]) == [2 * x if each is x else None for each in (a, b)]
