"""Run operations whose results are bigger than their operands when these results are first used.

    g = matmul xᵀ, d                              h = matmul yᵀ, e
    h = matmul yᵀ, e                              assign_sub w, h          h is dead
    assign_sub w, h                    ==>        g = matmul xᵀ, d
    assign_sub v, g                               assign_sub v, g

The updates of a training step follow all gradients in the program. In this order a gradient of a wide layer exists
only while its variable is updated. Effects keep their order, because only operations that cannot fail move.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.graph import Operation
from .speculation import grows, is_speculatable


def delayed(live: Sequence[Operation]) -> Sequence[Operation]:
    """Return the operations of a graph in the new order."""
    late = {operation for operation in live if grows(operation) and is_speculatable(operation)}
    if not late:
        return live
    makers = {value: operation for operation in late for value in operation.outputs}
    order: dict[Operation, None] = {}
    for operation in (*(each for each in live if each not in late), *live):
        pending = [operation]
        while pending:
            each = pending[-1]
            early = [makers[x] for x in each.inputs if x in makers and makers[x] not in order]
            if early:
                pending += reversed(early)
            else:
                order[pending.pop()] = None
    return [*order]
