"""Rewrite rules for operations that only move or convert elements.

b = transpose a, [1, 0]                         (c is a)
c = transpose b, [1, 0]                 ==>
n = cast m [dtype=int64]                        k = cast m [dtype=float32]
k = cast n [dtype=float32]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.shapes import is_static
from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.value_types import TensorType
from ..ops.arrays.reshape import (
    broadcast_to,
    ensure_shape,
    expand_dims,
    permute_axes,
    reshape,
    squeeze,
    sum_to,
)
from ..ops.math.cast import cast_op, identity, stop_gradient
from .rewriter import Found, Rewriter, Rule, fits
from .speculation import is_speculatable


def _same(operation: Operation, walk: Rewriter) -> Found:
    (operand,) = operation.inputs
    return (operand,) if fits(operand, operation.outputs[0]) else None


def _cast(operation: Operation, walk: Rewriter) -> Found:
    (operand,) = operation.inputs
    (result,) = operation.outputs
    if operand.spec == result.spec:
        return (operand,)
    before = walk.maker(operand)
    if before is None or before.op is not cast_op:
        return None
    first = before.inputs[0]
    if not _survives(first.dtype, operand.dtype, result.dtype):
        return None
    if first.dtype is result.dtype:
        return (first,) if fits(first, result) else None
    return (walk.add(operation.op, [first], operation.attrs),)


def _survives(first: dtypes.DType, middle: dtypes.DType, last: dtypes.DType) -> bool:
    """Return whether a cast through `middle` changes nothing."""
    if not holds(middle, first):
        return False
    if last is first:
        return True
    return (first.kind in "biu" and (middle.kind in "iu" or last.kind in "fc")) or last.kind in "fc"


_EXACT_BITS = {"float16": 11, "float32": 24, "float64": 53, "complex64": 24, "complex128": 53}


def holds(wide: dtypes.DType, narrow: dtypes.DType) -> bool:
    """Return whether `wide` can represent every number of `narrow`."""
    if wide is narrow:
        return True
    if isinstance(wide, dtypes.NarrowFloat) or isinstance(narrow, dtypes.NarrowFloat):
        return False
    if narrow.kind == "b":
        return wide.kind in "iufc"
    if narrow.kind in "iu" and wide.kind in "fc":
        return narrow.size * 8 <= _EXACT_BITS[wide.name]
    if narrow.kind in "iufc" and wide.kind in "iufc" and not (narrow.kind in "fc" and wide.kind in "iu"):
        return bool(np.can_cast(narrow.numpy_dtype, wide.numpy_dtype, "safe"))
    return False


def _transpose(operation: Operation, walk: Rewriter) -> Found:
    operand, order = operation.inputs
    perm = axes(order)
    if perm is None or operation.attrs["conjugate"]:
        return None
    if perm == tuple(range(len(perm))):
        return (operand,) if fits(operand, operation.outputs[0]) else None
    before = walk.maker(operand)
    if (
        before is None
        or before.op is not permute_axes
        or before.attrs["conjugate"]
        or not is_speculatable(before)
    ):
        return None
    first, inner = before.inputs[0], axes(before.inputs[1])
    if inner is None or len(inner) != len(perm):
        return None
    joint = [inner[dim] for dim in perm]
    if joint == list(range(len(joint))):
        return (first,) if fits(first, operation.outputs[0]) else None
    return (walk.add(operation.op, [first, Constant.int32(joint)], operation.attrs),)


def axes(operand: Operand) -> tuple[int, ...] | None:
    """Return the axes in a constant operand as non-negative numbers."""
    if not isinstance(operand, Constant):
        return None
    count = operand.value.size
    return tuple([int(dim) % count for dim in operand.value])


def _reshape(operation: Operation, walk: Rewriter) -> Found:
    operand, shape = operation.inputs
    (result,) = operation.outputs
    if not is_speculatable(operation):
        return None  # the shape may not fit
    if _is_same_shape(operand, result):
        return (operand,)
    before = walk.maker(operand)
    if before is None or before.op not in (reshape, expand_dims, squeeze) or not is_speculatable(before):
        return None
    first = before.inputs[0]
    if _is_same_shape(first, result):
        return (first,)
    return (walk.add(operation.op, [first, shape], operation.attrs),)


def _same_shape(operation: Operation, walk: Rewriter) -> Found:
    operand = operation.inputs[0]
    return (operand,) if _is_same_shape(operand, operation.outputs[0]) else None


def _is_same_shape(operand: Operand, result: Value) -> bool:
    spec: Any = operand.spec
    return isinstance(spec, TensorType) and is_static(spec.shape) and spec == result.spec


RULES: dict[OpDef, Rule] = {
    identity: _same,
    stop_gradient: _same,
    cast_op: _cast,
    permute_axes: _transpose,
    reshape: _reshape,
    expand_dims: _same_shape,
    squeeze: _same_shape,
    broadcast_to: _same_shape,
    ensure_shape: _same_shape,
    sum_to: _same_shape,
}
