"""Sizes that are known only while the code runs: how many elements a list has, how many values pass a test.

    y = boolean_mask x, m        y: float32[s, 3], where s is counted while y is made
    z = add y, y                 z: float32[s, 3]: a nest of loops that goes s times round
    r = reshape z, [-1]          r: float32[3 s]

Such a size is an int by which shapes are compared, larger than any that there is and like no other one, and a register.
Products and sums of sizes are sizes, equal where they are made of the same ones. NumPy and LLVM refuse numbers of this
kind, so none is taken for what it is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .llvm_types import Register
from .rule_registry import RefusedError

_NUMBERS = itertools.count(1)
_APART = 0x9E3779B97F4A7C15F39CC0605CEDC835  # what numbers of sizes are multiples of

TYPICAL = 1024
"""What a size is taken for where code is chosen by how much there is to do."""


class Size(int):
    """A number of elements in a register, which is not negative."""

    _write: Callable[[Any], Register]

    @staticmethod
    def of(register: Register) -> Size:
        """The size that stands in a register; it is equal to no other one."""
        return _size(next(_NUMBERS) * _APART, lambda e: register)

    def written(self, e: Any) -> Register:
        """The register, which is computed where the emitter stands."""
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
    """A count, or what it is taken for."""
    return TYPICAL if isinstance(count, Size) else count


def is_sized(shape: tuple[int, ...]) -> bool:
    """Whether a shape is known only while the code runs."""
    return any(isinstance(size, Size) for size in shape)
