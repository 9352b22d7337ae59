"""Affine index expressions: sums of registers times constants, which are emitted where they are used.

(row * 14 + column) * 32 + channel      ==>      448 row + 32 column + channel
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .llvm_types import Register, integer, ir, word

Term = tuple[Register, int]
"""A register and its coefficient, which is not zero."""


class Affine:
    """The sum of `terms` and `offset`. Builders settle such operands of instructions (index_builder.py)."""

    __slots__ = ("_key", "offset", "terms", "type")

    def __init__(self, terms: tuple[Term, ...], offset: int) -> None:
        self.terms, self.offset = terms, offset
        self.type = integer(64)
        self._key = offset, *((id(register), factor) for register, factor in terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def split(x: Register) -> tuple[tuple[Term, ...], int]:
    """Return the terms and the offset of an index."""
    if isinstance(x, Affine):
        return x.terms, x.offset
    if isinstance(x, ir().Constant):
        return (), x.constant
    return ((x, 1),), 0


def combined(terms: Iterable[Term], offset: int) -> Register:
    """Return a sum as a constant, a register or an affine expression."""
    found: dict[int, Term] = {}
    for register, factor in terms:
        before = found.get(id(register))
        found[id(register)] = register, factor + (before[1] if before else 0)
    rest = tuple(term for term in found.values() if term[1])
    if not rest:
        return word(offset)
    if len(rest) == 1 and rest[0][1] == 1 and not offset:
        return rest[0][0]
    return Affine(rest, offset)


def limit(terms: Iterable[Term], offset: int) -> float | None:
    """Return a number that a sum is below if no partial sum of it is negative; else None."""
    total: float = offset + 1
    for register, factor in terms:
        below = getattr(register, "below", None)
        if below is None or factor < 0:
            return None
        total += factor * (below - 1)
    return total if offset >= 0 else None


def is_natural(terms: Iterable[Term], offset: int) -> bool:
    """Return whether no partial sum is negative, as far as that is known."""
    return limit(terms, offset) is not None


def divided(terms: Iterable[Term], offset: int, divisor: int) -> tuple[Any, Any, bool]:
    """Divide a sum of which no partial sum is negative: return a quotient, a rest, and whether it is the remainder.

    Otherwise, the rest has to be divided, too.
    """
    terms = tuple(terms)
    multiples = [(register, factor // divisor) for register, factor in terms if factor % divisor == 0]
    others = tuple((register, factor) for register, factor in terms if factor % divisor)
    quotient, rest = divmod(offset, divisor)
    below = limit(others, rest)
    return combined(multiples, quotient), combined(others, rest), below is not None and below <= divisor


INFINITE = math.inf
"""The limit of a register that is not negative."""
