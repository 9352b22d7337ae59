"""Definite assignment: whether a variable is bound, maybe bound or unbound at each node of the control-flow graph.

if c:
    y = 1      bound after this
print(y)       maybe bound: Python raises UnboundLocalError when c is false
"""

from __future__ import annotations

from typing import NamedTuple

from .cfg_builder import Flow


class Definedness(NamedTuple):
    """For each node, the variables that may be bound, and those that may be unbound, on entry."""

    bound: list[int]
    unbound: list[int]


def definedness(flow: Flow) -> Definedness:
    """Return the definedness at each node, by a forward fixpoint in which `entry` binds only the parameters."""
    width = len(flow.index)
    everything = (1 << width) - 1
    # A nested function may bind its variables at any time. Variables of other scopes are not analyzed.
    elsewhere = flow.elsewhere
    # One mask holds both sets: bits below `width` are maybe bound, bits from `width` on are maybe unbound.
    # Each variable is in one of the sets, so the mask of a reachable node is never 0.
    start = flow.mask(flow.rebound) | elsewhere | (everything & ~elsewhere) << width
    arriving, seen = [0] * len(flow.nodes), [0] * len(flow.nodes)
    arriving[flow.entry] = start
    goes_back = True  # a forward edge needs no new pass, since its target comes later in this one
    while goes_back:
        goes_back = False
        for number, (_, bind, may, unbind, next_nodes, escape) in enumerate(flow.nodes):
            before = arriving[number]
            if before == seen[number]:
                continue
            seen[number] = before
            after = (before & ~(unbind | bind << width)) | bind | may | unbind << width
            for following in next_nodes:
                if after & ~arriving[following]:
                    arriving[following] |= after
                    goes_back |= following <= number
            if escape >= 0 and (before | after) & ~arriving[escape]:
                arriving[escape] |= before | after
                goes_back |= escape <= number
    # Unreachable nodes keep the state of the entry.
    bound, unbound = [held & everything for held in arriving], [(held or start) >> width for held in arriving]
    return Definedness(bound, unbound)
