"""Lower `while`: loop-carried values in registers and in memory, a test, a body, a back edge.

    i, x = while 0, x0                    i ← 0; now ← x0
      test i, x: less i, n           ==>  test:  i < n, or leave
      body i, x: add i, 1; f(x)           body:  other ← f(now); i ← i + 1; swap now and other
                                                 jump to test

Scalars have stack slots, which LLVM promotes to phis. A tensor has two buffers and is computed from one into the
other; a small tensor is computed in registers and stored back to one buffer. Tensors that are unchanged, or updated in
place, need no second buffer. The loop regularly polls for interrupts. LLVM unrolls a short loop, with one poll in
several iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core import late_binding
from ....ir.graph import Graph, Operation
from ....ir.value_types import ListType
from ..call.kernel import INTERRUPTED
from ..codegen.check_builder import OFTEN
from ..codegen.function_builder import UNROLLED, Emitter
from ..codegen.interrupts import ASK
from ..codegen.lazy_values import Buffer, ConstantArray, LazyValue, Scalar
from ..codegen.llvm_types import ComplexPair, Element, Register, integer, pointer, register_type
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from ..codegen.use_lists import factors
from . import dynamic_phi, list_phi

_PATIENCE = 1 << 20
"""The approximate number of elements computed between two polls for interrupts."""

SEVERAL = (["llvm.loop.unroll.count", 4],)
"""Loop metadata of short loops. Each unrolled copy tests the condition; only the last copy polls for interrupts."""

_SHORT = 100
"""The largest number of instructions of a short loop, before LLVM's passes."""


class ScalarSlot:
    """The stack slots of a loop-carried scalar: one, or two for complex numbers."""

    def __init__(self, e: Emitter, node: Scalar) -> None:
        self.dtype = node.dtype
        self._kind = register_type(node.dtype)
        self._slots = [e.slot(self._kind) for _ in range(2 if node.dtype.kind == "c" else 1)]

    def write(self, e: Emitter, element: Element) -> None:
        parts = element if isinstance(element, ComplexPair) else (element,)
        for slot, part in zip(self._slots, parts, strict=True):
            e.b.store(part, slot)

    def read(self, e: Emitter) -> Scalar:
        parts = [e.b.load(slot, typ=self._kind) for slot in self._slots]
        return Scalar(self.dtype, ComplexPair(*parts) if len(parts) == 2 else parts[0])


class LoopBuffers:
    """The buffers of a loop-carried tensor: `now`, and the other one for the next value."""

    def __init__(self, e: Emitter, start: Buffer, is_fixed: bool) -> None:
        self._start = start
        self._slots: list[Register] | None = None
        self.is_fixed = is_fixed
        if not is_fixed:
            other = Buffer.new(e, start.dtype, start.shape)
            self._slots = [e.slot(pointer()), e.slot(pointer())]
            e.b.store(start.address, self._slots[0])
            e.b.store(other.address, self._slots[1])

    def read(self, e: Emitter) -> Buffer:
        """Return the buffer of the current value."""
        return self._at(e, 0)

    def other(self, e: Emitter) -> Buffer:
        """Return the buffer for the next value."""
        return self._at(e, 1)

    def _at(self, e: Emitter, which: int) -> Buffer:
        if self._slots is None:
            return self._start
        address = e.b.load(self._slots[which], typ=pointer())
        return Buffer(self._start.dtype, self._start.shape, address, is_own=True)

    def swap(self, e: Emitter, now: Buffer, other: Buffer) -> None:
        assert self._slots is not None
        e.b.store(other.address, self._slots[0])
        e.b.store(now.address, self._slots[1])


@lowers("while", sized=True, moves=True)
def _(region: Region, operation: Operation, *nodes: LazyValue) -> list[LazyValue]:
    e = region.e
    test, body = operation.regions
    count = len(operation.outputs)
    shape = late_binding.strip_mining.shape_of_blocks(operation)
    if shape is not None:
        around = [region.readable(node) for node in nodes[count:]]
        return late_binding.strip_mining.run_in_blocks(region, operation, shape, nodes[:count], around)
    state = _initial_state(region, operation, nodes[:count])
    in_memory = factors(body)
    for node, value in zip(nodes[count:], body.inputs[count:], strict=True):
        (region.settled if value in in_memory else region.readable)(node)
    invariants = [list_phi.shared(node.storage or node) for node in nodes[count:]]
    region.leave(operation, nodes)
    rounds = e.slot(integer(64))
    e.b.store(e.word(0), rounds)
    first = len(e.function.blocks)
    head, inside, after = e.block("test"), e.block("body"), e.block("after")
    e.b.branch(head)
    with region.inside(), e.repeatedly(), e.into(head):
        now = [register.read(e) for register in state]
        number = e.b.load(rounds, typ=integer(64))
        leave_after(e, operation, number, after)
        (go,) = region.inner(test, [*map(list_phi.shared, now), *invariants]).run()
        asking = e.block("asking")
        e.b.cbranch(region.register(go), asking, after)
        with e.into(inside):
            before = e.work
            _step(region, body, state, now, invariants)
            e.b.store(e.b.add(number, e.word(1), flags=("nuw", "nsw")), rounds)
            back_edge = e.b.branch(head)
        # Poll before the body, so that a flag set in the body is tested next: LLVM threads that jump.
        with e.into(asking):
            listen(e, number, 1 + e.work - before)
            e.b.branch(inside)
    if is_short(e.function.blocks[first:]):
        e.set_loop_metadata(back_edge, SEVERAL)
    e.b.position_at_end(after)
    return [register.read(e) for register in state]


