"""Whether a variable has a value, at each node of the flow graph: surely, perhaps, or surely not.

if c:
    y = 1      bound after this
print(y)       maybe bound: Python raises UnboundLocalError when c is false
"""

from __future__ import annotations

from typing import NamedTuple

from .flow import Flow


class Definedness(NamedTuple):
    """For each node, the variables that may be bound, and those that may be unbound, on arrival."""

    bound: list[int]
    unbound: list[int]


def definedness(flow: Flow) -> Definedness:
    """Follow every way from the start of the function, where only the parameters are bound."""
    count = len(flow.use)
    # What a nested function assigns may be bound at any time; other scopes' variables are not ours to judge.
    elsewhere = flow.elsewhere
    bound, unbound = [0] * count, [0] * count
    reached, pending = [False] * count, [False] * count  # what is known of a pending node is new
    reached[flow.entry] = pending[flow.entry] = True
    bound[flow.entry] = flow.mask(flow.rebound) | elsewhere
    unbound[flow.entry] = ((1 << len(flow.index)) - 1) & ~elsewhere
    steps = list(zip(flow.bind, flow.may, flow.unbind, flow.next, flow.escape, strict=True))
    goes_back = True  # what comes behind a node is looked at in the same round
    while goes_back:
        goes_back = False
        for node, (bind, may, unbind, next_nodes, escape) in enumerate(steps):
            if not pending[node]:
                continue
            pending[node] = False
            has, lacks = bound[node], unbound[node]
            after_has = (has & ~unbind) | bind | may
            after_lacks = (lacks & ~bind) | unbind
            for following in next_nodes:
                if (
                    not reached[following]
                    or after_has & ~bound[following]
                    or after_lacks & ~unbound[following]
                ):
                    reached[following] = pending[following] = True
                    goes_back |= following <= node
                    bound[following] |= after_has
                    unbound[following] |= after_lacks
            if escape >= 0:
                either_has, either_lacks = has | after_has, lacks | after_lacks
                if not reached[escape] or either_has & ~bound[escape] or either_lacks & ~unbound[escape]:
                    reached[escape] = pending[escape] = True
                    goes_back |= escape <= node
                    bound[escape] |= either_has
                    unbound[escape] |= either_lacks
    for node in range(count):
        if not reached[node]:
            unbound[node] = unbound[flow.entry]  # code that never runs finds nothing
    return Definedness(bound, unbound)
