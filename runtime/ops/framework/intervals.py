"""Interval arithmetic: the range of an integer result before it wraps, from the ranges of the operands.

>>> add((0, 9), (1, 1)), floormod((-100, 100), (3, 3))
((1, 10), (0, 2))

A range is the smallest and the largest value. A function returns None if it derives nothing.
"""

from __future__ import annotations

from collections.abc import Callable

Range = tuple[float, float]
"""The smallest and the largest value. Both are `int` for integers; floats have infinite ranges."""


def unchanged(x: Range) -> Range:
    return x


def hull(x: Range, y: Range) -> Range:
    """Return the smallest range that contains both."""
    return min(x[0], y[0]), max(x[1], y[1])


def choose(condition: Range, x: Range, y: Range) -> Range:
    return hull(x, y)


def add(x: Range, y: Range) -> Range:
    return x[0] + y[0], x[1] + y[1]


def subtract(x: Range, y: Range) -> Range:
    return x[0] - y[1], x[1] - y[0]


def negative(x: Range) -> Range:
    return -x[1], -x[0]


def _monotonic(compute: Callable[[int, int], float]) -> Callable[[Range, Range], Range]:
    """Return the rule of a function that is monotonic in each operand: its extremes are at the corners."""

    def rule(x: Range, y: Range) -> Range:
        found = [compute(int(a), int(b)) for a in x for b in y]
        return min(found), max(found)

    return rule


multiply = _monotonic(lambda a, b: a * b)
left_shift = _monotonic(lambda a, b: a << b)
right_shift = _monotonic(lambda a, b: a >> b)
_quotient = _monotonic(lambda a, b: a // b)


def floordiv(x: Range, y: Range) -> Range:
    if y[0] <= 0 <= y[1]:
        most = max(abs(x[0]), abs(x[1]))
        return -most, most
    return _quotient(x, y)


def floormod(x: Range, y: Range) -> Range:
    if x[0] >= 0 and x[1] < y[0]:
        return x
    return min(y[0] + 1, 0), max(y[1] - 1, 0)


def maximum(x: Range, y: Range) -> Range:
    return max(x[0], y[0]), max(x[1], y[1])


def minimum(x: Range, y: Range) -> Range:
    return min(x[0], y[0]), min(x[1], y[1])


def bitwise_and(x: Range, y: Range) -> Range | None:
    highest = [high for low, high in (x, y) if low >= 0]
    return (0, min(highest)) if highest else None


def bitwise_or(x: Range, y: Range) -> Range | None:
    """Return the range of the union of bits; it holds for their difference too."""
    if min(x[0], y[0]) < 0:
        return None
    return 0, (1 << int(max(x[1], y[1])).bit_length()) - 1


def square(x: Range) -> Range:
    low, high = sorted((x[0] * x[0], x[1] * x[1]))
    return (0 if x[0] <= 0 <= x[1] else low), high


def absolute(x: Range) -> Range:
    low, high = sorted((abs(x[0]), abs(x[1])))
    return (0 if x[0] <= 0 <= x[1] else low), high
