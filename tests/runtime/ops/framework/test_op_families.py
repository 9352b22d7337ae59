"""What holds for all elementwise operations and reductions, on every dtype that they take.

Executors rely on it: a kernel gives exactly the dtype of the rule, for arrays and for NumPy scalars, and the
operation's `expression` computes what its kernel computes.
"""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.core.tensor import EagerTensor
from agc.runtime.ir.graph import Constant
from agc.runtime.ops.framework.op import REGISTRY, Op
from agc.runtime.ops.framework.op_families import Elementwise
from support.each_case import each_case

ELEMENTWISE = [op for op in REGISTRY.values() if isinstance(op, Elementwise)]
REDUCTIONS = [getattr(tf.math, name) for name in tf.math.__all__ if name.startswith("reduce_")]
SEVERAL = {"b": [True, False], "f": [0.5, 2.5, -1.5, np.inf, np.nan], "c": [1j, 2 - 1j], "S": [b"a", b""]}


def operand(dtype: dtypes.DType) -> Any:
    values = SEVERAL.get(dtype.kind, [1, 2, 7])
    return np.array(values, dtype.numpy_dtype)


def taken(op: Op, count: int) -> list[dtypes.DType]:
    """The dtypes that the rule accepts."""
    found = []
    for dtype in dtypes.ALL:
        try:
            op.rule(*[Constant(operand(dtype))] * count)
        except (TypeError, errors.InvalidArgumentError):
            continue
        found.append(dtype)
    return found


def same(one: Any, other: Any) -> bool:
    return one.dtype == other.dtype and one.tolist().__repr__() == other.tolist().__repr__()


@each_case("op", ELEMENTWISE, ids=lambda op: op.name)
def test_kernels_and_expressions_give_exactly_the_dtype_of_the_rule(op: Elementwise) -> None:
    count = len(op.parameters) - 1
    accepted = taken(op, count)
    assert accepted
    for dtype in accepted:
        array = operand(dtype)
        spec = op.rule(*[Constant(array)] * count)
        items = list(array) if dtype is not dtypes.string else []
        with np.errstate(all="ignore"):
            whole = op.compute(*[array] * count)
            assert (whole.dtype, whole.shape) == (spec.dtype.numpy_dtype, spec.shape), dtype
            for place, item in enumerate(items):
                scalar = op.compute(*[item] * count)
                assert scalar.dtype == spec.dtype.numpy_dtype and np.shape(scalar) == (), dtype
                np.testing.assert_allclose(scalar, whole[place], rtol=1e-2 if dtype.size == 2 else 1e-5)
            for value in [array, *items] if op.expression else []:
                text = op.expression.format("x", "x")
                assert same(eval(text, {"x": value}), op.compute(*[value] * count)), dtype


@each_case("op", ELEMENTWISE, ids=lambda op: op.name)
def test_a_dtype_that_is_not_taken_is_named_in_the_error(op: Elementwise) -> None:
    count = len(op.parameters) - 1
    refused = [dtype for dtype in dtypes.ALL if dtype not in taken(op, count)]
    if op.name in ("equal", "not_equal"):
        assert not refused
        return
    for dtype in refused:
        with pytest.raises(errors.InvalidArgumentError, match=f"{op.name} does not take {dtype.name}"):
            op(*[EagerTensor(operand(dtype))] * count)


@pytest.mark.parametrize("op", REDUCTIONS, ids=lambda op: op.name)
def test_reductions_keep_exactly_the_dtype_of_the_rule(op: Op) -> None:
    for dtype in taken(op, 1):
        for array in (operand(dtype), operand(dtype)[:1].reshape(()), operand(dtype)[0], operand(dtype)[:0]):
            for keepdims in (False, True):
                spec = op.rule(Constant(array), None, keepdims)
                with np.errstate(all="ignore"):
                    result = op.compute(array, None, keepdims)
                assert (result.dtype, np.shape(result)) == (spec.dtype.numpy_dtype, spec.shape)


def test_numbers_that_are_too_large_for_a_float_are_infinite():
    """As in TensorFlow, and without a warning of NumPy's."""
    for dtype, large in ((tf.float16, 1e6), (tf.float16, 70000), (tf.float32, 1e300), (tf.float32, 10**39)):
        one = tf.constant([1.0], dtype)
        assert (one * large).numpy().tolist() == (large * one).numpy().tolist() == [float("inf")]
        assert (one - large).numpy().tolist() == [-float("inf")]
        assert float(tf.constant(float(large), dtype)) == float("inf")
    assert tf.constant(np.array([1e300]), tf.float32).numpy().tolist() == [float("inf")]
    with pytest.raises(ValueError):
        tf.constant([1.0]) * 10**400
