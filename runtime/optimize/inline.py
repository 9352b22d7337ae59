"""Function inlining: replace calls by the body of the callee.

    graph main(x: float32[]) -> float32[]           graph main(x: float32[]) -> float32[]
      y = call @half x                                y = multiply x, 0.5
      z = add y, 1.0                        ==>       z = add y, 1.0
      return z                                        return z

    graph half(x: float32[]) -> float32[]
      y = multiply x, 0.5
      return y

A function with several call sites is inlined at each of them, unless the graph would grow too large. A function with
`jit_compile=True` remains one call.
`custom_gradient` operations are removed: the gradients of a graph that runs have been taken already.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.clone import Substitution, are_same, clone_value, substitute, with_parts
from ..ir.graph import Graph, Operand, Operation
from ..ir.structured import is_call, is_compiled_call, is_custom_gradient
from .options import OptimizerOptions

SMALL = 8
"""Callees with at most this many operations are always inlined."""

GROWTH = 4
"""The largest growth of the graph, as a factor of the size of all functions together."""

ROOM = 2_000
"""The size that the graph may reach in any case."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return _Inliner(graph).alone(graph)


class _Inliner:
    """The inliner of one graph's calls."""

    def __init__(self, graph: Graph) -> None:
        self.sizes: dict[Graph, int] = {}
        self.done: dict[Graph, Graph] = {}
        self.used: set[Operand] = set()  # values of the new graphs
        self.left = max(ROOM, GROWTH * _size(graph))

    def alone(self, graph: Graph) -> Graph:
        """Return a graph that is not inlined: the main one, or a callee that remains a function."""
        if graph not in self.done:
            self.done[graph] = self.region(graph)
        return self.done[graph]

    def region(self, graph: Graph) -> Graph:
        is_new = self.claims(graph)
        inputs = graph.inputs if is_new else tuple(map(clone_value, graph.inputs))
        known: Substitution = {} if is_new else dict(zip(graph.inputs, inputs, strict=True))
        operations: list[Operation] = []
        self.write(graph.operations, known, operations, is_new)
        outputs = substitute(graph.outputs, known)
        if is_new and not known and are_same(operations, graph.operations):
            return graph
        return Graph(graph.name, inputs, tuple(operations), outputs)

    def claims(self, graph: Graph) -> bool:
        """Return whether the values of a graph are not in use yet, and mark them as used."""
        values = [*graph.inputs, *(value for operation in graph.operations for value in operation.outputs)]
        is_new = self.used.isdisjoint(values)
        self.used.update(values)
        return is_new

    def write(
        self, operations: Sequence[Operation], known: Substitution, kept: list[Operation], is_new: bool
    ) -> None:
        """Append operations to `kept`, with cloned values unless `is_new`."""
        for operation in operations:
            if is_custom_gradient(operation):
                known.update(zip(operation.outputs, substitute(operation.inputs, known), strict=False))
            elif is_inlined(operation) and self.may_grow(operation.regions[0]):
                results = self.written(operation.regions[0], substitute(operation.inputs, known), kept)
                known.update(zip(operation.outputs, results, strict=True))
            elif is_new and not operation.regions and known.keys().isdisjoint(operation.inputs):
                kept.append(operation)
            else:
                kept.append(self.part(operation, known, is_new))

    def part(self, operation: Operation, known: Substitution, is_new: bool) -> Operation:
        visit = self.alone if is_call(operation) else self.region
        regions = list(map(visit, operation.regions))
        inputs = substitute(operation.inputs, known)
        if is_new and inputs == operation.inputs and are_same(regions, operation.regions):
            return operation
        outputs = operation.outputs
        if not is_new:
            outputs = tuple(map(clone_value, outputs))
            known.update(zip(operation.outputs, outputs, strict=True))
        return with_parts(operation, inputs, regions, outputs)

    def may_grow(self, callee: Graph) -> bool:
        """Return whether the size limit allows inlining a callee."""
        size = self.size(callee)
        if size > self.left and size > SMALL:
            return False
        self.left -= size
        return True

    def written(
        self, callee: Graph, arguments: Sequence[Operand], kept: list[Operation]
    ) -> Sequence[Operand]:
        """Append the operations of a callee to `kept`, and return its results."""
        known: Substitution = dict(zip(callee.inputs, arguments, strict=True))
        self.write(callee.live_operations(), known, kept, self.claims(callee))
        return substitute(callee.outputs, known)

    def size(self, graph: Graph) -> int:
        """Return the number of operations after inlining everything, regions included."""
        if graph not in self.sizes:
            self.sizes[graph] = len(graph.operations) + sum(
                self.size(region) for operation in graph.operations for region in operation.regions
            )
        return self.sizes[graph]


def is_inlined(operation: Operation) -> bool:
    return is_call(operation) and not is_compiled_call(operation)


def _size(graph: Graph) -> int:
    """Return the number of operations; callees count once."""
    seen, pending, size = {graph}, [graph], 0
    while pending:
        current = pending.pop()
        size += len(current.operations)
        for operation in current.operations:
            for region in operation.regions:
                if region not in seen:
                    seen.add(region)
                    pending.append(region)
    return size
