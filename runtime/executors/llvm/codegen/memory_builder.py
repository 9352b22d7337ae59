"""Memory instructions: stack slots, buffers of tensors, and loads and stores of their elements.

Small buffers are on the stack. Larger ones come from the module's arena (arena.py), and are returned when the
function returns. Buffer assignment runs when the whole function has been emitted (buffer_assignment.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from ..arena import HEAD
from .buffer_assignment import BufferSlot, ElementwiseNest, assign_buffers
from .copy_elision import in_results
from .dynamic_sizes import Size
from .instrumentation import Measuring
from .liveness import BORN, Addresses, born, promised
from .llvm_types import ComplexPair, Element, Register, integer, ir, memory_type, null, pointer
from .outlining import instructions_of, is_large, redirect
from .scalar_builder import WORD

_TINY = 128  # bytes of buffers that LLVM may promote to registers: they never share memory
_ON_STACK = 4096
_STACK = 1 << 16
_BLOCK = 1 << 16  # bytes of a block of the arena that several buffers of a long function share
_ALIGNED = 64

FIRST = 16
"""Initial capacity of growing memory, in elements."""


class Storage(Measuring):
    """Emitter of memory instructions; `top` is the builder of the function's entry block."""

    def __init__(self, module: Any, function: Any, b: Any, top: Any) -> None:
        super().__init__(module, function, b)
        self._top = top
        self._on_stack: list[Any] = []
        self._promises: list[Any] = []  # buffers without assigned memory
        self.slots: list[BufferSlot] = []  # the assignment, once the function is complete
        # Memory that is kept between calls: the slot that keeps it, the register with its address, its bytes.
        self.pieces: list[tuple[Register, Register, int]] = []
        self.scratch: Register = None  # memory of the caller for large buffers, if there is any
        self.scratch_size = 0  # bytes of this memory that are in use
        self._growing: list[tuple[Register, Register, int]] = []
        self._takes: tuple[Register, Register] | None = None  # see `_taken`
        self._groups: list[Any] = []  # access groups of the nests that are being emitted
        self._hidden: dict[tuple[float, Any], Register] = {}

    def slot(self, kind: Any, count: int = 1) -> Register:
        """Allocate a stack slot for a mutable value; LLVM promotes it to a register where possible."""
        return _opaque(self._top.alloca(kind, count))

    def hidden(self, number: float, kind: Any) -> Register:
        """Return a number as a register of this type whose value LLVM does not know: code that it cannot simplify."""
        if (number, kind) not in self._hidden:
            bits = integer(64)(int(np.float64(number).view(np.int64)))
            same = ir().InlineAsm(ir().FunctionType(integer(64), [integer(64)]), "", "=r,0")
            same.name, same.blocks = "", ()  # as of a function
            wide = self._top.bitcast(self._top.call(same, [bits]), ir().DoubleType())
            self._hidden[number, kind] = wide if kind == wide.type else self._top.fptrunc(wide, kind)
        return self._hidden[number, kind]

    def buffer(self, size: int, apart: bool = False) -> Register:
        """Allocate uninitialized memory of `size` bytes. A buffer that is `apart` never shares memory."""
        if isinstance(size, Size):
            return self.sized(size)[0]
        if self.meter is not None:
            self.meter.allocates(size)
        if size <= (_ON_STACK if apart else _TINY):
            made = self._on_the_stack(size)
            self._on_stack.append(made)
            return made
        promise = promised(self._top.block, size)
        self._promises.append(promise)
        self.b._insert(born(self.b.block, promise))
        return promise

    def _on_the_stack(self, size: int) -> Register:
        made = _opaque(self._top.alloca(integer(8), max(size, 1)))
        made.align = _ALIGNED
        return made

    def _from_the_heap(self, sizes: Sequence[int], most: float) -> Iterator[Register]:
        """Yield the memory of buffers. Some that together have at most `most` bytes are pieces of one block."""
        rest = [-(-size // _ALIGNED) * _ALIGNED for size in sizes]
        while rest:
            ends = list(itertools.takewhile(lambda end: end <= most, itertools.accumulate(rest))) or rest[:1]
            base, self.scratch_size = self.scratch, ends[-1]
            if base is None:
                slot, base = self._taken(ends[-1])
                self.pieces.append((slot, base, ends[-1]))
            yield base
            for start in ends[:-1]:
                made = self._top.gep(base, [self.word(start)], source_etype=integer(8))
                made.is_buffer = True
                yield made
            del rest[: len(ends)]

    def _taken(self, size: int) -> tuple[Register, Register]:
        """Take memory from the arena. Return its arena slot and its address.

        The arena table and the out-of-memory flag are placeholders: `_settle` emits them at the start of the
        function.
        """
        if self._takes is None:
            self._takes = promised(self._top.block, 0), promised(self._top.block, 0)
        table, lacking = self._takes
        slot = self.module.kept.slot(self._top, table)
        return slot, self.module.kept.take(self._top, slot, size, lacking)

    def _settle(self, blocks: Sequence[Any], start: Any, nests: Sequence[ElementwiseNest]) -> None:
        """Assign memory to all buffers: small ones on the stack while there is room, others from the arena."""
        addresses = Addresses(blocks, self._promises)
        found = assign_buffers(blocks, start, self._promises, nests, _ON_STACK, addresses)
        self._top.position_at_start(self._top.block)
        replaced = in_results(blocks, self._top.function.args, addresses)
        for assigned in found:
            assigned.promises = [promise for promise in assigned.promises if promise not in replaced]
        self.slots = [slot for slot in found if slot.promises]
        room, others = _STACK, []
        for assigned in self.slots:
            if assigned.size <= min(_ON_STACK, room):
                room -= assigned.size
                replaced.update(dict.fromkeys(assigned.promises, self._on_the_stack(assigned.size)))
            else:
                others.append(assigned)
        most = math.inf if self.scratch is not None else _BLOCK if is_large(self._top.function) else 0
        memory = self._from_the_heap([each.size for each in others], most)
        for assigned, made in zip(others, memory, strict=True):
            replaced.update(dict.fromkeys(assigned.promises, made))
        if self._takes is not None:
            self._top.position_at_start(self._top.block)
            slot = self.slot(integer(WORD))
            self._top.store(self.word(0), slot)
            replaced.update(zip(self._takes, [self.module.kept.table(self._top), slot], strict=True))
            self._takes = replaced[self._takes[0]], slot
        for block in blocks:
            block.instructions = [each for each in block.instructions if each.opname != BORN]
        redirect(instructions_of(blocks), replaced)
        self._top.position_at_end(self._top.block)

    def held(self, size: int) -> Register:
        """Allocate a slot that holds the address of a buffer."""
        slot = self.slot(pointer())
        self._top.store(self.buffer(size), slot)
        return slot

    def growing(self, size: int) -> Register:
        """Allocate a slot with the address of growing memory: a header with the capacity, then the elements."""
        kept, made = self._taken(HEAD + FIRST * size)
        slot = self.slot(pointer())
        self._top.store(made, slot)
        self._growing.append((kept, slot, size))
        return slot

    def sized(self, size: Size) -> tuple[Register, Register]:
        """Allocate memory of a dynamic size.

        Return its address and the slot of growing memory that owns it.
        """
        slot = self.growing(1)
        return self.fitted(slot, self.word(size)), slot

    def fitted(self, slot: Register, size: Register) -> Register:
        """Emit the address of growing memory with room for `size` bytes; its content is undefined."""
        found = self.module.kept.fit(self.b, slot, size)
        self.fail_unless(self.b.icmp_unsigned("!=", found, null()))
        return found

    def release(self, slot: Register) -> Register:
        """Transfer ownership of growing memory to the caller of the compiled function; the slot gets new memory."""
        address = self.b.load(slot, typ=pointer())
        other = self.new_memory(self.word(HEAD + FIRST))
        self.b.store(self.word(FIRST), other)
        self.b.store(other, slot)
        return address

    def new_memory(self, size: Register) -> Register:
        """Allocate memory that the receiver owns, or fail the run."""
        found = self.call("PyMem_RawMalloc", pointer(), size)
        self.fail_unless(self.b.icmp_unsigned("!=", found, null()))
        return found

    def fail_unless(self, holds: Register) -> None:
        """Leave the function unless `holds` is true."""
        raise NotImplementedError

    def capacity(self, address: Register) -> Register:
        """Emit the capacity of growing memory in elements. New memory is zero-filled, which means `FIRST`."""
        noted = self.b.load(address, typ=integer(WORD))
        return self.choose(self.b.icmp_signed("==", noted, self.word(0)), self.word(FIRST), noted)

    def host(self, name: str) -> Register:
        """Load the address of a host object from the table that is filled when the code is loaded.

        LLVM may move the load out of loops that write to memory, which it could not vectorize otherwise.
        """
        table = self.module.host
        address = self.b.gep(
            table.variable, [integer(32)(0), integer(32)(table.number(name))], source_etype=table.kind
        )
        found = self.b.load(address, typ=pointer())
        found.set_metadata("invariant.load", self.module.add_metadata([]))
        return found

    def load(self, dtype: dtypes.DType, address: Register, index: Register) -> Element:
        """Load the element at `index`."""
        kind = memory_type(dtype)
        if dtype.kind == "c":
            first = self.times(index, 2)
            return ComplexPair(
                self._load(kind, address, first), self._load(kind, address, self.plus(first, self.word(1)))
            )
        found = self._load(kind, address, index)
        # Every byte other than 0 is true, as in NumPy: arrays of the caller have such bytes after `view(bool)`.
        return self.b.icmp_unsigned("!=", found, kind(0)) if dtype.is_bool else found

    def store(self, dtype: dtypes.DType, address: Register, index: Register, value: Element) -> None:
        """Store the element at `index`."""
        if isinstance(value, ComplexPair):
            first = self.times(index, 2)
            self._store(value.re, address, first)
            self._store(value.im, address, self.plus(first, self.word(1)))
        elif dtype.is_bool:
            self._store(self.b.zext(value, integer(8)), address, index)
        else:
            self._store(value, address, index)

    def _load(self, kind: Any, address: Register, index: Register) -> Register:
        place = self.place(kind, address, index)
        return self.before_loops(place, lambda: self._grouped(self.b.load(place, typ=kind)))

    def _store(self, value: Register, address: Register, index: Register) -> None:
        self._grouped(self.b.store(value, self.place(value.type, address, index)))

    def _grouped(self, access: Register) -> Register:
        if self._groups and self._groups[-1] is not None:
            access.set_metadata("llvm.access.group", self._groups[-1])
        return access

    def copy(self, target: Register, source: Register, size: int) -> None:
        """Copy `size` bytes."""
        if size:
            self.call(
                "llvm.memcpy.p0.p0.i64", ir().VoidType(), target, source, self.word(size), integer(1)(0)
            )

    def clear(self, target: Register, size: int) -> None:
        """Fill `size` bytes with zeros."""
        arguments = [target, integer(8)(0), self.word(size), integer(1)(0)]
        self.call("llvm.memset.p0.i64", ir().VoidType(), *arguments)

    def copy_some(self, target: Register, source: Register, size: Register) -> None:
        """Copy a dynamic number of bytes."""
        self.call("llvm.memcpy.p0.p0.i64", ir().VoidType(), target, source, size, integer(1)(0))

    def clear_some(self, target: Register, size: Register) -> None:
        """Fill a dynamic number of bytes with zeros."""
        self.call("llvm.memset.p0.i64", ir().VoidType(), target, integer(8)(0), size, integer(1)(0))

    def _give_back(self) -> None:
        """Return the function's memory to the arena for the next call."""
        for kept, made, size in self.pieces:
            self.module.kept.give(self.b, kept, made, self.word(size))
        for kept, slot, size in self._growing:
            address = self.b.load(slot, typ=pointer())
            self.module.kept.give(self.b, kept, address, self.times(self.capacity(address), size))


def _opaque(address: Register) -> Register:
    """Erase the pointee type that llvmlite still records, since LLVM's pointers are opaque."""
    address.type = pointer()
    return address
