"""Arithmetic with NumPy's semantics: integers wrap around, and are divided rounding down.

ONNX Runtime's integer division by zero ends the process, and so does the least integer divided by -1. The rules
divide by 1 in the second case; the first is an error in agc.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from .... import dtypes
from ....core.shapes import broadcast
from ..onnx_types import InexpressibleError
from ..registry import exports, one_to_one

one_to_one({
    "subtract": "Sub", "multiply": "Mul", "realdiv": "Div", "negative": "Neg", "sqrt": "Sqrt",
    "reciprocal": "Reciprocal", "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not",
    "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor", "invert": "BitwiseNot",
    "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "where": "Where", "is_nan": "IsNaN", "is_inf": "IsInf", "equal": "Equal", "maximum": "Max", "minimum": "Min",
    "floor": "Floor", "ceil": "Ceil", "rint": "Round",
})  # fmt: skip


@exports("add")
def add(e: Any, operation: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind == "S":
        return e("StringConcat", x, y)
    return x + y


@exports("add_n")
def _(e: Any, operation: Any, *values: Any) -> Any:
    return reduce(lambda x, y: x + y, values)


@exports("square")
def _(e: Any, operation: Any, x: Any) -> Any:
    return x * x


@exports("squared_difference")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    difference = x - y
    return difference * difference


@exports("abs")
def _(e: Any, operation: Any, x: Any) -> Any:
    return x if x.dtype.kind == "u" else e("Abs", x)


@exports("sign")
def _(e: Any, operation: Any, x: Any) -> Any:
    if x.dtype.kind != "f":
        return e("Sign", x)
    return e.where(e("IsNaN", x, dtype=dtypes.bool_), x, e("Sign", x))


@exports("round")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e("Round", x) if x.dtype.kind == "f" else x


@exports("_clip")
def _(e: Any, operation: Any, x: Any, low: Any, high: Any) -> Any:
    return e("Max", e("Min", x, high), low)


@exports("is_finite")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e("Abs", x) <= e.const(
        np.finfo(x.dtype.numpy_dtype).max if x.dtype.name != "bfloat16" else 3.38e38, x.dtype
    )


@exports("not_equal")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return ~x.equals(y)


def truncated_quotient(e: Any, x: Any, y: Any) -> Any:
    """Divide integers, rounding toward zero. The least number divided by -1 is itself."""
    if y.value is not None and not (np.asarray(y.value) == -1).any():
        return x / y
    if x.dtype.kind == "u":
        return x / y
    is_minus_one = y.equals(-1)
    return e.where(is_minus_one, -x, x / e.where(is_minus_one, 1, y))


def remainder(e: Any, x: Any, y: Any, fmod: int) -> Any:
    """Return the remainder of integers, with the sign of `x` if `fmod`, else that of `y`."""
    if x.dtype.kind == "i" and (y.value is None or (np.asarray(y.value) == -1).any()):
        y = e.where(y.equals(-1), 1, y)  # the remainder of both is 0
    return e("Mod", x, y, fmod=fmod)


@exports("floordiv")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return e("Floor", x / y)
    quotient = truncated_quotient(e, x, y)
    if x.dtype.kind == "u":
        return quotient
    rest = x - quotient * y
    is_positive = y.value is not None and (np.asarray(y.value) > 0).all()
    is_too_large = rest < 0 if is_positive else ~rest.equals(0) & ((rest < 0) ^ (y < 0))
    return quotient - e.cast(is_too_large, x.dtype)


@exports("floormod")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind != "f":
        return remainder(e, x, y, 0)
    rest = e("Mod", x, y, fmod=1)
    differs = ~rest.equals(0.0) & ((rest < 0.0) ^ (y < 0.0))
    signed_zero = e.where((1.0 / y) < 0.0, e.const(-0.0, x.dtype), 0.0)
    return e.where(rest.equals(0.0), signed_zero, e.where(differs, rest + y, rest))


@exports("truncatediv")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return truncate(e, x / y) if x.dtype.kind == "f" else truncated_quotient(e, x, y)


def truncate(e: Any, x: Any) -> Any:
    """Round toward zero."""
    return e.where(x < 0.0, e("Ceil", x), e("Floor", x))


@exports("truncatemod")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return e("Mod", x, y, fmod=1) if x.dtype.kind == "f" else remainder(e, x, y, 1)


@exports("pow")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return e("Pow", x, y)
    return _integer_power(e, x, y)


def _integer_power(e: Any, x: Any, y: Any) -> Any:
    """Raise integers to a power by repeated squaring, which wraps around as products do."""
    known = None if y.value is None else np.asarray(y.value)
    if known is not None and (known < 0).any():
        raise InexpressibleError("integers to negative powers are an error")
    bits = 8 * x.dtype.size if known is None else max(int(known.max(initial=0)).bit_length(), 1)
    result = None
    for _ in range(bits):
        is_odd = e("Mod", y, e.like(2, y)).equals(1)
        factor = e.where(is_odd, x, 1)
        result = factor if result is None else result * factor
        y, x = y / 2, x * x
    return result


@exports("divide_no_nan")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return e.where(y.equals(0.0), 0.0, x / y)


@exports("multiply_no_nan")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return e.where(y.equals(0.0), 0.0, x * y)


@exports("xdivy")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return e.where(x.equals(0.0), 0.0, x / y)


@exports("xlogy")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return e.where(x.equals(0.0), 0.0, x * e("Log", y))


def _within(e: Any, shift: Any, highest: int) -> Any:
    """Return the nearest shift that processors have: by at least 0 and at most `highest` bits."""
    if shift.value is not None and np.all((shift.value >= 0) & (shift.value <= highest)):
        return shift
    return e("Clip", e.index(shift), e.const(0, dtypes.int64), e.const(highest, dtypes.int64))


@exports("left_shift", "right_shift")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    """Multiply by a power of two, or divide rounding down: ONNX shifts unsigned integers only."""
    y = _within(e, y, 8 * x.dtype.size - 1)
    unsigned = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}
    wide = unsigned[8 if x.dtype.size in (2, 8) else x.dtype.size]
    if operation.type == "left_shift":
        return e.cast(e("BitShift", e.cast(x, wide), e.cast(y, wide), direction="LEFT"), x.dtype)
    if x.dtype.kind == "u":
        return e.cast(e("BitShift", e.cast(x, wide), e.cast(y, wide), direction="RIGHT"), x.dtype)
    power = e.cast(
        e("BitShift", e.const(1, dtypes.uint64), e.cast(y, dtypes.uint64), direction="LEFT"), dtypes.int64
    )
    wide_x = e.index(x)
    quotient = wide_x / power
    return e.cast(quotient - e.cast(wide_x - quotient * power < 0, dtypes.int64), x.dtype)


@exports("equal_or_false", "not_equal_or_true")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    """Compare tensors whose shapes may not fit; then the result is a constant."""
    is_equal = operation.type == "equal_or_false"
    try:
        known = None not in (x.shape, y.shape) and broadcast(x.shape, y.shape) is not None
    except ValueError:
        return e.const(not is_equal, dtypes.bool_)
    if not known or None in (*x.shape, *y.shape):
        raise InexpressibleError("whether the shapes fit is not known")
    return x.equals(y) if is_equal else ~x.equals(y)
