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

from collections.abc import Sequence
from typing import Any

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
    """The part of a tensor in a block, in memory of its own."""

    def __init__(self, whole: LazyValue, own: Buffer) -> None:
        super().__init__(whole.dtype, whole.shape)
        self.own = own

    def element(self, e: Emitter, index: Index) -> Any:
        return e.load(self.dtype, self.own.address, index.local)


def shape_of_blocks(operation: Operation) -> Shape | None:
    """Return the common shape of all loop-carried tensors, if the loop can be strip-mined; else None."""
    test, body = operation.regions
    shapes = {value.shape for value in operation.outputs if isinstance(value.spec, TensorType)} - {()}
    if any(is_open(value.spec) for value in (*operation.inputs, *operation.outputs)):
        return None
    if len(shapes) != 1 or not all(isinstance(value.spec, TensorType) for value in operation.outputs):
        return None
    (shape,) = shapes
    if TensorType(operation.outputs[0].dtype, shape).shape is None or _size(shape) < _WORTH:
        return None
    if not _is_scalar_graph(test) or not _goes_by_elements(body, shape):
        return None
    return shape  # type: ignore[return-value]


def _size(shape: Any) -> int:
    size = 1
    for one in shape:
        size *= one
    return size


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
    test, body = operation.regions
    size = _size(shape)
    widest = max(value.dtype.size for value in operation.outputs if value.shape)
    block = min(BLOCK // widest, size)
    starts = [region.scalar(node) if not node.shape else region.readable(node) for node in state]
    registers = [ScalarSlot(e, node) if not node.shape else None for node in starts]  # type: ignore[arg-type]
    results = [Buffer.new(e, node.dtype, shape) if node.shape else None for node in starts]
    own = [_block(e, node, block) if node.shape else None for node in starts]
    rounds = e.slot(integer(64))
    last = e.word(size - block)
    with e.nest([-(-size // block)], parallel=False) as numbers:
        ahead = e.times(numbers[0] if numbers else e.word(0), block)
        base = e.b.select(e.b.icmp_signed("<", ahead, last), ahead, last)
        _each(e, shape, block, base, starts, own, inward=True, results=results)
        for register, start in zip(registers, starts, strict=True):
            if register is not None:
                register.write(e, start.value)  # type: ignore[attr-defined]
        e.b.store(e.word(0), rounds)
        head, inside, after = e.block("test"), e.block("body"), e.block("after")
        e.b.branch(head)
        with region.inside(), e.repeatedly(), e.into(head):
            now: list[LazyValue] = [
                mine if each is None else each.read(e)  # type: ignore[misc]
                for each, mine in zip(registers, own, strict=True)
            ]
            number = e.b.load(rounds, typ=integer(64))
            leave_after(e, operation, number, after)
            (go,) = region.inner(test, [*now, *invariants]).run()
            e.b.cbranch(region.register(go), inside, after)
            with e.into(inside):
                _step(region.inner(body, [*now, *invariants]), registers, own, shape, block, base)
                following = e.b.add(number, e.word(1), flags=("nuw", "nsw"))
                e.b.store(following, rounds)
                listen(e, following, block)
                e.b.branch(head)
        e.b.position_at_end(after)
        _each(e, shape, block, base, starts, own, inward=False, results=results)
    e.work += size
    return [
        result if each is None else each.read(e)  # type: ignore[misc]
        for each, result in zip(registers, results, strict=True)
    ]


def _block(e: Emitter, node: LazyValue, block: int) -> TensorBlock:
    """Allocate a block of a tensor, at a distance from others that avoids 4K aliasing."""
    address = e.buffer(block * node.dtype.size + _APART, apart=True)
    return TensorBlock(node, Buffer(node.dtype, (block,), address, is_own=True))


def _step(
    inner: Region,
    registers: Sequence[ScalarSlot | None],
    own: Sequence[TensorBlock | None],
    shape: Shape,
    block: int,
    base: Register,
) -> None:
    """Emit one iteration: scalars in registers, elements of the block in place."""
    e = inner.e
    outputs = inner.run()
    with e.nest([block], in_registers=True) as numbers:
        index = _index(e, shape, base, numbers[0])
        tensors = [(node, mine) for node, mine in zip(outputs, own, strict=True) if mine is not None]
        found = [node.at(e, index) for node, _ in tensors]
        for (node, mine), element in zip(tensors, found, strict=True):
            if node is not mine:
                e.store(mine.dtype, mine.own.address, numbers[0], element)
    for node, register in zip(outputs, registers, strict=True):
        if register is not None:
            register.write(e, inner.scalar(node).value)


def _each(
    e: Emitter,
    shape: Shape,
    block: int,
    base: Register,
    starts: Sequence[LazyValue],
    own: Sequence[TensorBlock | None],
    inward: bool,
    results: Sequence[Buffer | None],
) -> None:
    """Copy the elements of a block from the operands, or to the results."""
    with e.nest([block]) as numbers:
        index = _index(e, shape, base, numbers[0])
        for start, mine, result in zip(starts, own, results, strict=True):
            if mine is None or result is None:
                continue
            if inward:
                e.store(mine.dtype, mine.own.address, numbers[0], start.at(e, index))
            else:
                e.store(mine.dtype, result.address, index.flat(e), mine.at(e, index))


def _index(e: Emitter, shape: Shape, base: Register, number: Register) -> Index:
    """Return the index in the whole tensor of an element of a block."""
    index = Index(shape, [(0, len(shape), e.plus(base, number))])
    index.local = number
    return index
