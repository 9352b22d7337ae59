"""Python's operators on tensors, at once and in graphs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ir.builder import Builder
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.operator_overloads import OPERATORS
from support.each_case import each_case

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


@each_case("function", BINARY)
@each_case("other", [2, [2, 5], np.array([2, 5]), np.int32(2)], ids=["int", "list", "array", "scalar"])
def test_operators_agree_with_numpy_from_both_sides(function: Callable[[Any, Any], Any], other: Any) -> None:
    values = np.array([7, 3], np.int32)
    tensor = tf.constant(values)
    for got, expected in (
        (function(tensor, other), function(values, np.array(other, np.int32))),
        (function(other, tensor), function(np.array(other, np.int32), values)),
    ):
        assert isinstance(got, tf.Tensor)
        assert got.numpy().dtype == expected.dtype
        assert got.numpy().tolist() == expected.tolist()


def test_and_or_xor_not_are_logical_on_bools_and_bitwise_on_integers() -> None:
    yes, six = tf.constant(True), tf.constant(6)
    assert [bool(x) for x in (yes & False, yes | False, yes ^ True, ~yes)] == [False, True, False, False]
    assert [int(x) for x in (six & 3, six | 1, 3 ^ six, ~six)] == [2, 7, 5, -7]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1.0) & 1.0


def test_a_product_of_bools_is_true_where_both_are() -> None:
    x, y = tf.constant([True, True, False]), tf.constant([True, False, False])
    for product in (x * y, tf.Variable(x) * y, [True, True, False] * y, tf.function(operator.mul)(x, y)):
        assert product.numpy().tolist() == [True, False, False]
    with pytest.raises(TypeError):
        x * 2.0


@pytest.mark.parametrize("value", [False, True, 6])
def test_and_or_xor_not_take_large_tensors(value: Any) -> None:
    small, large = tf.constant([value]), tf.fill([1 << 17], value)
    for function in (operator.and_, operator.or_, operator.xor):
        for x, y in ((small, small), (small, value)):
            whole = function(large, large if y is small else y)
            assert (whole[-1] == function(x, y)[0]).numpy().item()
    assert (~large)[-1].numpy() == (~small)[0].numpy()


def test_matmul_neg_abs() -> None:
    row, column = tf.constant([[1, -2]]), tf.constant([[3], [4]])
    assert (row @ column).numpy().tolist() == (row @ [[3], [4]]).numpy().tolist() == [[-5]]
    assert ([[1, -2]] @ column).numpy().tolist() == [[-5]]
    assert (-row).numpy().tolist() == [[-1, 2]]
    assert abs(row).numpy().tolist() == [[1, 2]]


def test_equality_with_none_and_with_other_shapes() -> None:
    x = tf.constant([1, 2])
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert not bool(x == [1, 2, 3]) and bool(x != [1, 2, 3])
    assert (x == [[1], [2]]).numpy().tolist() == [[True, False], [False, True]]


def test_python_numbers_take_the_dtype_of_the_tensor_or_are_refused() -> None:
    assert (tf.constant(1.0, tf.float64) + 1).dtype is tf.float64
    assert (200 + tf.constant(1, tf.uint8)).dtype is tf.uint8
    for call in (
        lambda: tf.constant(1) + 1.5,
        lambda: tf.constant(1, tf.uint8) + 300,
        lambda: tf.constant(1) + "a",
    ):
        with pytest.raises(TypeError):
            call()


def test_two_tensors_are_never_promoted() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int32 tensor"):
        tf.constant(1) + tf.constant(1.0)


def test_reflected_operators_of_other_objects_are_tried() -> None:
    class Marker:
        def __radd__(self, other: Any) -> str:
            return "reflected"

    assert tf.constant(1) + Marker() == "reflected"
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant(1) - object()


def test_variables_have_the_operators() -> None:
    v = tf.Variable([1.0, 2.0])
    assert (2 * v + 1).numpy().tolist() == [3.0, 5.0]
    assert (v > 1.5).numpy().tolist() == [False, True]
    assert all(hasattr(tf.Variable, name) for name in OPERATORS)


def test_operators_record_operations_in_a_graph() -> None:
    with Builder("f") as builder:
        x = builder.input_tensor("x", TensorType(tf.float32, (None, 3)))
        n = builder.input_tensor("n", TensorType(tf.int32, (None,)))
        any_rank = builder.input_tensor("any", TensorType(tf.float32, None))
        assert (x + 1).shape.as_list() == (x == 3).shape.as_list() == (x == x).shape.as_list() == [None, 3]
        assert (n // 2).dtype is tf.int32 and (n / 2).dtype is tf.float64
        assert (x == any_rank).shape.rank is None
        assert (x != [1.0, 2.0]).shape.as_list() == []
        for call in (lambda: x + n, lambda: x & x, lambda: x + "a"):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(ValueError, match="Incompatible shapes"):
            x + tf.constant([1.0, 2.0])
    kinds = [operation.type for operation in builder.operations]
    assert kinds[:3] == ["add", "equal", "equal"]
    assert {"floordiv", "cast", "realdiv", "equal_or_false", "not_equal_or_true"} <= set(kinds)


def test_the_fast_path_and_the_slow_path_agree() -> None:
    """A dtype that was seen before goes straight to the kernel: the results and refusals stay the same."""
    for dtype in (tf.float32, tf.int32, tf.uint8, tf.complex64):
        x = tf.cast(tf.constant([1, 2, 3]), dtype)
        first, second = tf.add(x, x, name="long"), tf.add(x, x)
        assert first.dtype is second.dtype is dtype
        assert first.numpy().tolist() == second.numpy().tolist()
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            tf.constant([1, 2]) + tf.constant([1, 2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            tf.constant([1]) // 0


@pytest.mark.parametrize("mode", [lambda f: f, tf.function])
def test_plus_returns_the_same_numbers(mode: Callable[[Any], Any]) -> None:
    plus = mode(lambda x: +x)
    assert plus(tf.constant([1.5], tf.float64)).numpy().tolist() == [1.5]
    assert plus(tf.Variable(2)).numpy() == 2
    for other in (True, "a"):
        with pytest.raises(TypeError, match=r"bad operand type for unary \+"):
            plus(tf.constant(other))
