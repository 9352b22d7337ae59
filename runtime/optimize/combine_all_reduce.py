"""Combine sums over processes that could start together: they travel in one buffer, which one wait is spent on.

    a = all_reduce x                                 a, b = all_reduce x, y
    v.1 = assign_sub_variable v, a       ==>         v.1 = assign_sub_variable v, a
    b = all_reduce y                                 w.1 = assign_sub_variable w, b
    w.1 = assign_sub_variable w, b

A reduction joins an earlier one with the same attributes if its operands are known there, and if no other collective
operation and no call of Python is between them. All processes run the same graph, so that they combine the same ones.
"""

from __future__ import annotations

from ..ir.clone import are_same, with_parts
from ..ir.graph import Graph, Operand, Operation
from ..ir.traits import CALLS_PYTHON, COLLECTIVE
from ..ops.collective.reductions import all_reduce
from .options import OptimizerOptions
from .rewriter import visiting


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    """Return the graph with combined reductions, also in its regions and callees."""
    done: dict[Graph, Graph] = {}

    def visit(graph: Graph) -> Graph:
        if graph not in done:
            done[graph] = _combined(graph, [visiting(visit, operation) for operation in graph.operations])
        return done[graph]

    return visit(graph)


def _combined(graph: Graph, operations: list[Operation]) -> Graph:
    kept: list[Operation] = []
    position: int | None = None  # of the reduction that later ones may join
    later: set[Operand] = set()  # the values that are not known there
    for operation in operations:
        first = None if position is None else kept[position]
        if first is not None and position is not None and _may_join(operation, first, later):
            kept[position] = _joined(first, operation)
            later.update(operation.outputs)
            continue
        if operation.op is all_reduce:
            position, later = len(kept), set()
        elif _ends_group(operation):
            position = None
        kept.append(operation)
        later.update(operation.outputs)
    return graph if are_same(kept, graph.operations) else Graph(graph.name, graph.inputs, kept, graph.outputs)


def _may_join(operation: Operation, first: Operation, later: set[Operand]) -> bool:
    return (
        operation.op is all_reduce and operation.attrs == first.attrs and later.isdisjoint(operation.inputs)
    )


def _joined(first: Operation, operation: Operation) -> Operation:
    inputs, outputs = first.inputs + operation.inputs, first.outputs + operation.outputs
    return with_parts(first, inputs=inputs, outputs=outputs)


def _ends_group(operation: Operation) -> bool:
    """Return whether the operation is another collective one, or may contain or call one."""
    is_opaque = bool(operation.regions) or operation.op.has(CALLS_PYTHON)
    return operation.op.has(COLLECTIVE) or (operation.stateful and is_opaque)
