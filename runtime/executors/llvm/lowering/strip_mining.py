"""Strip-mine elementwise loops: one block of elements runs all iterations before the next block starts.

    while i < n:                          for each block of 32 elements:
        z = z * z + c          ==>            i ← 0; z ← the block, in registers
        i = i + 1                             while i < n:  z ← z * z + c; i ← i + 1
                                              store the block

This is legal if loop-carried scalars depend only on scalars. An element of a tensor may depend on scalars, and on
elements with the same index. The scalars are recomputed for each block. If the size is no multiple of the block size,
the last block overlaps the one before; the overlapping elements are computed twice, with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ....ir.graph import Graph, Operation
from ....ir.value_types import TensorType
from ..codegen.element_formulas import element_rule
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue, Shape
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from .dynamic_phi import is_open
from .while_loop import ScalarSlot, leave_after, listen

BLOCK = 128
"""Bytes of a block of a tensor: so few that LLVM unrolls the loop over it and keeps it in registers."""

_APART = 192

_WORTH = 32
"""The fewest elements for which a loop is strip-mined."""


class TensorBlock(LazyValue):
    """The part of a loop-carried tensor in a block, in memory of its own."""

    def __init__(self, e: Emitter, start: LazyValue, result: Buffer, size: int) -> None:
        super().__init__(start.dtype, start.shape)
        self._start, self._result = start, result
        # Blocks have a distance from each other that avoids 4K aliasing.
        self._address = e.buffer(size * start.dtype.size + _APART, apart=True)

    def read(self, e: Emitter) -> TensorBlock:
        """Return this block as a value, as a `ScalarSlot` returns its scalar."""
        return self

    def element(self, e: Emitter, index: Index) -> Any:
        return e.load(self.dtype, self._address, index.local)

    def set(self, e: Emitter, index: Index, element: Any) -> None:
        """Store an element of the block."""
        e.store(self.dtype, self._address, index.local, element)

    def fetch(self, e: Emitter, index: Index) -> None:
        """Copy an element of the initial value into the block."""
        self.set(e, index, self._start.at(e, index))

    def put_back(self, e: Emitter, index: Index) -> None:
        """Copy an element of the block into the final value."""
        e.store(self.dtype, self._result.address, index.flat(e), self.at(e, index))


def shape_of_blocks(operation: Operation) -> Shape | None:
    """Return the common shape of all loop-carried tensors, if the loop can be strip-mined; else None."""
    test, body = operation.regions
    shapes = {value.shape for value in operation.outputs if isinstance(value.spec, TensorType)} - {()}
    if any(is_open(value.spec) for value in (*operation.inputs, *operation.outputs)):
        return None
    if len(shapes) != 1 or not all(isinstance(value.spec, TensorType) for value in operation.outputs):
        return None
    shape: Any = shapes.pop()
    if TensorType(operation.outputs[0].dtype, shape).shape is None or math.prod(shape) < _WORTH:
        return None
    if not _is_scalar_graph(test) or not _goes_by_elements(body, shape):
        return None
    return tuple(shape)


def _is_scalar_graph(graph: Graph) -> bool:
    """Return whether a graph computes only on scalars and cannot fail."""
    return all(
        (rule := element_rule(operation.op)) is not None
        and not rule.may_fail(operation)
        and all(operand.spec.shape == () for operand in operation.inputs)  # type: ignore[union-attr]
        for operation in graph.operations
    ) and all(output.shape == () for output in graph.outputs)


def _goes_by_elements(body: Graph, shape: Any) -> bool:
    """Return whether all operations are elementwise, none can fail, and no scalar depends on a tensor."""
    for operation in body.operations:
        rule = element_rule(operation.op)
        if rule is None or rule.may_fail(operation) or rule.takes(operation) is not None:
            return False
        if operation.outputs[0].shape not in ((), shape):
            return False
    return True


def run_in_blocks(
    region: Region,
    operation: Operation,
    shape: Shape,
    state: Sequence[LazyValue],
    invariants: Sequence[LazyValue],
) -> list[LazyValue]:
    """Emit the loop over blocks; return the final loop-carried values."""
    e = region.e
    elements = math.prod(shape)
    widest = max(value.dtype.size for value in operation.outputs if value.shape)
    size = min(BLOCK // widest, elements)
    starts = [region.readable(node) if node.shape else region.scalar(node) for node in state]
    results = [Buffer.new(e, node.dtype, shape) if node.shape else None for node in starts]
    slots: list[Any] = [
        ScalarSlot(e, start) if result is None else TensorBlock(e, start, result, size)  # type: ignore[arg-type]
        for start, result in zip(starts, results, strict=True)
    ]
    last = e.word(elements - size)
    with e.nest([-(-elements // size)], parallel=False) as (number,):
        ahead = e.times(number, size)
        block = _Block(shape, size, e.b.select(e.b.icmp_signed("<", ahead, last), ahead, last))
        with block.each(e) as index:
            for slot in _tensors(slots):
                slot.fetch(e, index)
        for slot, start in zip(slots, starts, strict=True):
            if isinstance(slot, ScalarSlot):
                slot.write(e, start.value)  # type: ignore[attr-defined]
        _run_block(region, operation, slots, invariants, block)
        with block.each(e) as index:
            for slot in _tensors(slots):
                slot.put_back(e, index)
    e.work += elements
    return [slot.read(e) if result is None else result for slot, result in zip(slots, results, strict=True)]


class _Block(NamedTuple):
    """The block of elements that the emitted code works on: `size` elements from `first` on."""

    shape: Shape
    size: int
    first: Register

    @contextmanager
    def each(self, e: Emitter, in_registers: bool = False) -> Iterator[Index]:
        """Emit a loop over the elements, and yield the index of one in the whole tensor."""
        with e.nest([self.size], in_registers=in_registers) as (number,):
            index = Index(self.shape, [(0, len(self.shape), e.plus(self.first, number))])
            index.local = number
            yield index


def _tensors(slots: Sequence[Any]) -> list[TensorBlock]:
    return [slot for slot in slots if isinstance(slot, TensorBlock)]


def _run_block(
    region: Region, operation: Operation, slots: Sequence[Any], invariants: Sequence[LazyValue], block: _Block
) -> None:
    """Emit the user's loop for one block of elements."""
    e = region.e
    test, body = operation.regions
    rounds = e.slot(integer(64))
    e.b.store(e.word(0), rounds)
    head, inside, after = e.block("test"), e.block("body"), e.block("after")
    e.b.branch(head)
    with region.inside(), e.repeatedly(), e.into(head):
        now = [slot.read(e) for slot in slots]
        number = e.b.load(rounds, typ=integer(64))
        leave_after(e, operation, number, after)
        (go,) = region.inner(test, [*now, *invariants]).run()
        e.b.cbranch(region.register(go), inside, after)
        with e.into(inside):
            _step(region.inner(body, [*now, *invariants]), slots, block)
            following = e.b.add(number, e.word(1), flags=("nuw", "nsw"))
            e.b.store(following, rounds)
            listen(e, following, block.size)
            e.b.branch(head)
    e.b.position_at_end(after)


def _step(inner: Region, slots: Sequence[Any], block: _Block) -> None:
    """Emit one iteration: scalars in registers, elements of the block in place."""
    e = inner.e
    outputs = inner.run()
    with block.each(e, in_registers=True) as index:
        tensors = [
            (node, slot) for node, slot in zip(outputs, slots, strict=True) if isinstance(slot, TensorBlock)
        ]
        elements = [node.at(e, index) for node, _ in tensors]
        for (node, slot), element in zip(tensors, elements, strict=True):
            if node is not slot:
                slot.set(e, index, element)
    for node, slot in zip(outputs, slots, strict=True):
        if isinstance(slot, ScalarSlot):
            slot.write(e, inner.scalar(node).value)
