"""A function of operations is skipped by later calls with the same key: their kernels run at once."""

from __future__ import annotations

import collections
import copy
import inspect
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.gc_pause import Pause
from agc.runtime.ir.builder import stack
from agc.runtime.ops.framework.cached_dispatch import cached_dispatch
from agc.runtime.ops.framework.eager_calls import EagerCall
from support.each_case import each_case
from support.eager_calls import cached_functions

Pair = collections.namedtuple("Pair", "one other")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
CACHED = cached_functions()


@pytest.fixture(autouse=True, params=["c", "python"])
def language(request: Any, monkeypatch: Any) -> Any:
    """Run each test with the C extension, and without it."""
    if request.param == "python":
        for function in CACHED:
            monkeypatch.setattr(function, "__call__", function._call)
    return request.param


def counted(function: Callable[..., Any], language: str) -> tuple[Any, list[Any]]:
    """Return a cached function, and a list that gets longer with each call of `function` itself."""
    calls: list[Any] = []

    def counting(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return function(*args, **kwargs)

    cached = cached_dispatch(counting)
    if language == "python":
        cached.__call__ = cached._call  # type: ignore[attr-defined]
    return cached, calls


ARGUMENTS: dict[str, tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]]]] = {
    "the tensors of a list": (lambda x: tf.concat(x, 0), lambda x: ([x, x + 1],)),
    "tensors in another order": (lambda x, y: tf.subtract(y, x), lambda x: (x, x * x)),
    "a constant": (lambda x: tf.maximum(x, 2.5), lambda x: (x,)),
    "a constant before a tensor": (lambda x: tf.subtract(2.5, x), lambda x: (x,)),
    "an attribute": (lambda x, axis: tf.reduce_sum(x, axis), lambda x: (x, 1)),
    "several results": (lambda x: tf.split(x, 3, 1), lambda x: (x,)),
    "a variable": (lambda x, y: tf.subtract(y, x), lambda x: (tf.Variable(x), x * x)),
    "the same tensor twice": (lambda x, y: tf.subtract(y, x), lambda x: (x, x)),
    "two operations": (lambda x: tf.exp(x) * x, lambda x: (x,)),
    "an input twice": (lambda x: tf.exp(x * x), lambda x: (x,)),
    "a list longer than C takes": (
        lambda x: tf.exp(tf.concat([x, *[tf.constant(X)] * 70], 0)),
        lambda x: (x,),
    ),
    "a list of one input": (lambda x: tf.reduce_sum(tf.concat([x, x, x], 0), 1), lambda x: (x,)),
    "constants of several operations": (lambda x: tf.maximum(0.5, 2.5 - tf.reduce_sum(x, 0)), lambda x: (x,)),
    "an operation with several results": (lambda x: tf.subtract(*tf.split(x, 3, 1)[1:]), lambda x: (x,)),
    "an unused result": (lambda x: tf.exp(x) * tf.split(x, [1, 2], 1)[0], lambda x: (x,)),
    "variables of several operations": (lambda x, v: tf.exp(x - v) * v, lambda x: (x, tf.Variable(x))),
    "no operation": (lambda x: x, lambda x: (x,)),
    "scalars": (lambda x, y: tf.exp(x) + y * 2.0, lambda x: (x[1, 0], x[1, 1])),
    "a tuple of one result": (lambda x: (tf.exp(x),), lambda x: (x,)),
    "a list of one result": (lambda x: [tf.exp(x)], lambda x: (x,)),
    "a list of the one result of a list": (lambda x: tf.split(x, 1), lambda x: (x,)),
    "a result and an argument": (lambda x: (tf.exp(x) * x, x), lambda x: (x,)),
    "results in another order": (lambda x: tf.split(x, 3, 1)[::-1], lambda x: (x,)),
    "a result and a constant": (lambda x: (tf.exp(x), tf.constant(1.0)), lambda x: (x,)),
    "a nest of results": (lambda x: {"b": [tf.exp(x), x], "a": (x + 1.0,)}, lambda x: (x,)),
    "a named tuple": (lambda x: Pair(x * x, tf.exp(x)), lambda x: (x,)),
    "elements that decide the type": (tf.fill, lambda x: (tf.cast(x[0, 1:], tf.int32), 7.0)),
}


