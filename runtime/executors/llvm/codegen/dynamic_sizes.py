"""Dynamic sizes: sizes known only at run time, such as the length of a list or the number of selected values.

    y = boolean_mask x, m        y: float32[s, 3], where s is counted while y is computed
    z = add y, y                 z: float32[s, 3]: a loop nest with s iterations
    r = reshape z, [-1]          r: float32[3 s]

A `Size` is a register together with a symbolic int, by which shapes are compared. This int is unique, and
larger than any actual size. Products and sums of sizes are sizes too, and equal if they have equal operands.
NumPy and LLVM reject ints of this magnitude, so a symbolic size cannot be mistaken for an actual one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .llvm_types import Register
from .rule_registry import RefusedError

_NUMBERS = itertools.count(1)
_APART = 0x9E3779B97F4A7C15F39CC0605CEDC835  # symbolic sizes are multiples of this

TYPICAL = 1024
"""The value assumed for a dynamic size in cost decisions."""


class Size(int):
    """A non-negative number of elements in a register."""

    _write: Callable[[Any], Register]

    @staticmethod
    def of(register: Register) -> Size:
        """Return a new size held in `register`; it equals no other size."""
        return _size(next(_NUMBERS) * _APART, lambda e: register)

    def written(self, e: Any) -> Register:
        """Emit the register at the emitter's current position."""
        return self._write(e)

    def __mul__(self, other: int) -> int:
        if other in (0, 1):
            return self if other else 0
        return _size(int(self) * int(other), lambda e: e.b.mul(e.word(self), e.word(other), flags=("nsw",)))

    def __add__(self, other: int) -> int:
        return _size(int(self) + int(other), lambda e: e.plus(e.word(self), e.word(other))) if other else self

    def __sub__(self, other: int) -> int:
        if int(self) == int(other):
            return 0
        return (
            _size(int(self) - int(other), lambda e: e.minus(e.word(self), e.word(other))) if other else self
        )

    def __rsub__(self, other: int) -> int:
        return _size(int(other) - int(self), lambda e: e.minus(e.word(other), e.word(self)))

    def __floordiv__(self, other: int) -> int:
        raise RefusedError("a size that is known only while the code runs is divided")

    __rmul__, __radd__ = __mul__, __add__
    __mod__ = __rfloordiv__ = __rmod__ = __floordiv__


def _size(number: int, write: Callable[[Any], Register]) -> Size:
    found = Size(number)
    found._write = write
    return found


def typical(count: int) -> int:
    """Return `count`, or `TYPICAL` for a dynamic size."""
    return TYPICAL if isinstance(count, Size) else count


def is_sized(shape: tuple[int, ...]) -> bool:
    """Return whether a shape has a dynamic size."""
    return any(isinstance(size, Size) for size in shape)