def _initial_state(region: Region, operation: Operation, nodes: Sequence[LazyValue]) -> list[Any]:
    """Return the storage of the loop-carried values, with their initial values."""
    for node, value in zip(nodes, operation.outputs, strict=True):
        if node.is_lazy and not dynamic_phi.is_open(value.spec):
            region.stored(node)  # before the memory that it reads is reused for another value
    body = operation.regions[1]
    return [
        list_phi.entered(region, operation, node, i)
        if isinstance(operation.outputs[i].spec, ListType)
        else _entered(region, operation, node, i, bool(node.shape) and body.inputs[i] is body.outputs[i])
        for i, node in enumerate(nodes)
    ]


def _entered(region: Region, operation: Operation, node: LazyValue, number: int, stays: bool) -> Any:
    """Return the storage of a loop-carried value, with its initial value."""
    e = region.e
    if dynamic_phi.is_open(operation.outputs[number].spec) and not stays:
        return dynamic_phi.KeptTensor(region, operation.outputs[number].spec, node)
    if not node.shape:
        scalar = region.scalar(node)
        register = ScalarSlot(e, scalar)
        register.write(e, scalar.value)
        return register
    if node.size == 0 or (stays and isinstance(node, ConstantArray)):
        return LoopBuffers(e, region.stored(node), is_fixed=True)
    found = region.stored(node)
    if not (found.is_own and region.is_given_up(operation, node)):
        found = region.stored(node, Buffer.new(e, node.dtype, node.shape))
    return LoopBuffers(e, found, is_fixed=stays or node.size <= UNROLLED)


def _step(
    region: Region,
    body: Graph,
    state: Sequence[Any],
    now: Sequence[LazyValue],
    invariants: Sequence[LazyValue],
) -> None:
    """Emit the body: compute all next values, then store them."""
    e = region.e
    others: list[Buffer | None] = []
    for register, node in zip(state, now, strict=True):
        is_double = isinstance(register, LoopBuffers) and not register.is_fixed
        others.append(register.other(e) if is_double and isinstance(node, Buffer) else None)
    inner = region.inner(body, [*now, *invariants])
    targets = _targets(body, others)
    results = inner.run(targets)
    small = [
        (cell, node)
        for cell, node, old in zip(state, results, now, strict=True)
        if isinstance(cell, LoopBuffers) and cell.is_fixed and (node.storage or node) is not old and node.size
    ]
    inner.replace([(node, cell.read(e)) for cell, node in small])
    for register, node, old, other, target in zip(state, results, now, others, targets, strict=True):
        if isinstance(register, ScalarSlot):
            register.write(e, inner.scalar(node).value)
        elif isinstance(register, dynamic_phi.KeptTensor):
            if (node.storage or node) is not old:
                register.write(inner, node)
        elif other is not None:
            found = inner.stored(node)
            if found is old:
                continue
            assert isinstance(old, Buffer)
            if target is None:
                inner.stored(found, other)
            register.swap(e, old, other)
    # Lists come last, since the values above may have been read from them.
    for register, node in zip(state, results, strict=True):
        if isinstance(register, list_phi.KeptList):
            register.write(e, node, state)


def _targets(body: Graph, others: Sequence[Buffer | None]) -> list[Buffer | None]:
    """Return the buffers for the body's results; None for results that are inputs of the body, which only move."""
    inputs = set(body.inputs)
    return [None if output in inputs else other for output, other in zip(body.outputs, others, strict=True)]


def is_short(blocks: Sequence[Any]) -> bool:
    """Return whether an iteration is so cheap that polling matters: few instructions, no calls or inner loops."""
    instructions = [each for block in blocks for each in block.instructions]
    calls = [each.callee.name for each in instructions if each.opname == "call"]
    is_plain = all(name.startswith("llvm.") or name == ASK for name in calls) and calls.count(ASK) == 1
    return is_plain and len(instructions) <= _SHORT and all(each.opname != "phi" for each in instructions)


def leave_after(e: Emitter, operation: Operation, number: Register, after: Any) -> None:
    limit = operation.attrs.get("maximum_iterations")
    if limit is not None:
        more = e.block("more")
        e.b.cbranch(e.b.icmp_signed("<", number, e.word(int(limit))), more, after)
        e.b.position_at_end(more)


def listen(e: Emitter, number: Register, work: int) -> None:
    """Poll for interrupts at every 2^nth iteration."""
    often = max(_PATIENCE // work, 1)
    mask = e.word((1 << (often.bit_length() - 1)) - 1)
    due, checked = e.block("listen"), e.block("onward")
    is_due = e.b.icmp_unsigned("==", e.b.and_(number, mask), mask)
    e.b.cbranch(is_due, due, checked).set_weights([1, OFTEN])
    e.b.position_at_end(due)
    answer = e.call(ASK, integer(32), e.function.args[-1])
    stop = e.end_with(INTERRUPTED)
    e.b.cbranch(e.b.icmp_signed("==", answer, integer(32)(0)), checked, stop)
    e.b.position_at_end(checked)
