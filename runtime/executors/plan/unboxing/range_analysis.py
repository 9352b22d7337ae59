"""Interval arithmetic: the range of a result from the ranges of its operands.

>>> of_result("add", (0, 9), (1, 1)), of_result("floormod", (-100, 100), (3, 3))
((1, 10), (0, 2))
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .... import dtypes
from ....ir.graph import Constant
from ....ir.value_types import TensorType

Range = tuple[float, float]
"""The smallest and the largest value. Both are `int` for integers; floats have infinite ranges."""

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


def joined(one: Range, other: Range) -> Range:
    return min(one[0], other[0]), max(one[1], other[1])


def within(one: Range, other: Range) -> Range:
    """Return the intersection of two ranges; the first one if it is empty.

    An empty intersection belongs to code that never runs, so its range is arbitrary.
    """
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else one


def holds(outer: Range, inner: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def of_result(name: str, *operands: Range) -> Range | None:
    """Return the range of an integer result before wrapping; None if nothing is known."""
    rule = _RULES.get(name)
    return None if rule is None else rule(*operands)


def _corners(compute: Callable[[int, int], float]) -> Callable[[Range, Range], Range]:
    def rule(x: Range, y: Range) -> Range:
        found = [compute(int(a), int(b)) for a in x for b in y]
        return min(found), max(found)

    return rule


def _floordiv(x: Range, y: Range) -> Range:
    if y[0] <= 0 <= y[1]:
        most = max(abs(x[0]), abs(x[1]))
        return -most, most
    return _corners(lambda a, b: a // b)(x, y)


def _floormod(x: Range, y: Range) -> Range:
    if x[0] >= 0 and x[1] < y[0]:
        return x
    return min(y[0] + 1, 0), max(y[1] - 1, 0)


def _and(x: Range, y: Range) -> Range | None:
    highest = [high for low, high in (x, y) if low >= 0]
    return (0, min(highest)) if highest else None


def _or(x: Range, y: Range) -> Range | None:
    if min(x[0], y[0]) < 0:
        return None
    return 0, (1 << int(max(x[1], y[1])).bit_length()) - 1


def _square(x: Range) -> Range:
    low, high = sorted((x[0] * x[0], x[1] * x[1]))
    return (0 if x[0] <= 0 <= x[1] else low), high


def _abs(x: Range) -> Range:
    low, high = sorted((abs(x[0]), abs(x[1])))
    return (0 if x[0] <= 0 <= x[1] else low), high


_RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "subtract": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "multiply": _corners(lambda a, b: a * b),
    "negative": lambda x: (-x[1], -x[0]),
    "square": _square,
    "abs": _abs,
    "floordiv": _floordiv,
    "floormod": _floormod,
    "maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "bitwise_and": _and,
    "bitwise_or": _or,
    "bitwise_xor": _or,
    "left_shift": _corners(lambda a, b: a << b),
    "right_shift": _corners(lambda a, b: a >> b),
    "where": lambda _, x, y: joined(x, y),
    "cast": lambda x: x,
    "identity": lambda x: x,
    "stop_gradient": lambda x: x,
}
"""By operation, the function from the operands' ranges to the result's range."""
