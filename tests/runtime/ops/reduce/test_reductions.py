"""Reductions against NumPy, and the shapes that they infer before the graph runs."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.shapes import reduced
from agc.runtime.ir.builder import Builder
from agc.runtime.ir.value_types import TensorType
from support.each_case import each_case

VALUES = np.array([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 1], [2, 3]]])
AXES = [None, 0, -1, [0, 2], (1,), [], [0, 1, 2]]


@each_case("axis", AXES, ids=str)
@each_case("keepdims", [False, True])
@each_case("dtype", ["float32", "int8", "uint16", "complex64"])
@each_case("name", ["sum", "prod", "mean", "max", "min"])
def test_reductions_agree_with_numpy(name: str, axis: Any, keepdims: bool, dtype: str) -> None:
    if dtype == "complex64" and name in ("max", "min"):
        return
    values = VALUES.astype(dtype) if name != "prod" else (VALUES % 3).astype(dtype)
    got = getattr(tf, f"reduce_{name}")(values, axis=axis, keepdims=keepdims)
    axes = tuple(axis) if isinstance(axis, list) else axis
    expected = getattr(np, name)(
        values.astype(np.complex128 if dtype == "complex64" else np.float64), axis=axes, keepdims=keepdims
    )
    if np.dtype(dtype).kind in "iu" and name == "mean":
        expected = np.trunc(expected)
    assert got.dtype.name == dtype
    np.testing.assert_allclose(got.numpy(), expected.astype(dtype), rtol=1e-6)


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ["variance", "std", "euclidean_norm", "logsumexp"])
def test_float_reductions_agree_with_their_formulas(name: str, axis: Any) -> None:
    x = VALUES.astype(np.float64) / 3
    axes = tuple(axis) if isinstance(axis, list) else axis
    formula = {
        "variance": lambda: x.var(axes),
        "std": lambda: x.std(axes),
        "euclidean_norm": lambda: np.sqrt((x * x).sum(axes)),
        "logsumexp": lambda: np.log(np.exp(x).sum(axes)),
    }[name]
    np.testing.assert_allclose(
        getattr(tf.math, f"reduce_{name}")(x, axis).numpy(), formula(), rtol=1e-12, atol=1e-12
    )


def test_an_axis_may_be_a_tensor() -> None:
    assert tf.reduce_sum([[1, 2], [3, 4]], axis=tf.constant(0)).numpy().tolist() == [4, 6]
    assert tf.reduce_sum([[1, 2], [3, 4]], axis=tf.constant([0, 1])).numpy().tolist() == 10


def test_integers_wrap_around() -> None:
    assert int(tf.reduce_sum(tf.constant([2**31 - 1, 1]))) == -(2**31)
    assert int(tf.reduce_mean(tf.constant([2**31 - 1, 2**31 - 3]))) == 2**31 - 2


@pytest.mark.parametrize(
    ("shape", "axis", "keepdims", "left"),
    [
        ((2, None), (0,), False, (None,)),
        ((2, None), (1,), True, (2, 1)),
        ((None, None), None, False, ()),
        (None, None, False, ()),
        (None, None, True, None),
        (None, (0,), False, None),
    ],
)
def test_static_shapes_of_reductions(shape: Any, axis: Any, keepdims: bool, left: Any) -> None:
    assert reduced(shape, axis, keepdims) == left


def test_axes_out_of_range_or_repeated_are_refused() -> None:
    for axis in (2, -3, [0, 0], [0, -2]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.reduce_sum([[1.0]], axis=axis)
        with Builder("f") as builder, pytest.raises(ValueError, match="reduce_sum"):
            tf.reduce_sum(builder.input_tensor("x", TensorType(tf.float32, (None, 2))), axis=axis)


def test_unsupported_dtypes_are_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="reduce_sum does not take bool"):
        tf.reduce_sum([True])
    with pytest.raises(TypeError, match="integer"):
        tf.math.reduce_std([1, 2])
    with Builder("f") as builder, pytest.raises(TypeError, match="reduce_all does not take int32"):
        tf.reduce_all(builder.input_tensor("x", TensorType(tf.int32, ())))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [tf.int16, tf.uint16, tf.int32, tf.int64])
def test_argmax_and_argmin(axis: int, dtype: tf.DType) -> None:
    values = np.array([[3.0, 9.0, 9.0], [7.0, 2.0, -1.0]])
    for mine, numpys in ((tf.argmax, np.argmax), (tf.argmin, np.argmin)):
        got = mine(values, axis, output_type=dtype)
        assert got.dtype is dtype
        assert got.numpy().tolist() == numpys(values, axis).tolist()


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_and_products(exclusive: bool, reverse: bool) -> None:
    rows = [[1, 2, 3], [4, 5, 6]]
    for mine, start, combine in (
        (tf.cumsum, 0, lambda a, b: a + b),
        (tf.math.cumprod, 1, lambda a, b: a * b),
    ):
        expected = []
        for row in rows:
            total, running = start, []
            for item in reversed(row) if reverse else row:
                running.append(total if exclusive else combine(total, item))
                total = combine(total, item)
            expected.append(running[::-1] if reverse else running)
        assert mine(rows, axis=1, exclusive=exclusive, reverse=reverse).numpy().tolist() == expected


@pytest.mark.parametrize("few", [2, 3, 7, 8])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "complex64"])
def test_sums_of_short_rows_equal_numpys(dtype: str, few: int) -> None:
    rng = np.random.default_rng(few)
    rows = (rng.standard_normal((2, 300, few)) * rng.choice([1, 30, -0.0], (2, 300, few))).astype(dtype)
    rows[0, :9] = -0.0
    for x in (rows, rows[0], rows[0, :4], np.asfortranarray(rows), rows[:, ::2], rows[:, :0]):
        total = tf.reduce_sum(x, axis=-1).numpy()
        assert total.tobytes() == np.add.reduce(x, axis=-1, dtype=dtype).tobytes()
        assert tf.reduce_sum(x, axis=-1, keepdims=True).shape == (*x.shape[:-1], 1)


@pytest.mark.parametrize("channels", [1, 3, 64, 500, 600])
def test_sums_of_many_rows_lose_no_digits(channels: int) -> None:
    """As in the gradient of a bias. Threads add up parts of the rows; NumPy adds one row after the other."""
    rows = np.random.default_rng(channels).random((2, 1 << 13, channels), np.float32)
    rows[1, 5, 0] = np.nan
    bias = tf.Variable(tf.zeros([channels]))
    with tf.GradientTape() as tape:
        y = tf.constant(rows) + bias
    wanted = rows.astype(np.float64).sum((0, 1))
    for found in (tape.gradient(y, bias, rows), tf.reduce_sum(rows, [0, 1])):
        np.testing.assert_allclose(found, wanted, rtol=2e-4 if channels == 600 else 2e-6)
    whole = (rows[:1] * 100).astype(np.int32)
    assert tf.reduce_sum(whole, [0, 1]).numpy().tolist() == whole.sum((0, 1), np.int32).tolist()


@pytest.mark.parametrize("few", [2, 5])
def test_extremes_of_short_rows_equal_numpys(few: int) -> None:
    rows = np.random.default_rng(few).standard_normal((300, few)).astype(np.float32)
    rows[5, 1], rows[6] = np.nan, -np.inf
    for mine, other in ((tf.reduce_max, np.max), (tf.reduce_min, np.min)):
        np.testing.assert_array_equal(mine(rows, -1).numpy(), other(rows, -1))
        np.testing.assert_array_equal(mine(rows, 1, keepdims=True).numpy(), other(rows, 1, keepdims=True))
    signs = np.tile(np.float32([0.0, -0.0]), (200, 1))
    assert not np.signbit(tf.reduce_max(signs, 1)).any()
    assert np.signbit(tf.reduce_min(signs, 1)).all()


def test_an_empty_list_is_one_of_bools_to_operations_on_bools() -> None:
    assert bool(tf.reduce_all([])) and not bool(tf.reduce_any(np.array([])))
    assert tf.reduce_all(np.empty((0, 2)), axis=0).numpy().tolist() == [True, True]
    assert tf.logical_and([], []).dtype is tf.logical_not([]).dtype is tf.bool
    assert bool(tf.function(lambda: tf.reduce_all([]))())
    with pytest.raises(tf.errors.InvalidArgumentError, match="reduce_all does not take float32"):
        tf.reduce_all([1.0])


@pytest.mark.parametrize("perm", [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]], ids=str)
def test_sums_along_many_rows_are_accurate_also_in_transposed_tensors(perm: list[int]) -> None:
    x = np.random.default_rng(0).random((2, 3, 200_000), np.float32)
    given = tf.transpose(tf.constant(np.transpose(x, np.argsort(perm)).copy()), perm)
    expected = np.sum(x, 2, np.float64)
    for keepdims in (False, True):
        shape = (2, 3, 1) if keepdims else (2, 3)
        found = tf.reduce_sum(given, 2, keepdims), tf.reduce_mean(given, -1, keepdims) * 200_000
        for total in found:
            assert total.shape == shape
            np.testing.assert_allclose(total.numpy().reshape(2, 3), expected, 2e-6)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1.0, np.nan], [np.nan, np.nan]),
        ([0.0, np.inf], [0.0, np.nan]),
        ([-np.inf, 0.0], [0.0, 1.0]),
        ([3e38, 3e38], [0.5, 0.5]),
        ([1e6, 1e6], [0.5, 0.5]),
    ],
)
def test_the_gradient_of_logsumexp_adds_to_one_or_is_nan(x: list[float], expected: list[float]) -> None:
    """The result of large elements is rounded, so `exp(x - y)` alone adds to another number."""
    rows = tf.constant([x, [0.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = tf.reduce_logsumexp(rows, 1)
    np.testing.assert_allclose(tape.gradient(y, rows).numpy(), [expected, [0.5, 0.5]], rtol=1e-6)
