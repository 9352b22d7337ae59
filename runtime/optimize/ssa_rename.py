"""See to it that no value is made twice: that all regions of a graph have values of their own.

The way back through a graph and the graph itself, two calls of one function, or two branches may share them. The
passes keep what they know of values in tables, for all regions at once.
"""

from __future__ import annotations

from ..ir.clone import copied, with_parts
from ..ir.graph import Graph, Operand
from .rewriter import GIVEN


def rename_values(graph: Graph) -> Graph:
    """The graph itself where its values are different already. Callees are graphs by themselves."""
    if next(graph.regions(), None) is None or _are_different(graph):
        return graph
    operations = []
    for operation in graph.operations:
        owned = list(map(copied, operation.regions)) if operation.op.name in GIVEN else ()
        operations.append(with_parts(operation, regions=owned) if owned else operation)
    return Graph(graph.name, graph.inputs, tuple(operations), graph.outputs)


def _are_different(graph: Graph) -> bool:
    values: set[Operand] = set()
    count, pending = 0, [graph]
    while pending:
        current = pending.pop()
        values.update(current.inputs)
        count += len(current.inputs)
        for operation in current.operations:
            values.update(operation.outputs)
            count += len(operation.outputs)
            if operation.op.name in GIVEN:
                pending += operation.regions
    return count == len(values)
