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
from ..ir.operation_kinds import in_order
from ..ops.framework.fusion_traits import works_on_elements


def run(graph: Graph) -> Graph:
    """Return the graph with its updates moved up."""
    live = graph.live_operations()
    updates = _updates(live)
    if not updates:
        return graph
    order = tuple(_Order(live, updates).operations)
    return graph if order == live else in_order(graph, order)


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


class _Order:
    """The new order: an update follows its last operand that is no update and is made in the graph.

    Updates without such operands, such as `0.9 * v`, precede their first user.
    """

    def __init__(self, live: Sequence[Operation], updates: set[Operation]) -> None:
        self.operations: list[Operation] = []
        self._users: dict[Operand, list[Operation]] = defaultdict(list)  # updates
        self._made: dict[Operand, Operation] = {}  # by updates
        self._missing: dict[Operation, int] = {}  # operands of updates that are not computed yet
        read = {operand for each in updates for operand in each.inputs}
        others = [each for each in live if each not in updates]
        makers = {each for each in others if not read.isdisjoint(each.outputs)}
        made = {value for each in makers for value in each.outputs}
        for operation in live:
            if operation not in updates:
                continue
            self._made.update(dict.fromkeys(operation.outputs, operation))
            operands = dict.fromkeys(operation.inputs)
            for operand in operands:
                self._users[operand].append(operation)
            waits = sum(x in made or self._made.get(x) in self._missing for x in operands)
            if waits:
                self._missing[operation] = waits
        self._done: set[Operation] = set()
        for operation in others:
            self.operations.append(operation)
            if operation in makers:
                self._emit(*self._completed(operation))
        for operation in live:
            if operation in updates:
                self._emit(operation)

    def _emit(self, *operations: Operation) -> None:
        """Append updates, and those that they complete."""
        pending = [*reversed(operations)]
        while pending:
            each = pending.pop()
            if each in self._done:
                continue
            early = [self._made[x] for x in each.inputs if x in self._made]
            early = [maker for maker in early if maker not in self._done]
            if early:
                pending += [each, *early]
                continue
            self._done.add(each)
            self.operations.append(each)
            if each in self._missing:
                pending += reversed(self._completed(each))

    def _completed(self, operation: Operation) -> list[Operation]:
        """Return the updates whose last awaited operand is a result of an operation."""
        found: list[Operation] = []
        for value in operation.outputs:
            for user in self._users.get(value, ()):
                if user in self._missing:
                    self._missing[user] -= 1
                    if not self._missing[user]:
                        found.append(user)
        return found
