"""Eager calls that differ in a Python number: the first calls keep its value, and many share one kept call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework import kept_calls
from agc.runtime.ops.framework.eager_calls import MANY
from agc.runtime.ops.framework.op import REGISTRY
from support.eager_calls import forget_all_calls, kept_by
from support.selection import in_turn

pytestmark = pytest.mark.usefixtures("language")

C = np.array([True, False])

OF_NUMBERS: dict[str, Callable[[int, Any], Any]] = {
    "an index": lambda i, x: tf.gather(x, i % 7),
    "an index of a variable": lambda i, x: tf.gather(tf.Variable(x), i % 7),
    "a list of indices": lambda i, x: tf.gather(x, [i % 7, 0]),
    "an index and an axis": lambda i, x: tf.gather(x, i % 2, axis=i % 2 - 1),
    "a nested list": lambda i, x: tf.gather_nd(x, [[i % 7, 0]]),
    "an operand by name": lambda i, x: tf.roll(shift=i, input=x, axis=0),
    "a tuple": lambda i, x: tf.roll(x, (i, -i), (1, 0)),
    "the start of a slice": lambda i, x: tf.slice(x, [i % 7, 0], [1, 2]),
    "the start of the rest": lambda i, x: tf.slice(x, [i % 7, 0], [-1, 2]),
    "a size": lambda i, x: tf.slice(x, [0, 0], [i % 7, 1]),
    "a float": lambda i, x: tf.where(C, x[:, :2], i / 3),
    "an int with a float tensor": lambda i, x: tf.where(C, x[:, :2], i - 20),
    "one of two numbers": lambda i, x: tf.where(C, i, 2.5 if i < 0 else 3),
    "bools": lambda i, x: tf.where(C, tf.cast(x[:, :2], tf.bool), i % 2 == 0),
    "bounds": lambda i, x: tf.clip_by_value(x, i / 7, i + 1),
    "equal bounds": lambda i, x: tf.clip_by_value(x, 3.0, i / 7),
    "all operands": lambda i, x: tf.clip_by_value(i, 3, 20),
    "a value for a shape": lambda i, x: tf.fill([2, 1], i),
    "a shape": lambda i, x: tf.fill([i, 1], 0.5),
    "an attribute": lambda i, x: tf.one_hot([1], i),
    "an axis": lambda i, x: tf.reduce_sum(x, i % 2) + tf.reduce_sum(x, axis=[-(i % 2) - 1])[0],
    "an update": lambda i, x: tf.tensor_scatter_nd_update(x, [[i % 7]], [[1.0 * i, 2.0, 3.0]]),
    "a list of tensors and numbers": lambda i, x: tf.stack([x[0, 0], float(i)]),
    "arithmetic": lambda i, x: tf.maximum(x * i, i - 3) + i * 2**20,
    "an exponent": lambda i, x: tf.pow(x, i % 5) + x ** (i / 9),
    "NaN and infinity": lambda i, x: tf.where(C, x[:, :2], [np.nan, np.inf, -np.inf, -0.0, 0.0][i % 5]),
    "ints of other sizes": lambda i, x: tf.fill([1], i * 2**27),
    "great floats": lambda i, x: tf.fill([1], 1e37 * i if i < 30 else 3e38),
    "classes of numbers": lambda i, x: tf.fill([1], [int, float, np.int64, bool, np.float16][i % 5](i)),
    "a NumPy index": lambda i, x: tf.gather(x, np.int64(i % 7)),
    "a size of a shape": lambda i, x: tf.gather(x, tf.compat.v1.Dimension(i % 7)),
}


CALLS = [
    (name, dtype)
    for place, name in enumerate(OF_NUMBERS)
    for dtype in in_turn([np.float32, np.int64, np.float16, np.int64, np.float64], place)
]


@pytest.mark.parametrize(("name", "dtype"), CALLS)
def test_a_number_that_differs_in_each_call_counts_by_its_value(
    name: str, dtype: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(kept_calls, "MANY", 3)
    x, call = tf.constant(np.arange(21).reshape(7, 3).astype(dtype)), OF_NUMBERS[name]
    numbers = [*range(-1, 9), 3, 3, 3, 31]
    expected = []
    for i in numbers:
        forget_all_calls()
        expected.append(result_of(call, i, x))
    for i, one in zip(numbers, expected, strict=True):
        assert result_of(call, i, x) == one


def result_of(call: Callable[[int, Any], Any], i: int, x: Any) -> Any:
    """Return the type, the elements and the gradient of a call; or its error."""
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(i, x)
    except (ValueError, TypeError, tf.errors.OpError) as error:
        return type(error), str(error)
    slope = tape.gradient(y, x) if x.dtype.is_floating and y.dtype.is_floating else None
    return y.dtype, y.shape, y.numpy().tobytes(), None if slope is None else str(tf.convert_to_tensor(slope))


def test_calls_that_differ_by_numbers_share_one_kept_call() -> None:
    x = tf.range(600)
    forget_all_calls()
    for i in range(600):
        assert tf.gather(x, i).numpy() == i == tf.where(True, i, x[0]).numpy() == tf.fill([1], i).numpy()[0]
        assert tf.roll(x, i, 0).numpy()[0] == -i % 600 == tf.slice(x, [-i % 600], [1]).numpy()[0]
    for operation in (tf.gather, tf.where, tf.fill, tf.roll, REGISTRY["slice"]):
        assert MANY < len(operation._calls) < 2 * MANY
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices = 600 is not in \[0, 600\) \[op gather\]"
    ):
        tf.gather(x, 600)
    with pytest.raises(tf.errors.InvalidArgumentError, match="but got 601"):
        tf.slice(x, [601], [1])


WHOLE = (0, -1, 7, 2**24 + 1, 2**31 - 1, -(2**31), 2**31)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_a_number_next_to_a_tensor_is_rounded_as_numpy_does(dtype: Any) -> None:
    ones = np.ones(2, dtype)
    fractions = (0.5, 0.1, 1e-46, 1e37, -1e39, np.inf) if ones.dtype.kind == "f" else ()
    for number in 2 * [*WHOLE[: -1 if dtype is np.int32 else None], *fractions]:
        with np.errstate(over="ignore"):
            expected = ones * np.array(number).astype(dtype)
        assert (tf.constant(ones) * number).numpy().tobytes() == expected.tobytes()
    with pytest.raises((TypeError, ValueError)):
        tf.constant(np.ones(2, np.int32)) * WHOLE[-1]


def test_a_variable_has_the_gradient_of_each_index() -> None:
    table = tf.Variable(np.ones([3, 2], np.float32))
    forget_all_calls()
    with tf.GradientTape() as tape:
        y = sum(tf.reduce_sum(tf.gather(table, i % 3)) * float(i) for i in range(2 * MANY))
    slope = tf.convert_to_tensor(tape.gradient(y, table)).numpy()
    assert slope[:, 0].tolist() == [sum(range(i, 2 * MANY, 3)) for i in range(3)]


def test_a_number_that_comes_twice_keeps_a_call_of_its_own() -> None:
    x = tf.range(9)
    forget_all_calls()
    for i in 2 * [*range(3)]:
        assert tf.roll(x, i, 0).numpy()[i] == 0
    assert len(kept_by("roll")) == 3
