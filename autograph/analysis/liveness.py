"""Live-variable analysis: the variables that may still be read, at each node of the control-flow graph.

n = f()        n is live here
n = g(n)
h(n)           n is live before, dead after
"""

from __future__ import annotations

from .cfg_builder import Flow


def live(flow: Flow) -> list[int]:
    """Return the live-in set of each node: the variables that some path from it reads before binding them."""
    result = [0] * len(flow.nodes)
    backwards = [*enumerate(flow.nodes)][::-1]
    changed = True
    while changed:
        changed = False
        for number, (use, bind, _, unbind, next_nodes, escape) in backwards:
            before = 0
            for following in next_nodes:
                before |= result[following]
            before = (before & ~(bind | unbind)) | use
            if escape >= 0:
                # The node may raise before it has bound anything.
                before |= result[escape]
            if before != result[number]:
                result[number] = before
                changed |= number in flow.heads
    return result
