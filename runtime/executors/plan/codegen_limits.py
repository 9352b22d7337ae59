"""Limits of generated source: the depth of nested blocks, and the size of inlined callees."""

from __future__ import annotations

from ...ir.graph import Graph

DEEPEST = 15
"""Blocks nested deeper become functions: Python allows 20 nested loops."""

INLINE = 8
"""The largest number of operations of an inlined callee. Callees with regions are not inlined."""


def is_inlined(callee: Graph) -> bool:
    """Return whether `callee` is written at its call sites."""
    return len(callee.operations) <= INLINE and not any(inner.regions for inner in callee.operations)
