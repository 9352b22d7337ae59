"""How many of LLVM's passes the code of a graph goes through.

    while i < n:                 loops with branches: all passes, above all those that lead a jump on to where it goes
        if x[i] > 0: …           in the end, past the tests of flags that were set on the way

    while i < n:                 a few numbers, in registers: LLVM looks which of them one vector can hold
        x = x * y + 1.0

    anything else                those of level 1

Loops become vectors at level 1 as well, and run no slower. Where those that matter are written as vectors (vectors/),
few passes are left to do. What is written as it shall run goes through none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...ir.graph import Graph, Operation


class Level(NamedTuple):
    """LLVM's own number, and whether numbers that are computed alike are looked for, to be packed into vectors."""

    speed: int
    packs: bool
    is_done: bool = False
    """Whether loops are vectors already, and functions are to be inlined and registers to be found, no more."""


ALL = Level(3, True)
FEW = Level(1, True)
FEWEST = Level(1, False)
DONE = Level(1, False, is_done=True)
NONE = Level(0, False)


_BUSY = 256
"""Elements, so many of which take longer than all jumps of a round."""


def level(graph: Graph) -> Level:
    """The level for a graph that is compiled."""
    return _level_for([each for each in graph.walk() if each.type == "while"])


def can_be_done(graph: Graph) -> bool:
    """Whether few passes are enough where loops over elements are vectors already: no time is spent on jumps."""
    loops = [each for each in graph.walk() if each.type == "while" and not _is_busy(each.regions)]
    return _level_for(loops) == FEWEST


def _is_busy(regions: Iterable[Graph]) -> bool:
    """Whether each round of a loop computes many elements."""
    from .codegen.rule_registry import ELEMENTWISE

    return any(
        (each.type in ELEMENTWISE and any(_elements(value.spec) > _BUSY for value in each.outputs))
        or (each.type != "cond" and _is_busy(each.regions))
        for region in regions
        for each in region.operations
    )


def _elements(spec: Any) -> int:
    """How many elements a result has; 0 where that is not known."""
    shape = getattr(spec, "shape", None)
    return 0 if shape is None or None in shape else math.prod(shape)


def _level_for(loops: Sequence[Operation]) -> Level:
    inside = [each for loop in loops for body in loop.regions for each in body.walk()]
    if any(each.type == "cond" for each in inside):
        return ALL
    return FEW if any(_is_few(value.spec) for each in inside for value in each.outputs) else FEWEST


def _is_few(spec: Any) -> bool:
    """Whether a result is a few numbers that are no integers, or as many as there turn out to be."""
    from .codegen import function_builder

    dtype, shape = getattr(spec, "dtype", None), getattr(spec, "shape", None)
    if dtype is None or dtype.kind not in "fc" or shape is None:
        return False
    return bool(math.prod(size or 1 for size in shape) <= function_builder.FEW)
