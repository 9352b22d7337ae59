"""List ownership: let writes change a list in place if no later operation reads the old version.

    ta = array_new 10                               ta = op_array_new(int32_10, …)
    ta.1 = array_write ta, i, x           ==>       ta_1 = op_array_write_in_place(ta, i, x, …)
    xs.1, x = list_pop xs, -1                       (xs_1, x) = op_list_pop_in_place(xs, …)

A version of a list is owned if this graph has made it and only operations that read elements have used it. A
write that is the last use of an owned version changes that list in place. The state of a loop is owned if its
initial value and the values that the body yields are owned. Branches follow the same rule. The test of a loop
owns none of its inputs and keeps no list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...ir.graph import Graph, Operand, Operation, Value
from ...ir.structured import is_branch, is_loop, region_arguments
from ...ir.traits import FRESH_LIST, READS_LIST
from ...ir.value_types import ListType
from ...ops.framework import narrow_floats
from ...ops.framework.kernel_lookup import kernel_of


def may_write(operation: Operation) -> bool:
    """Return whether an operation makes a new version of a list."""
    return operation.op.in_place is not None and not narrow_floats.is_used_by(operation)


def writer(operation: Operation) -> Callable[..., Any]:
    """Return the kernel of `operation` that changes its list in place."""
    assert operation.op.in_place is not None
    return operation.op.in_place(kernel_of(operation))


def changing(graph: Graph) -> set[Operation]:
    """Return the operations of a graph and its regions that may change their list in place."""
    whole = _Lists(graph, frozenset())
    return whole.changing - whole.others


class _Lists:
    """The ownership of the lists of one graph; `given` are the inputs that are owned.

    Attributes:
        owned: The values that are owned at the end of the graph.
        changing: The operations, also in regions, that may change their list in place.
        others: The operations that may not.
    """

    def __init__(self, graph: Graph, given: frozenset[Operand]) -> None:
        self.live = graph.live_operations()
        self.owned: set[Operand] = set(given)
        self.changing: set[Operation] = set()
        self.others: set[Operation] = set()
        self.last: dict[Operand, Operation | None] = {}
        for operation in self.live:
            self.last.update(dict.fromkeys(operation.inputs, operation))
        self.last.update(dict.fromkeys(graph.outputs))
        for operation in self.live:
            self._see(operation)

    def _see(self, operation: Operation) -> None:
        op = operation.op
        if op.has(FRESH_LIST):
            self.owned.add(operation.outputs[0])
        elif op.in_place is not None:
            self._see_writer(operation)
        elif is_loop(operation):
            self._see_loop(operation)
        elif is_branch(operation):
            self._see_branches(operation)
        if not op.has(READS_LIST):
            self.owned.difference_update(operation.inputs)

    def _dies(self, operand: Operand, operation: Operation) -> bool:
        """Return whether `operation` is the last use of an owned version, and reads it once."""
        is_last = operand in self.owned and self.last[operand] is operation
        return is_last and operation.inputs.count(operand) == 1

    def _see_writer(self, operation: Operation) -> None:
        if self._dies(operation.inputs[0], operation):
            self.changing.add(operation)
            self.owned.add(operation.outputs[0])
        else:
            self.others.add(operation)

    def _see_loop(self, loop: Operation) -> None:
        test, body = loop.regions
        state = loop.inputs[: len(loop.outputs)]
        owned = {number for number, operand in enumerate(state) if self._dies(operand, loop)}
        while True:
            inside = _Lists(body, frozenset(body.inputs[number] for number in owned))
            kept = {number for number in owned if _is_given_back(body.outputs, number, inside)}
            if kept == owned:
                break
            owned = kept
        self._join((inside, _Lists(test, frozenset())))
        self.owned.update(loop.outputs[number] for number in owned)

    def _see_branches(self, operation: Operation) -> None:
        operands = region_arguments(operation)
        dying = [number for number, operand in enumerate(operands) if self._dies(operand, operation)]
        inside = [
            _Lists(region, frozenset(region.inputs[number] for number in dying))
            for region in operation.regions
        ]
        self._join(inside)
        for number, value in enumerate(operation.outputs):
            pairs = zip(operation.regions, inside, strict=True)
            if isinstance(value.spec, ListType) and all(
                _is_given_back(region.outputs, number, each) for region, each in pairs
            ):
                self.owned.add(value)

    def _join(self, inside: Iterable[_Lists]) -> None:
        for each in inside:
            self.changing |= each.changing
            self.others |= each.others


def _is_given_back(outputs: Sequence[Operand], number: int, inside: _Lists) -> bool:
    """Return whether a region yields a list that it owns, and yields it once."""
    operand = outputs[number]
    return isinstance(operand, Value) and operand in inside.owned and outputs.count(operand) == 1
