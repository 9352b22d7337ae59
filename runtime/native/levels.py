"""How many of LLVM's passes the code of a graph goes through.

    while i < n:                 loops with branches: all passes, above all those that lead a jump on to where it goes
        if x[i] > 0: …           in the end, past the tests of flags that were set on the way

    anything else                those of level 1

Loops become vectors at level 1 as well, and run no slower.
"""

from __future__ import annotations

from ..ir.graph import Graph

ALL = 3
FEW = 1


def level(graph: Graph) -> int:
    """The level for a graph that is compiled."""
    loops = (operation for operation in graph.walk() if operation.type == "while")
    bodies = (region for loop in loops for region in loop.regions)
    return ALL if any(each.type == "cond" for body in bodies for each in body.walk()) else FEW
