"""Ranges of dtypes, constants and results; `ops/framework/intervals.py` has the arithmetic."""

from __future__ import annotations

import math

from .... import dtypes
from ....ir.graph import Constant
from ....ir.op_def import OpDef
from ....ir.value_types import TensorType
from ....ops.framework.intervals import Range

_INTEGERS = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
    dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64,
)  # fmt: skip

LIMITS: dict[dtypes.DType, Range] = {
    **{dtype: (dtype.min, dtype.max) for dtype in _INTEGERS},
    dtypes.bool_: (0, 1),
    dtypes.float64: (-math.inf, math.inf),
}
"""The dtypes that can be unboxed, with their limits."""


def can_be_number(spec: object) -> bool:
    """Return whether a value of this type can be a Python number."""
    return isinstance(spec, TensorType) and spec.shape == () and spec.dtype in LIMITS


def of_constant(constant: Constant) -> Range | None:
    """Return the range of a constant; None if it cannot be a number."""
    if not can_be_number(constant.spec):
        return None
    if constant.dtype.is_floating:
        return LIMITS[constant.dtype]
    value = int(constant.value)
    return value, value


def within(one: Range, other: Range) -> Range:
    """Return the intersection of two ranges; the first one if it is empty.

    An empty intersection belongs to code that never runs, so its range is arbitrary.
    """
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else one


def holds(outer: Range, inner: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def of_result(op: OpDef, *operands: Range) -> Range | None:
    """Return the range of an integer result before wrapping; None if nothing is known."""
    return None if op.interval is None else op.interval(*operands)
