"""Selection of LLVM's optimization level for a graph.

    while i < n:                 loops with branches: all passes, mainly for jump threading past tests of flags
        if x[i] > 0: …

    while i < n:                 few scalars in registers: the SLP vectorizer packs them into vectors
        x = x * y + 1.0

    anything else                the passes of level 1

Loops are vectorized at level 1 as well, and run as fast. IR that is already in its final form is not optimized at all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...ir.graph import Graph
from ...ir.structured import is_cond, is_loop


class Level(NamedTuple):
    """LLVM's speed level, whether the SLP vectorizer runs, and the level of code generation."""

    speed: int
    packs: bool
    codegen: int = 3


ALL = Level(3, True)
FEW = Level(1, True)
FEWEST = Level(1, False)
NONE = Level(0, False)
COLD = Level(0, False, codegen=0)


def level(graph: Graph) -> Level:
    """Return the level for a graph that is compiled."""
    loops = list(filter(is_loop, graph.walk()))
    inside = [each for loop in loops for body in loop.regions for each in body.walk()]
    if any(map(is_cond, inside)):
        return ALL
    return FEW if any(_is_few(value.spec) for each in inside for value in each.outputs) else FEWEST


def _is_few(spec: Any) -> bool:
    """Return whether a result consists of few floats, not counting dynamic sizes."""
    from .codegen import function_builder

    dtype, shape = getattr(spec, "dtype", None), getattr(spec, "shape", None)
    if dtype is None or dtype.kind not in "fc" or shape is None:
        return False
    return bool(math.prod(size or 1 for size in shape) <= function_builder.FEW)
