"""Selection of LLVM's optimization level for a graph.

    while i < n:                 loops with branches: all passes, mainly for jump threading past tests of flags
        if x[i] > 0: …

    while i < n:                 few scalars in registers: the SLP vectorizer packs them into vectors
        x = x * y + 1.0

    anything else                the passes of level 1

Loops are vectorized at level 1 as well, and run as fast. If the important loops are already vectorized
(vectorize/), a few passes suffice. IR that is already in its final form is not optimized at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...ir.graph import Graph, Operation


class Level(NamedTuple):
    """LLVM's speed level, and whether the SLP vectorizer runs."""

    speed: int
    packs: bool
    is_done: bool = False
    """Whether loops are already vectorized, so that only inlining and promotion to registers are left."""


ALL = Level(3, True)
FEW = Level(1, True)
FEWEST = Level(1, False)
DONE = Level(1, False, is_done=True)
NONE = Level(0, False)


_BUSY = 256
"""Number of elements whose computation takes longer than all branches of an iteration."""


def level(graph: Graph) -> Level:
    """Return the level for a graph that is compiled."""
    return _level_for([each for each in graph.walk() if each.type == "while"])


def can_be_done(graph: Graph) -> bool:
    """Return whether a few passes suffice if loops over elements are already vectorized: branches take no time."""
    loops = [
        each for each in graph.walk() if each.type == "while" and not _computes_many_elements(each.regions)
    ]
    return _level_for(loops) == FEWEST


def _computes_many_elements(regions: Iterable[Graph]) -> bool:
    """Return whether each iteration of a loop computes many elements."""
    from .codegen.element_formulas import element_rule

    return any(
        (element_rule(each.op) is not None and any(_elements(value.spec) > _BUSY for value in each.outputs))
        or (each.type != "cond" and _computes_many_elements(each.regions))
        for region in regions
        for each in region.operations
    )


def _elements(spec: Any) -> int:
    """Return the number of elements of a result; 0 if it is unknown."""
    shape = getattr(spec, "shape", None)
    return 0 if shape is None or None in shape else math.prod(shape)


def _level_for(loops: Sequence[Operation]) -> Level:
    inside = [each for loop in loops for body in loop.regions for each in body.walk()]
    if any(each.type == "cond" for each in inside):
        return ALL
    return FEW if any(_is_few(value.spec) for each in inside for value in each.outputs) else FEWEST


def _is_few(spec: Any) -> bool:
    """Return whether a result consists of few floats, not counting dynamic sizes."""
    from .codegen import function_builder

    dtype, shape = getattr(spec, "dtype", None), getattr(spec, "shape", None)
    if dtype is None or dtype.kind not in "fc" or shape is None:
        return False
    return bool(math.prod(size or 1 for size in shape) <= function_builder.FEW)
