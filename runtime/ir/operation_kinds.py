"""Kinds of operations: those of a kind are equal but for their operands, the contents of their regions, and names.

    a = matmul x, u    : float32[4, 8]       kind 0
    b = tanh a         : float32[4, 8]       kind 1
    c = matmul b, w    : float32[4, 8]       kind 0

A large graph has few kinds, so what depends on the kind alone is found out once for each of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from . import value_keys
from .graph import Constant, Graph, Operation


class OperationKinds:
    """The kinds of a graph's operations, without those in regions.

    `numbers` has the kind of each operation, and `first` an operation of each kind. `constant` are the positions of
    operations that read constants.
    """

    __slots__ = ("constant", "first", "keys", "numbers")

    def __init__(self, graph: Graph) -> None:
        self.numbers: list[int] = []
        self.first: list[Operation] = []
        self.constant: list[int] = []
        known: dict[Hashable, int] = {}
        for i, operation in enumerate(graph.operations):
            given, attrs = operation.inputs, operation.attrs
            key = (
                operation.op,
                value_keys.of_attributes(attrs) if attrs else None,
                tuple([value_keys.of_type(value) for value in operation.outputs]),
                len(given),
                len(operation.regions),
                operation.device,
            )
            number = known.setdefault(key, len(self.first))
            if number == len(self.first):
                self.first.append(operation)
            self.numbers.append(number)
            if Constant in map(type, given):
                self.constant.append(i)
        self.keys: list[Hashable] = [*known]

    def reordered(self, before: Sequence[Operation], after: Sequence[Operation]) -> OperationKinds:
        """Return the kinds of a graph's operations in another order."""
        found = object.__new__(OperationKinds)
        numbers = dict(zip(before, self.numbers, strict=True))
        found.numbers = [numbers[operation] for operation in after]
        found.first, found.keys = self.first, self.keys
        constant = {before[i] for i in self.constant}
        found.constant = [i for i, operation in enumerate(after) if operation in constant]
        return found


def kinds_of(graph: Graph) -> OperationKinds:
    """Return the kinds of the operations of a graph, which keeps them."""
    found: OperationKinds | None = graph.kinds
    if found is None:
        found = OperationKinds(graph)
        if type(graph.operations) is tuple:  # a tuple does not grow
            graph.kinds = found
    return found


def in_order(graph: Graph, operations: tuple[Operation, ...]) -> Graph:
    """Return the graph with its live operations in another order, and with what is known of them."""
    found = Graph(graph.name, graph.inputs, operations, graph.outputs)
    found.keep_live()
    kinds: OperationKinds | None = graph.kinds
    if kinds is not None and len(operations) == len(graph.operations):
        found.kinds = kinds.reordered(graph.operations, operations)
    return found


def typical_operations(graph: Graph) -> Iterator[Operation]:
    """Yield an operation of each kind, and each that reads constants, also those in regions.

    These have all types of results and constants of the graph.
    """
    pending, seen = [graph], {graph}
    while pending:
        current = pending.pop()
        kinds, operations = kinds_of(current), current.operations
        yield from kinds.first
        yield from [operations[i] for i in kinds.constant]
        new = set(current.regions()) - seen
        seen |= new
        pending += new
