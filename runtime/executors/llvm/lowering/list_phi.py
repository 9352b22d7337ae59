"""Phis of lists: loop-carried lists, and lists that are results of branches.

s.1 = while i, s: body makes list_append s, x      `s.1` reuses the memory of `s`, if `s` is not read again
s.2 = cond p, s:  then list_append s, x            the same memory, unless a branch returns another list
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....functionalize.list_lengths import SizedSpec
from ....ir.graph import Graph, Operation, Value
from ....ir.structured import first_argument, is_control_flow, is_loop
from ....ir.value_types import ListType, TensorType
from ....ops.lists.nested_lists import list_take
from ....ops.lists.tensor_list import list_pop
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, LazyValue
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError
from ..list_abi import parts_of
from .list_memory import Cells, List, Lists, View, copied, made


class KeptList:
    """The memory of a loop-carried list, or of a list that is a result of branches."""

    def __init__(self, node: Any, parts: Sequence[Cells]) -> None:
        self._like = node
        self.parts = tuple(parts)

    def read(self, e: Emitter) -> LazyValue:
        return self._like.of(self.parts)  # type: ignore[no-any-return]

    def write(self, e: Emitter, node: LazyValue, others: Sequence[Any] = ()) -> None:
        """Assign another list to this one, unless both are the same."""
        element = TensorType(self.parts[0].dtype, self.parts[0].shape)
        found = made(e, node, ListType(element) if len(self.parts) > 1 else element)
        for own, new in zip(self.parts, found.parts, strict=True):
            if new is own:
                continue
            if any(isinstance(other, KeptList) and new in other.parts for other in others):
                raise RefusedError("lists that a loop swaps are not compiled")
            own.take(e, new)


class ListMerge:
    """The merge point of a list from several branches, without a copy if all branches return the same list."""

    def __init__(self, e: Emitter, spec: Any, outcomes: Sequence[LazyValue]) -> None:
        parts_of_outcomes = [node.parts if isinstance(node, (List, Lists)) else (node,) for node in outcomes]
        is_common = all(all(map(_same, parts, parts_of_outcomes[0])) for parts in parts_of_outcomes)
        self._common = outcomes[0] if is_common else None
        self._kept: KeptList | None = None
        if is_common:
            return
        size = spec.size if isinstance(spec, SizedSpec) else None
        if all(isinstance(cells, View) for parts in parts_of_outcomes for cells in parts):
            made_parts: list[Cells] = [cells.again(e) for cells in parts_of_outcomes[0]]  # type: ignore[union-attr]
        else:
            made_parts = [Cells(e, element, size, False) for element in parts_of(spec)]
        self._kept = KeptList(List(made_parts[0]) if len(made_parts) == 1 else Lists(*made_parts), made_parts)

    def arrive(self, region: Region, node: LazyValue) -> None:
        if self._kept is not None:
            self._kept.write(region.e, node)

    def read(self, e: Emitter) -> LazyValue:
        return self._common or self._kept.read(e)  # type: ignore[union-attr]


def _same(one: Any, other: Any) -> bool:
    return one is other


def entered(region: Region, operation: Operation, node: LazyValue, number: int) -> KeptList:
    """Return the memory of a loop-carried list, initialized with its elements before the loop."""
    e = region.e
    spec: Any = operation.outputs[number].spec
    found = made(e, node, spec.element)
    size = spec.size if isinstance(spec, SizedSpec) else None
    body = operation.regions[1]
    if isinstance(found.cells, View) and only_shrinks(body, body.inputs[number], body.outputs[number]):
        return KeptList(found, [cells.again(e) for cells in found.parts])
    is_shared = found.is_shared
    is_free = found is not node or (not is_shared and region.is_last_read(operation, node))
    if is_free and size == found.cells.size:
        return KeptList(found, found.parts)
    parts = [copied(e, cells, size) for cells in found.parts]
    return KeptList(found.of(parts), parts)


def only_shrinks(graph: Graph, value: Any, wanted: Any) -> bool:
    """Return whether `wanted` is `value` with some elements removed, and nothing else."""
    while value is not wanted:
        following = [found for user in graph.operations for found in _shorter(user, value)]
        if len(following) != 1:
            return False
        value = following[0]
    return True


def _shorter(operation: Operation, value: Value) -> list[Value]:
    """Return the results of an operation that are this list with elements removed."""
    if value not in operation.inputs:
        return []
    if operation.op in (list_pop, list_take):
        return [operation.outputs[0]]
    if not is_control_flow(operation):
        return []
    regions = operation.regions[1:] if is_loop(operation) else operation.regions
    position = operation.inputs.index(value) - first_argument(operation)
    return [
        output
        for number, output in enumerate(operation.outputs)
        if isinstance(output.spec, ListType)
        and (not is_loop(operation) or number == position)
        and all(only_shrinks(region, region.inputs[position], region.outputs[number]) for region in regions)
    ]


def shared(node: LazyValue) -> LazyValue:
    """Mark a list or buffer as shared, so that it is not changed in place; return other nodes unchanged."""
    if isinstance(node, Buffer) and node.is_own:
        return node.also(node.shape)
    return node.of(node.parts, is_shared=True) if isinstance(node, (List, Lists)) else node
