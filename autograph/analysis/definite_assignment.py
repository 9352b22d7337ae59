"""Whether a variable has a value, at each node of the flow graph: surely, perhaps, or surely not.

if c:
    y = 1      bound after this
print(y)       maybe bound: Python raises UnboundLocalError when c is false
"""

from __future__ import annotations

from typing import NamedTuple

from .cfg_builder import Flow


class Definedness(NamedTuple):
    """For each node, the variables that may be bound, and those that may be unbound, on arrival."""

    bound: list[int]
    unbound: list[int]


def definedness(flow: Flow) -> Definedness:
    """Follow every way from the start of the function, where only the parameters are bound."""
    width = len(flow.index)
    everything = (1 << width) - 1
    # What a nested function assigns may be bound at any time; other scopes' variables are not ours to judge.
    elsewhere = flow.elsewhere
    # One set for both: what may be bound, and `width` bits further what may be unbound. Each variable is one of them,
    # so the set of a node that is reached is not empty.
    start = flow.mask(flow.rebound) | elsewhere | (everything & ~elsewhere) << width
    arriving, seen = [0] * len(flow.nodes), [0] * len(flow.nodes)
    arriving[flow.entry] = start
    goes_back = True  # what comes behind a node is looked at in the same round
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
    # Code that never runs finds nothing.
    bound, unbound = [held & everything for held in arriving], [(held or start) >> width for held in arriving]
    return Definedness(bound, unbound)
