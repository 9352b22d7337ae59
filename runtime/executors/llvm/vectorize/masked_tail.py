"""Rounds that fill no vector: the first lanes count, and the others compute what nobody reads.

for i in 8 … 9: y[i] ← exp(x[i])     ==>     v = the 2 numbers at x[8], the first of them in the other lanes once more
                                             w = exp(v)
                                             the first 2 lanes of w go to y[8]

The other lanes hold numbers that are there, for a function may look whether any lane holds what is rare.
"""

from __future__ import annotations

from typing import Any

from ..codegen.llvm_types import Register, ir
from ..llvm_engine import vector_bytes
from .widen_instructions import vector, which


def can_be_few(rounds: int) -> bool:
    """Whether so many elements are more than one, and read and written at once without taking them one by one."""
    most = max(8, vector_bytes() // 4)
    return rounds > 1 and (rounds <= most or rounds & (rounds - 1) == 0)


def few_loaded(b: Any, address: Register, kind: Any, few: int, lanes: int, align: int) -> Register:
    """A vector of the few numbers at an address."""
    made = b.load(address, typ=vector(kind, few))
    made.align = align
    return _chosen(b, made, [*range(few), *[0] * (lanes - few)])


def few_stored(b: Any, value: Register, few: int) -> Register:
    """What is written of a vector of which few lanes count."""
    return _chosen(b, value, range(few))


def few_of(b: Any, value: Register, few: int, neutral: Register | None) -> Register:
    """A vector of which few lanes count, to be taken together with others: the other lanes change nothing."""
    lanes = value.type.count
    if neutral is None:
        return _chosen(b, value, [*range(few), *[0] * (lanes - few)])
    return b.shuffle_vector(value, neutral, which([*range(few), *range(lanes + few, 2 * lanes)]))


def _chosen(b: Any, value: Register, lanes: Any) -> Register:
    return b.shuffle_vector(value, ir().Constant(value.type, ir().Undefined), which(list(lanes)))
