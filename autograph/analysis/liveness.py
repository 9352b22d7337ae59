"""Which variables may still be read, at each node of the flow graph.

n = f()        n is live here
n = g(n)
h(n)           n is live before, dead after
"""

from __future__ import annotations

from .cfg_builder import Flow


def live(flow: Flow) -> list[int]:
    """For each node, the set of variables that some way from its start reads before binding them."""
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
                # The exception may come before the node has bound anything.
                before |= result[escape]
            if before != result[number]:
                result[number] = before
                changed |= number in flow.heads
    return result
