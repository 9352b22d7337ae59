"""How deep blocks of generated source lie in each other, and which graphs are written where they are called."""

from __future__ import annotations

from ...ir.graph import Graph

DEEPEST = 15
"""Blocks nested deeper become functions: Python allows 20 loops within each other."""

INLINE = 8
"""Callees of no more operations than this, none with regions, are written in place."""


def is_inlined(callee: Graph) -> bool:
    """Whether a graph is written where it is called."""
    return len(callee.operations) <= INLINE and not any(inner.regions for inner in callee.operations)
