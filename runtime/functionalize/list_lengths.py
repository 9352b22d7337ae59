"""Analysis of TensorArray lengths, and the order in which versions of lists are read and made.

    a = array_new 4                  : array float32[2]        array of 4 float32[2]
    b = array_write a, i, x          : array float32[2]   ==>  array of 4 float32[2]
    y = array_stack b                : float32[?, 2]           float32[4, 2]

A write makes a new version of a list. Operations that read the old version are scheduled before the write, so
that the new version can reuse its memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..ir.graph import Constant, Operand, Operation
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.framework.region_ops import COND, SWITCH, WHILE
from ..ops.lists.accumulator_list import array_add
from ..ops.lists.list_gradients import array_sum, array_without
from ..ops.lists.nested_lists import list_keep, list_take
from ..ops.lists.tensor_array import (
    array_concat,
    array_new,
    array_scatter,
    array_split,
    array_stack,
    array_unstack,
    array_write,
)
from ..ops.lists.tensor_list import list_append, list_extend, list_extend_rows, list_pop, list_set
from ..ops.reduce.bincount import occurrences
from . import list_contents


class SizedSpec(ListType):
    """The type of a TensorArray with a static number of elements."""

    __slots__ = ("size",)

    def __init__(self, element: TensorType, size: int) -> None:
        super().__init__(element)
        self.size = size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SizedSpec) and (self.size, self.element) == (other.size, other.element)

    def __hash__(self) -> int:
        return hash((SizedSpec, self.element, self.size))

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, SizedSpec) and self.size == other.size and super().covers(other)

    def __str__(self) -> str:
        return f"array of {self.size} {self.element}"


class GrowingSpec(ListType):
    """The type of a TensorArray that is an input of a graph, and may be written past its end."""

    __slots__ = ()


KEEPING = frozenset({array_write, array_without, array_unstack, array_scatter})
"""Operations with as many elements in the result as in the first operand, unless the first operand may grow."""


def sized(operation: Operation, inputs: Sequence[Operand], specs: Sequence[AnySpec]) -> Sequence[AnySpec]:
    """Return the types of an operation's results, refined by static list lengths."""
    if not specs:
        return specs
    first, *rest = specs
    given = inputs[0].spec if inputs else None
    if operation.op is array_new and isinstance(first, ListType):
        size = inputs[0]
        if isinstance(size, Constant) and not operation.attrs["dynamic"]:
            return [SizedSpec(first.element, int(size.value))]
    if operation.op in KEEPING and isinstance(given, SizedSpec) and isinstance(first, ListType):
        return [SizedSpec(first.element, given.size)]
    if operation.op is array_split and isinstance(first, ListType) and isinstance(inputs[2], Constant):
        sizes, whole = inputs[2].value.tolist(), inputs[1].spec
        if isinstance(whole, TensorType) and whole.shape and len(set(sizes)) == 1:
            return [SizedSpec(TensorType(whole.dtype, (int(sizes[0]), *whole.shape[1:])), len(sizes))]
    if operation.op is occurrences and not operation.attrs["by_row"] and isinstance(first, TensorType):
        least, most = inputs[2:]
        if (
            isinstance(least, Constant)
            and isinstance(most, Constant)
            and 0 <= int(most.value) <= int(least.value)
        ):
            return [TensorType(first.dtype, (int(most.value),))]
    if operation.op is array_concat and isinstance(given, SizedSpec) and isinstance(first, TensorType):
        shape = given.element.shape
        if shape and shape[0] is not None:
            return [TensorType(first.dtype, (given.size * shape[0], *shape[1:]))]
    if operation.op is array_stack and isinstance(given, SizedSpec) and isinstance(first, TensorType):
        shape = first.shape
        return [first if shape is None else TensorType(first.dtype, (given.size, *shape[1:])), *rest]
    return specs


def of_both(element: TensorType, one: ListType, other: ListType) -> ListType:
    """Return the type of a list that is either of two lists, with the length if both have the same."""
    if isinstance(one, SizedSpec) and isinstance(other, SizedSpec) and one.size == other.size:
        return SizedSpec(element, one.size)
    return list_contents.of_both(one, other) or ListType(list_contents.plain(element))


MAKING = frozenset({
    array_write, array_without, array_unstack, array_sum, array_add, list_append, list_pop, list_set,
    list_keep, list_take, list_extend, list_extend_rows, WHILE, COND, SWITCH,
})  # fmt: skip
"""Operations that make new versions of the lists that they take."""


def readers_first(operations: list[Operation]) -> list[Operation]:
    """Reorder operations so that each list is read before a new version of it is made."""
    users: dict[Operand, list[Operation]] = defaultdict(list)
    for operation in operations:
        for operand in operation.inputs:
            users[operand].append(operation)
    waits: dict[Operation, list[Operation]] = {}
    for maker in operations:
        if maker.op in MAKING:
            lists = [operand for operand in maker.inputs if isinstance(operand.spec, ListType)]
            readers = {user for operand in lists for user in users[operand] if user.op not in MAKING}
            if readers:
                waits[maker] = [reader for reader in readers if reader not in _dependents(maker, users)]
    if not any(waits.values()):
        return operations
    found = _ordered(operations, waits)
    return found if _is_an_order(found) else operations


def _dependents(operation: Operation, users: Mapping[Operand, Sequence[Operation]]) -> set[Operation]:
    """Return the operations that depend on the results of `operation`, directly or indirectly."""
    found: set[Operation] = set()
    pending = [operation]
    while pending:
        for value in pending.pop().outputs:
            more = set(users[value]) - found
            found |= more
            pending.extend(more)
    return found


def _ordered(operations: Sequence[Operation], waits: Mapping[Operation, list[Operation]]) -> list[Operation]:
    made = {value: operation for operation in operations for value in operation.outputs}
    result: dict[Operation, None] = {}
    for operation in operations:
        pending, active = [operation], set[Operation]()
        while pending:
            current = pending[-1]
            active.add(current)
            needed = [made[operand] for operand in current.inputs if operand in made]
            missing = [o for o in (*needed, *waits.get(current, ())) if o not in result and o not in active]
            if missing:
                pending.extend(missing)
            else:
                result[current] = None
                pending.pop()
    return list(result)


def _is_an_order(operations: Sequence[Operation]) -> bool:
    """Return whether every value is defined before its uses."""
    all_made = {value for operation in operations for value in operation.outputs}
    made: set[Operand] = set()
    for operation in operations:
        if any(operand in all_made and operand not in made for operand in operation.inputs):
            return False
        made.update(operation.outputs)
    return True
