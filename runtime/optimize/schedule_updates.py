"""Compute elementwise results that only leave the graph as soon as their operands are known.

    g = matmul x, d                               g = matmul x, d
    h = matmul y, e                               u = multiply 0.1, g
    u = multiply 0.1, g                  ==>      v.1 = subtract v, u          g is dead
    v.1 = subtract v, u                           h = matmul y, e
    …                                             …
    return v.1, …                                 return v.1, …

The updates of a training step follow all gradients in the program. In this order each gradient dies before the next
one is computed. The pass is for graphs without effects, whose operations compilers may run in any order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ..ir.graph import Graph, Operand, Operation
from ..ops.framework.fusion_traits import works_on_elements


def run(graph: Graph) -> Graph:
    """Return the graph with its updates moved up."""
    live = graph.live_operations()
    updates = _updates(live)
    if not updates:
        return graph
    first = _first(live, updates)
    order = [*live[:first], *_Order(live[first:], updates).operations]
    return graph if order == list(live) else Graph(graph.name, graph.inputs, order, graph.outputs)


def _updates(live: Sequence[Operation]) -> set[Operation]:
    """Return the elementwise operations whose results only other ones read, or the graph's outputs."""
    found: set[Operation] = set()
    others: set[Operand] = set()  # operands of operations that are no updates
    for operation in reversed(live):
        is_last = others.isdisjoint(operation.outputs)
        if is_last and works_on_elements(operation) and not operation.stateful:
            found.add(operation)
        else:
            others.update(operation.inputs)
    return found


def _first(live: Sequence[Operation], updates: set[Operation]) -> int:
    """Return the position from which updates may follow their operands."""
    needed = {operand for operation in updates for operand in operation.inputs}
    made = {value: i for i, each in enumerate(live) for value in each.outputs if value in needed}
    return min(
        max([made[operand] for operand in each.inputs if operand in made], default=i)
        for i, each in enumerate(live)
        if each in updates
    )


class _Order:
    """The new order: an update follows its last operand that is no update and is made in the graph.

    Updates without such operands, such as `0.9 * v`, precede their first user.
    """

    def __init__(self, live: Sequence[Operation], updates: set[Operation]) -> None:
        self.operations: list[Operation] = []
        self._users: dict[Operand, list[Operation]] = defaultdict(list)
        for operation in live:
            for operand in dict.fromkeys(operation.inputs):
                self._users[operand].append(operation)
        self._made: dict[Operand, Operation] = {
            value: operation for operation in live for value in operation.outputs
        }
        self._updates = updates
        self._missing: dict[Operation, int] = {}  # operands of updates that are not computed yet
        for operation in live:
            if operation in updates:
                waits = sum(self._is_awaited(operand) for operand in set(operation.inputs))
                if waits:
                    self._missing[operation] = waits
        self._done: set[Operation] = set()
        for operation in live:
            if operation not in updates:
                self._emit(operation)
        for operation in live:
            self._emit(operation)

    def _is_awaited(self, operand: Operand) -> bool:
        maker = self._made.get(operand)
        return maker is not None and (maker not in self._updates or maker in self._missing)

    def _emit(self, operation: Operation) -> None:
        """Append an operation, and the updates that it completes."""
        pending = [operation]
        while pending:
            each = pending.pop()
            if each in self._done:
                continue
            early = [self._made[x] for x in each.inputs if x in self._made]
            early = [maker for maker in early if maker not in self._done and maker in self._updates]
            if early:
                pending += [each, *early]
                continue
            self._done.add(each)
            self.operations.append(each)
            pending += reversed(self._completed(each))

    def _completed(self, operation: Operation) -> list[Operation]:
        """Return the updates whose last awaited operand is a result of an operation."""
        found: list[Operation] = []
        if operation in self._updates and operation not in self._missing:
            return found
        for user in dict.fromkeys(user for value in operation.outputs for user in self._users[value]):
            if user in self._missing:
                self._missing[user] -= len({x for x in user.inputs if x in operation.outputs})
                if not self._missing[user]:
                    found.append(user)
        return found