@each_case("name", ARGUMENTS)
def test_a_cached_call_computes_what_the_function_does(name: str, language: str) -> None:
    function, arguments = ARGUMENTS[name]
    cached, calls = counted(function, language)
    for factor in (*[1] * 6, *[2] * 4):
        given = arguments(tf.constant(factor * X))
        found, expected = cached(*given), function(*given)
        assert type(found) is type(expected)
        tf.nest.assert_same_structure(found, expected)
        for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            assert one.dtype is other.dtype and one.shape == other.shape
            np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert len(calls) < 10


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.exp(tf.reshape(x, tf.cast(x[1], tf.int32) * 0 + [1, 2, 3])),
        lambda x: (tf.exp(x), 2),
        lambda x: tf.fill([2], 1.0),
        lambda x: tf.constant(1.0),
    ],
    ids=[
        "elements of a result",
        "a result that is no tensor",
        "an unused argument",
        "a constant",
    ],
)
def test_other_functions_run_in_each_call(function: Callable[..., Any], language: str) -> None:
    cached, calls = counted(function, language)
    for factor in range(5):
        x = tf.constant(factor * X)
        for one, other in zip(tf.nest.flatten(cached(x)), tf.nest.flatten(function(x)), strict=True):
            np.testing.assert_array_equal(one, other)
        assert type(cached(x)) is type(function(x))
    assert len(calls) > 9


def test_an_array_counts_with_its_present_elements() -> None:
    array = np.array([[1.0, 2.0]], np.float32)
    for i in range(5):
        array[0, 0] = i
        assert tf.concat([array, array], 0).numpy().tolist() == [[i, 2.0]] * 2
        assert tf.matmul(tf.constant([[1.0]]), array).numpy().tolist() == [[i, 2.0]]


def test_gradients_of_cached_calls_are_those_of_the_operation() -> None:
    x, w = tf.constant(X), tf.Variable(X)
    for _ in range(5):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.matmul(x, w, transpose_b=True) * tf.gather(x, [0, 1], axis=1))
        dx, dw = tape.gradient(y, [x, w])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum((x @ tf.transpose(w.value())) * x[:, :2])
            (expected,) = tape.gradient(y, [x])
        np.testing.assert_allclose(dx.numpy(), expected.numpy(), rtol=1e-6)
        assert dw.shape == w.shape


def test_gradients_of_several_cached_operations(language: str) -> None:
    cached, _ = counted(lambda x, y: tf.exp(x * y) / (x + 2.0), language)
    x, v = tf.constant(X), tf.Variable(X)
    for _ in range(5):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cached(x, v)
        with tf.GradientTape() as other:
            other.watch(x)
            z = tf.exp(x * v) / (x + 2.0)
        for one, two in zip(tape.gradient(y, [x, v]), other.gradient(z, [x, v]), strict=True):
            np.testing.assert_array_equal(one.numpy(), two.numpy())


def test_a_cached_constant_is_a_new_tensor_in_each_call(language: str) -> None:
    cached, calls = counted(lambda n: tf.cast(tf.constant([1, 2]), tf.int32), language)
    assert len({id(x) for x in [cached(3) for _ in range(5)]}) == 5
    assert len(calls) < 5


def test_a_variable_is_read_in_each_call() -> None:
    v = tf.Variable([1.0, 2.0])
    for i in range(5):
        v.assign([i, 2.0])
        assert tf.stack([v, v]).numpy().tolist() == [[i, 2.0]] * 2
        assert tf.gather(v, [0]).numpy().tolist() == [i]


def test_arguments_of_one_key_are_told_apart_by_kind() -> None:
    for _ in range(4):
        assert tf.stack([True, False]).dtype is tf.bool and tf.stack([1, 0]).dtype is tf.int32
        assert str(tf.where([True], [1.0], -0.0).numpy()) == "[1.]"
        assert str(tf.where([False], [1.0], -0.0).numpy()) == "[-0.]"
        assert str(tf.where([False], [1.0], 0.0).numpy()) == "[0.]"
        assert tf.one_hot([1], 2, dtype=tf.bfloat16).dtype is tf.bfloat16
        assert tf.concat([["a"], [b"b"]], 0).numpy().tolist() == [b"a", b"b"]


