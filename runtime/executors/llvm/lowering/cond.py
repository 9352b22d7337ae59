"""Lower `cond` and `switch` to branches, with a merge point for each result.

Scalars merge through stack slots, which LLVM promotes to phis. Small tensors are stored to one buffer by each branch.
Larger tensors merge by address, unless all branches return the same buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import Graph, Operation
from ....ir.value_types import ListType
from ..codegen.function_builder import UNROLLED, Emitter
from ..codegen.lazy_values import Buffer, LazyValue, Scalar
from ..codegen.llvm_types import Register, integer, pointer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from . import dynamic_phi, list_phi
from .while_loop import ScalarSlot


class MergePoint:
    """The merge point of one result of all branches."""

    def __init__(self, e: Emitter, node: LazyValue, common: Buffer | None) -> None:
        self._node = node
        self._common = common
        self._place = None if node.shape else ScalarSlot(e, Scalar(node.dtype, None))
        self._small: Buffer | None = None
        self._slot: Register = None
        self._addresses: frozenset[Register] = frozenset()  # memory that may hold the result
        self._in_list = False
        if node.shape and common is None:
            if node.size <= UNROLLED:
                self._small = Buffer.new(e, node.dtype, node.shape)
            else:
                self._slot = e.slot(pointer())

    def arrive(self, region: Region, node: LazyValue) -> None:
        """Store `node` as this result at the end of a branch."""
        if self._place is not None:
            self._place.write(region.e, region.scalar(node).value)
        elif self._small is not None:
            region.stored(node, self._small)
        elif self._slot is not None:
            found = region.stored(node)
            region.e.b.store(found.address, self._slot)
            self._addresses |= found.addresses
            self._in_list |= found.in_list

    def read(self, e: Emitter) -> LazyValue:
        """Return the result after the branches."""
        if self._place is not None:
            return self._place.read(e)
        if self._small is not None or self._common is not None:
            return self._small or self._common  # type: ignore[return-value]
        found = Buffer(self._node.dtype, self._node.shape, e.b.load(self._slot, typ=pointer()))
        found.addresses |= self._addresses
        found.in_list = self._in_list
        return found


@lowers("cond", sized=True, moves=True)
def _(region: Region, operation: Operation, predicate: LazyValue, *nodes: LazyValue) -> list[LazyValue]:
    e = region.e
    test = region.register(predicate)
    inputs = _given(region, operation, nodes)
    then, orelse = e.block("then"), e.block("else")
    e.b.cbranch(test, then, orelse)
    return _joined(region, operation, [then, orelse], operation.regions, inputs)


@lowers("switch", sized=True, moves=True)
def _(region: Region, operation: Operation, index: LazyValue, *nodes: LazyValue) -> list[LazyValue]:
    e = region.e
    number = region.integer(index)
    inputs = _given(region, operation, nodes)
    blocks = [e.block(f"case{i}") for i in range(len(operation.regions))]
    jump = e.b.switch(number, blocks[-1])
    for i, block in enumerate(blocks[:-1]):
        jump.add_case(integer(64)(i), block)
    return _joined(region, operation, blocks, operation.regions, inputs)


def _given(region: Region, operation: Operation, nodes: Sequence[LazyValue]) -> list[LazyValue]:
    """Return the operands of the branches, evaluated before the branch unless that is cheap.

    Operands that are needed later are marked as shared.
    """
    for node in nodes:
        region.readable(node)
    found = [node.storage or node for node in nodes]
    given = [
        each if region.is_given_up(operation, node) else list_phi.shared(each)
        for each, node in zip(found, nodes, strict=True)
    ]
    region.leave(operation, nodes)
    return given


def _joined(
    region: Region,
    operation: Operation,
    blocks: Sequence[object],
    graphs: Sequence[Graph],
    inputs: Sequence[LazyValue],
) -> list[LazyValue]:
    e = region.e
    after = e.block("after")
    meetings: list[MergePoint | list_phi.ListMerge | dynamic_phi.TensorMerge] = []
    lowered: list[tuple[object, Region, list[LazyValue]]] = []
    for block, graph in zip(blocks, graphs, strict=True):
        with region.inside(), e.into(block):
            inner = region.inner(graph, inputs)
            results = [_left(inner, node, inputs) for node in inner.run()]
            lowered.append((e.b.block, inner, results))
    for value, *outcomes in zip(operation.outputs, *[results for _, _, results in lowered], strict=True):
        if isinstance(value.spec, ListType):
            meetings.append(list_phi.ListMerge(e, value.spec, outcomes))
        elif any(node.shape != outcomes[0].shape for node in outcomes):
            meetings.append(dynamic_phi.TensorMerge(e, value.spec, outcomes))
        else:
            meetings.append(MergePoint(e, outcomes[0], _common(outcomes)))
    for end, inner, results in lowered:
        with e.into(end):
            for meeting, node in zip(meetings, results, strict=True):
                meeting.arrive(inner, node)
            e.b.branch(after)
    e.b.position_at_end(after)
    return [meeting.read(e) for meeting in meetings]


def _left(region: Region, node: LazyValue, given: Sequence[LazyValue]) -> LazyValue:
    """Return a result of a branch. Copy an element read from a list, since the list may change after the branch."""
    found = region.settled(node)
    if isinstance(found, Buffer) and found.in_list and all(found is not each for each in given):
        return region.stored(found, Buffer.new(region.e, found.dtype, found.shape))
    return found


def _common(outcomes: Sequence[LazyValue]) -> Buffer | None:
    """Return the buffer that is the result of all branches, if there is one."""
    first = outcomes[0]
    if isinstance(first, Buffer) and all(
        isinstance(node, Buffer) and node.address is first.address for node in outcomes
    ):
        return first
    return None
