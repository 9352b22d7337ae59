"""What a decision has found out about the numbers that it compares.

i < n, which is true        i is less than the largest n; n is more than the smallest i
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ...ir.graph import Operand, Operation
from .ranges import Range
from .uses import Uses

_COMPARISONS = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Known(Protocol):
    """What is known of numbers."""

    def __contains__(self, operand: object) -> bool: ...

    def range(self, operand: Operand) -> Range | None:
        """The range of a number or of a constant that can be one; None for others."""


def found_out(
    numbers: Known, decision: Operand, is_true: bool, uses: Uses
) -> Iterator[tuple[Operand, Range]]:
    """What is known of operands where a decision was found true, or false."""
    maker = uses.makers.get(decision)
    if maker is None or decision not in numbers:
        return
    if maker.type == "logical_not":
        yield from found_out(numbers, maker.inputs[0], not is_true, uses)
    elif maker.type == ("logical_and" if is_true else "logical_or"):
        for operand in maker.inputs:
            yield from found_out(numbers, operand, is_true, uses)
    elif maker.type in _COMPARISONS and maker.inputs[0].dtype.kind in "iu":
        sign = _COMPARISONS[maker.type]
        yield from _compared(numbers, sign if is_true else _OPPOSITES[sign], maker)


def _compared(numbers: Known, sign: str, comparison: Operation) -> Iterator[tuple[Operand, Range]]:
    a, b = comparison.inputs
    x, y = numbers.range(a), numbers.range(b)
    if x is None or y is None:
        return
    step = 1 if len(sign) == 1 else 0
    if sign[0] == "<":
        yield a, (x[0], y[1] - step)
        yield b, (x[0] + step, y[1])
    elif sign[0] == ">":
        yield a, (y[0] + step, x[1])
        yield b, (y[0], x[1] - step)
    elif sign == "==":
        yield a, y
        yield b, x
