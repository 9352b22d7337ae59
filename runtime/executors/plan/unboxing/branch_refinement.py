"""Refine the ranges of compared numbers by the outcome of a condition.

i < n, which is true        i is less than the largest n; n is more than the smallest i
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ir.graph import Operand, Operation
from ....ops.framework.intervals import Range
from ....ops.math.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from .use_lists import Uses

_SIGNS = {
    less: (">=", "<"),
    less_equal: (">", "<="),
    greater: ("<=", ">"),
    greater_equal: ("<", ">="),
    equal: ("!=", "=="),
    not_equal: ("==", "!="),
}
"""By comparison, the relations of its operands if the result is False and if it is True."""

Ranges = Mapping[Operand, Range | None]
"""The ranges of numbers and of constants that can be numbers; None for other operands."""


def refine_by_condition(ranges: Ranges, decision: Operand, is_true: bool, uses: Uses) -> dict[Operand, Range]:
    """Return the refined ranges of operands where the condition `decision` is true or false."""
    maker = uses.makers.get(decision)
    if maker is None or ranges[decision] is None:
        return {}
    if maker.op in _SIGNS:
        return _compared(ranges, _SIGNS[maker.op][is_true], maker)
    if maker.op is logical_not:
        return refine_by_condition(ranges, maker.inputs[0], not is_true, uses)
    known: dict[Operand, Range] = {}
    if maker.op is (logical_and if is_true else logical_or):
        for operand in maker.inputs:
            known |= refine_by_condition(ranges, operand, is_true, uses)
    return known


def _compared(ranges: Ranges, sign: str, comparison: Operation) -> dict[Operand, Range]:
    a, b = comparison.inputs
    x, y = ranges[a], ranges[b]
    if x is None or y is None or a.dtype.kind not in "iu":
        return {}
    step = 1 if len(sign) == 1 else 0
    if sign[0] == "<":
        return {a: (x[0], y[1] - step), b: (x[0] + step, y[1])}
    if sign[0] == ">":
        return {a: (y[0] + step, x[1]), b: (y[0], x[1] - step)}
    return {a: y, b: x} if sign == "==" else {}
