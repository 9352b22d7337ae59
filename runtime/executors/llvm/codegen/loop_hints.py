"""Hints for LLVM's passes over loops, as metadata of their back edges.

    y = 2 * x                  nothing is interleaved: a processor runs the next iterations at the same time by itself
    y = tanh(x) * exp(x)       an iteration fills the processor's window: two are interleaved, in the widest vectors
    … of ten elements          … or a mask selects the elements of the last vector, so that none is computed alone

The widest vectors are wider than those that LLVM prefers on some processors, because their clock rate falls; but a
loop with little arithmetic waits for memory, and short rows leave remainders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..processor import vector_bytes
from .outlining import instructions_of

_WINDOW = 24
"""Arithmetic instructions of an iteration up to which the following iterations keep the processor busy."""

_MANY = 8
"""The number of vectors from which a loop may leave a remainder."""

_MASKS = 32
"""The width in bytes of the vectors of processors that load and store with a mask."""

UNROLL_FULLY = (["llvm.loop.vectorize.followup_vectorized", ["llvm.loop.unroll.full"]],)
"""Loop metadata that makes LLVM unroll a loop fully after vectorization."""

SCALAR = (["llvm.loop.vectorize.enable", False],)
"""Loop metadata that keeps LLVM from vectorizing a loop."""

_ALONE, _IN_PAIRS = ((["llvm.loop.interleave.count", count],) for count in (1, 2))
_MASKED = (["llvm.loop.vectorize.predicate.enable", True],)


def of_body(blocks: Sequence[Any], count: int, each_once: bool) -> Sequence[Any]:
    """Return loop metadata for an innermost loop of these blocks with this trip count.

    `each_once` means that no element is written by two iterations.
    """
    lanes = _lanes(blocks)
    if not lanes:
        return _ALONE if each_once else ()
    wide = ["llvm.loop.vectorize.width", lanes]
    if count >= _MANY * lanes:
        return [wide, *(_IN_PAIRS if each_once else ())]
    if not each_once:
        return ()
    return [wide, *_ALONE, *_MASKED] if vector_bytes() >= _MASKS else _ALONE


def _lanes(blocks: Sequence[Any]) -> int:
    """Return the number of elements of the widest vectors, or 0 for a loop with little arithmetic on floats."""
    computed, size = 0, 4
    for each in instructions_of(blocks):
        kind = str(each.type)
        if kind in ("float", "double") and each.opname != "load":
            size = max(size, 8 if kind == "double" else 4)
            inlined = each.callee.blocks if each.opname == "call" else ()
            computed += 1 + sum(len(block.instructions) for block in inlined)
    return vector_bytes() // size if computed > _WINDOW else 0