def test_errors_are_those_of_the_function() -> None:
    x = tf.constant(X)
    for _ in range(4):
        with pytest.raises(ValueError, match="both be non-None"):
            tf.where(x > 1, x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            tf.gather(x, [5])
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=r"[Ii]ncompatible"):
            tf.matmul(x, x)
        with pytest.raises(TypeError, match="unexpected keyword"):
            tf.concat([x, x], axes=0)


def test_composite_arguments_run_the_functions_of_their_classes() -> None:
    dense = tf.constant(X)
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    for _ in range(4):
        assert tf.concat([dense, dense], 0).shape == (4, 3)
        assert tf.concat([rows, rows], 0).to_list() == [[1.0], [2.0, 3.0]] * 2
        assert tf.stack([rows, rows]).shape[0] == 2
        assert tf.cast(rows, tf.int32).to_list() == [[1], [2, 3]]
        assert tf.clip_by_value(rows, 1.5, 2.5).to_list() == [[1.5], [2.0, 2.5]]


def test_traced_calls_add_operations_after_eager_ones() -> None:
    x = tf.constant(X)
    for _ in range(4):
        tf.concat([x, x], axis=0)
    traced = tf.function(lambda x: tf.concat([x, x], axis=0))
    assert "concat" in str(traced.get_concrete_function(x).graph)
    np.testing.assert_array_equal(traced(x).numpy(), np.concatenate([X, X]))
    np.testing.assert_array_equal(tf.function(tf.transpose)(x).numpy(), X.T)


def test_a_function_inside_of_another_is_cached_too(language: str) -> None:
    inner, _ = counted(lambda x, axes: tf.transpose(x, axes), language)
    outer, outer_calls = counted(lambda x: inner(x, [1, 0]), language)
    for factor in range(6):
        np.testing.assert_array_equal(outer(tf.constant(factor * X)).numpy(), factor * X.T)
    assert len(outer_calls) < 6


def test_elementwise_steps_run_as_calls_by_themselves_do() -> None:
    function = cached_dispatch(lambda x: tf.sqrt(tf.reduce_sum(tf.multiply(x, 0.5, name="half"))))
    for _ in range(3):
        function(tf.constant(X))
    (program,) = function._calls.values()  # type: ignore[attr-defined]
    half, total, root = (call for call, _ in program.steps)
    assert (half, root) == (tf.multiply.__call__, tf.sqrt.__call__) and type(total) is EagerCall


def test_an_exception_keeps_nothing(language: str) -> None:
    fails = [True]

    def function(x: Any) -> Any:
        if fails[0]:
            raise KeyboardInterrupt
        return tf.exp(x)

    cached, _ = counted(function, language)
    x = tf.constant(X)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            cached(x)
    fails[0] = False
    for _ in range(4):
        np.testing.assert_array_equal(cached(x).numpy(), tf.exp(x).numpy())


def test_an_interrupt_at_any_call_leaves_no_recorder(language: str) -> None:
    def interrupt(frame: Any, event: str, argument: Any) -> None:
        starts.append(event)
        if event == "call" and len(starts) == place:
            raise KeyboardInterrupt

    x, interrupts = tf.constant(X), 0
    for place in range(4, 200):  # noqa: B007  (read by the function)
        starts: list[str] = []
        cached, _ = counted(lambda x: tf.concat([x, x], 0), language)
        cached(x)
        with Pause():  # no finalizers of other tests' objects, which would be interrupted instead
            sys.settrace(interrupt)  # which also meets the places where Ctrl-C would
            try:
                cached(x)
            except KeyboardInterrupt:
                interrupts += 1
            finally:
                sys.settrace(None)
        assert not stack.recorders
        np.testing.assert_array_equal(cached(x).numpy(), np.concatenate([X, X]))
    assert interrupts > 20


def test_threads_share_the_cache() -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        for size in range(1, 60):
            x = tf.fill([size], float(number))
            found = tf.concat([x, x], 0).numpy()
            if found.shape != (2 * size,) or set(found.tolist()) != {float(number)}:
                wrong.append((number, found))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_cached_function_looks_like_the_function() -> None:
    assert tf.concat.__name__ == "concat" and "Concatenate" in (tf.concat.__doc__ or "")
    assert [*inspect.signature(tf.concat).parameters] == ["values", "axis", "name"]
    assert pickle.loads(pickle.dumps(tf.concat)) is tf.concat is copy.deepcopy(tf.concat)
    assert "concat" in repr(tf.concat)
