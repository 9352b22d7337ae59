"""Which variables may still be read, at each node of the flow graph.

n = f()        n is live here
n = g(n)
h(n)           n is live before, dead after
"""

from __future__ import annotations

from .flow import Flow


def live(flow: Flow) -> list[int]:
    """For each node, the set of variables that some way from its start reads before binding them."""
    count = len(flow.use)
    result = [0] * count
    keep = [~(bind | unbind) for bind, unbind in zip(flow.bind, flow.unbind, strict=True)]
    heads: set[int] = set()  # the nodes that some way leads back to
    changed = True
    while changed:
        changed = False
        for node in range(count - 1, -1, -1):
            after = 0
            for following in flow.next[node]:
                after |= result[following]
                if following <= node:
                    heads.add(following)
            before = (after & keep[node]) | flow.use[node]
            escape = flow.escape[node]
            if escape >= 0:
                # The exception may come before the node has bound anything.
                before |= result[escape]
                if escape <= node:
                    heads.add(escape)
            if before != result[node]:
                result[node] = before
                changed |= node in heads
    return result
