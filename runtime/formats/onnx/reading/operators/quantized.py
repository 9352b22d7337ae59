"""Quantized numbers: integers that stand for (integer - zero point) * scale.

Sums of products are exact in int32, as the standard demands. They are rounded once, when they are quantized again.
"""

from __future__ import annotations

from typing import Any

from ..... import dtypes
from .....core.shapes import normal_axis
from .....ops.arrays.reshape import expand_dims, reshape
from .....ops.linalg.matmul import matmul
from .....ops.math import elementwise
from .....ops.math.cast import cast, saturate_cast
from ..protos import dtype_of
from .reductions import channels
from .registry import OPERATORS, OperatorCall, operator, rank_of


@operator("QuantizeLinear")
def _(call: OperatorCall, x: Any, scale: Any, zero: Any = None) -> Any:
    dtype = zero.dtype if zero is not None else dtype_of(call.get("output_dtype", 0) or 2)
    scale, zero = (_along_axis(call, x, each) for each in (scale, zero))
    return _rounded(x / scale, zero, dtype)


@operator("DequantizeLinear")
def _(call: OperatorCall, x: Any, scale: Any, zero: Any = None) -> Any:
    scale, zero = (_along_axis(call, x, each) for each in (scale, zero))
    return cast(_steps(x, zero), scale.dtype) * scale


@operator("MatMulInteger")
def _(call: OperatorCall, a: Any, b: Any, zero_a: Any = None, zero_b: Any = None) -> Any:
    return matmul(_steps(a, _of_rows(zero_a)), _steps(b, zero_b))


@operator("ConvInteger")
def _(call: OperatorCall, x: Any, w: Any, zero_x: Any = None, zero_w: Any = None) -> Any:
    return OPERATORS["Conv"](call, _steps(x, zero_x), _steps(w, _of_filters(zero_w, w)))


@operator("QLinearMatMul")
def _(call: OperatorCall, a: Any, scale_a: Any, zero_a: Any, b: Any, scale_b: Any, zero_b: Any, scale: Any, zero: Any
) -> Any:  # fmt: skip
    found = matmul(_steps(a, _of_rows(zero_a)), _steps(b, zero_b))
    return _rounded(cast(found, scale.dtype) * (_of_rows(scale_a) * scale_b / scale), zero, zero.dtype)


@operator("QLinearConv")
def _(call: OperatorCall, x: Any, scale_x: Any, zero_x: Any, w: Any, scale_w: Any, zero_w: Any, scale: Any, zero: Any,
      bias: Any = None) -> Any:  # fmt: skip
    found = OPERATORS["Conv"](call, _steps(x, zero_x), _steps(w, _of_filters(zero_w, w)), bias)
    factor = scale_x * scale_w / scale
    factor = channels(factor, rank_of(x)) if factor.shape.rank == 1 else factor
    return _rounded(cast(found, scale.dtype) * factor, zero, zero.dtype)


def _steps(x: Any, zero: Any) -> Any:
    """Return the integers without their zero point, as int32."""
    wide = cast(x, dtypes.int32)
    return wide if zero is None else wide - cast(zero, dtypes.int32)


def _rounded(x: Any, zero: Any, dtype: dtypes.DType) -> Any:
    """Return the nearest integers plus the zero point, or the limits of their dtype."""
    steps = elementwise.round(x)
    return saturate_cast(steps if zero is None else steps + cast(zero, steps.dtype), dtype)


def _of_rows(value: Any) -> Any:
    """Return a number, or one for each row of a matrix, in a shape that broadcasts with it."""
    return value if value is None or value.shape.rank == 0 else expand_dims(value, -1)


def _of_filters(value: Any, w: Any) -> Any:
    """Return a number, or one for each filter of a convolution, in a shape that broadcasts with the filters."""
    return value if value is None or value.shape.rank == 0 else reshape(value, [-1, *[1] * (rank_of(w) - 1)])


def _along_axis(call: OperatorCall, x: Any, value: Any) -> Any:
    """Return a number, or one for each element of an axis, in a shape that broadcasts with `x`."""
    if value is None or value.shape.rank == 0:
        return value
    if value.shape.rank != 1 or call.get("block_size", 0):
        raise ValueError("scales of blocks are not supported")
    if value.shape[0] == 1:  # the axis is meaningless then, and may be out of range
        return reshape(value, [])
    rank = x.shape.rank
    axis = normal_axis(call.get("axis", 1), rank)
    return reshape(value, [-1 if i == axis else 1 for i in range(rank)])
