"""Find out whether the memory of a list changes or moves after an operation.

    x = list_get s, 0
    t.1 = list_append t, y         other memory: x is a view into the memory of s
    s.1 = list_append s, x         the memory of s may move: x is a copy

Versions of a list share memory. Two inputs of a region may share it, too. Other lists have memory of their own.
"""

from __future__ import annotations

from ....functionalize.list_lengths import MAKING
from ....ir.graph import Graph, Operand, Operation
from ....ir.structured import is_loop
from ....ir.value_types import ListType
from ....ops.framework.induction_variables import index_ranges
from ....ops.lists.list_gradients import array_item
from ....ops.lists.nested_lists import list_take
from ....ops.lists.tensor_array import array_write
from ....ops.lists.tensor_list import list_pop
from ..codegen.region_lowering import Region
from .list_memory import Cells
from .list_phi import only_shrinks

_MOVING = MAKING - {list_pop, list_take} | {array_item}
"""Operations after which the elements of a list may have changed or moved."""


class ListChanges:
    """The operation of a region that changes each list last, for the first version in the region."""

    def __init__(self, region: Region) -> None:
        # The first versions that a list may share memory with.
        self._first: dict[Operand, frozenset[Operand]] = {}
        self._last: dict[Operand, int] = {}
        self._numbers = {each: number for number, each in enumerate(region.graph.operations)}
        owners: dict[Cells, Operand] = {}
        for value in region.graph.inputs:
            parts = getattr(region.node(value), "parts", ())
            owner = next((owners[cells] for cells in parts if cells in owners), value)
            owners.update(dict.fromkeys(parts, owner))
            self._first[value] = frozenset({owner})
        for operation, number in self._numbers.items():
            self._last.update(dict.fromkeys(self._of(_changed(operation)), number))
            self._first.update(self._made(operation))

    def follow(self, operation: Operation, array: Operand) -> bool:
        """Return whether an operation after this one may change or move the elements of `array`."""
        number = self._numbers[operation]
        return any(self._last.get(each, -1) > number for each in self._of([array]))

    def _of(self, lists: list[Operand]) -> frozenset[Operand]:
        return frozenset().union(*(self._first.get(each, (each,)) for each in lists))

    def _made(self, operation: Operation) -> dict[Operand, frozenset[Operand]]:
        """Return the first versions of the results of an operation."""
        if is_loop(operation):
            pairs = zip(operation.outputs, operation.inputs, strict=False)
            return {value: self._of([given]) for value, given in pairs if isinstance(value.spec, ListType)}
        first = self._of([each for each in operation.inputs if isinstance(each.spec, ListType)])
        return {each: first for each in operation.outputs if first and isinstance(each.spec, ListType)}


def _changed(operation: Operation) -> list[Operand]:
    """Return the lists whose elements may have changed or moved after an operation."""
    if operation.op not in _MOVING:
        return []
    if not is_loop(operation):
        return [each for each in operation.inputs if isinstance(each.spec, ListType)]
    body = operation.regions[1]
    return [
        given
        for given, old, new in zip(operation.inputs, body.inputs, body.outputs, strict=False)
        if isinstance(given.spec, ListType) and not only_shrinks(body, old, new)
    ]


def change_later(region: Region, operation: Operation, array: Operand) -> bool:
    """Return whether the elements of `array` may change after this operation of the region, other than by removal.

    Results of branches (cond.py) and of loops are copied where they leave their region.
    """
    return region.once(ListChanges, lambda: ListChanges(region)).follow(operation, array)


def is_overwritten(graph: Graph, array: Operand, size: int) -> bool:
    """Return whether a loop writes each of the `size` elements of a new array, and reads none of them."""
    from ....optimize.simplify_loops import trip_count

    readers = [each for each in graph.operations if array in each.inputs]
    if len(readers) != 1 or not is_loop(readers[0]) or array in graph.outputs:
        return False
    (loop,) = readers
    test, body = loop.regions
    slot, rounds = loop.inputs.index(array), trip_count(loop)
    if slot >= len(loop.outputs) or loop.inputs.count(array) > 1 or rounds != size:
        return False
    old, new = body.inputs[slot], body.outputs[slot]
    uses = [each for each in body.operations if not {old, new}.isdisjoint(each.inputs)]
    if len(uses) != 1 or uses[0].op is not array_write or uses[0].outputs[0] is not new:
        return False
    is_tested = any(
        test.inputs[slot] in each for each in (test.outputs, *(each.inputs for each in test.operations))
    )
    places = index_ranges(loop, size).get(uses[0].inputs[1], range(0))
    return (
        uses[0].inputs[0] is old
        and body.outputs.count(new) == 1
        and not is_tested
        and {*places} == {*range(size)}
    )
