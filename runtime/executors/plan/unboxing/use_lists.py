"""Use lists: the operations that define and use the values of a graph."""

from __future__ import annotations

from ....ir.graph import Graph, Operand, Operation


class Uses:
    """The uses of one graph: each value's defining operation and readers, and the graph's outputs."""

    def __init__(self, graph: Graph) -> None:
        self.live = graph.live_operations()
        self.outputs = set(graph.outputs)
        self.makers: dict[Operand, Operation] = {}
        self.readers: dict[Operand, list[Operation]] = {}
        for operation in self.live:
            self.makers.update(dict.fromkeys(operation.outputs, operation))
            for operand in operation.inputs:
                self.readers.setdefault(operand, []).append(operation)
