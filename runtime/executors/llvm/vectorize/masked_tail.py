"""Compute a remainder that fills no vector in the first lanes of one; the results of the other lanes are unused.

for i in 8 … 9: y[i] ← exp(x[i])     ==>     v = the 2 elements at x[8]; the other lanes repeat the first element
                                             w = exp(v)
                                             store the first 2 lanes of w at y[8]

The other lanes repeat real elements because a function may branch if any lane holds a rare argument.
"""

from __future__ import annotations

from typing import Any

from ..codegen.llvm_types import Register, ir
from ..llvm_engine import vector_bytes
from .widen_instructions import vector, which


def can_be_few(rounds: int) -> bool:
    """Return whether `rounds` elements are more than one, and can be loaded and stored as one short vector."""
    most = max(8, vector_bytes() // 4)
    return rounds > 1 and (rounds <= most or rounds & (rounds - 1) == 0)


def few_loaded(b: Any, address: Register, kind: Any, few: int, lanes: int, align: int) -> Register:
    """Emit a load of `few` elements; return them in the first of `lanes` lanes."""
    made = b.load(address, typ=vector(kind, few))
    made.align = align
    return _chosen(b, made, [*range(few), *[0] * (lanes - few)])


def few_stored(b: Any, value: Register, few: int) -> Register:
    """Return the first `few` lanes of `value`, which are to be stored."""
    return _chosen(b, value, range(few))


def few_of(b: Any, value: Register, few: int, neutral: Register | None) -> Register:
    """Return `value` with neutral elements of the reduction after its first `few` lanes."""
    lanes = value.type.count
    if neutral is None:
        return _chosen(b, value, [*range(few), *[0] * (lanes - few)])
    return b.shuffle_vector(value, neutral, which([*range(few), *range(lanes + few, 2 * lanes)]))


def _chosen(b: Any, value: Register, lanes: Any) -> Register:
    return b.shuffle_vector(value, ir().Constant(value.type, ir().Undefined), which(list(lanes)))
