"""Rename values so that each is defined once (SSA), across all regions of a graph.

A graph and its gradient, two call sites of one function, or two branches may share values. The passes keep
information on values in tables, for all regions at once.
"""

from __future__ import annotations

from ..ir.clone import copied, with_parts
from ..ir.graph import Graph, Operand
from ..ir.structured import is_control_flow


def rename_values(graph: Graph) -> Graph:
    """Return the graph with distinct values in all regions; callees are separate graphs.

    If the values are distinct already, the graph itself is returned.
    """
    if next(graph.regions(), None) is None or _are_different(graph):
        return graph
    operations = []
    for operation in graph.operations:
        owned = list(map(copied, operation.regions)) if is_control_flow(operation) else ()
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
            if is_control_flow(operation):
                pending += operation.regions
    return count == len(values)
