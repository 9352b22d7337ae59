"""Writes memory: slots for numbers, buffers for tensors, elements that are read and written there.

Small buffers stand on the stack. Larger ones are taken from what the module keeps between calls (arena.py), and given
back when the function is left. Which buffers stand in the same place is decided when all has been written
(buffer_assignment.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import dtypes
from ..arena import HEAD
from .buffer_assignment import BufferSlot, ElementwiseNest, assign_buffers
from .copy_elision import in_results
from .dynamic_sizes import Size
from .instrumentation import Measuring
from .liveness import BORN, Addresses, born, promised
from .llvm_types import Element, Pair, Register, integer, ir, memory_type, null, pointer
from .outlining import instructions_of, redirect
from .scalar_builder import WORD

_TINY = 128  # bytes of buffers that LLVM may keep in registers: each has a place of its own
_ON_STACK = 4096
_STACK = 1 << 16
_ALIGNED = 64

FIRST = 16
"""Elements that fit into it at first."""


class Storage(Measuring):
    """What is written of memory; `top` is the builder of the function's entry."""

    def __init__(self, module: Any, b: Any, top: Any) -> None:
        super().__init__(module, b)
        self._top = top
        self._on_stack: list[Any] = []
        self._promises: list[Any] = []  # buffers that have no place yet
        self.places: list[BufferSlot] = []  # where they stand, once all is written
        # Memory that is kept between calls: the slot where it is kept, what takes it, and the bytes.
        self.pieces: list[tuple[Register, Register, int]] = []
        self._growing: list[tuple[Register, Register, int]] = []
        self._takes: tuple[Register, Register] | None = None  # see `_taken`
        self._groups: list[Any] = []  # of accesses in the nests that are being written

    def slot(self, kind: Any, count: int = 1) -> Register:
        """Memory for a value that changes, which LLVM makes a register of where it can."""
        return _opaque(self._top.alloca(kind, count))

    def buffer(self, size: int, apart: bool = False) -> Register:
        """Memory for so many bytes, which holds nothing yet. What is `apart` never shares it."""
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

    def _from_the_heap(self, size: int) -> Register:
        slot, made = self._taken(size)
        self.pieces.append((slot, made, size))
        return made

    def _taken(self, size: int) -> tuple[Register, Register]:
        """Memory that is kept between calls, after the place where it is.

        The table of places and the slot that says whether memory is lacking come first of all when all is written.
        """
        if self._takes is None:
            self._takes = promised(self._top.block, 0), promised(self._top.block, 0)
        table, lacking = self._takes
        slot = self.module.kept.slot(self._top, table)
        return slot, self.module.kept.take(self._top, slot, size, lacking)

    def _settle(self, blocks: Sequence[Any], start: Any, nests: Sequence[ElementwiseNest]) -> None:
        """Give all buffers their places; those of few bytes on the stack, as long as there is room."""
        addresses = Addresses(blocks, self._promises)
        found = assign_buffers(blocks, start, self._promises, nests, _ON_STACK, addresses)
        self._top.position_at_start(self._top.block)
        replaced = in_results(blocks, self._top.function.args, addresses)
        for place in found:
            place.promises = [promise for promise in place.promises if promise not in replaced]
        self.places = [place for place in found if place.promises]
        room = _STACK
        for place in self.places:
            if place.size <= min(_ON_STACK, room):
                room -= place.size
                made = self._on_the_stack(place.size)
            else:
                made = self._from_the_heap(place.size)
            replaced.update(dict.fromkeys(place.promises, made))
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
        """A slot with the address of a buffer."""
        slot = self.slot(pointer())
        self._top.store(self.buffer(size), slot)
        return slot

    def growing(self, size: int) -> Register:
        """A slot with the address of memory that grows: how many elements of this size fit, and the elements."""
        kept, made = self._taken(HEAD + FIRST * size)
        slot = self.slot(pointer())
        self._top.store(made, slot)
        self._growing.append((kept, slot, size))
        return slot

    def sized(self, size: Size) -> tuple[Register, Register]:
        """The address of memory for so many bytes as there turn out to be, and the slot that it belongs to."""
        slot = self.growing(1)
        return self.fitted(slot, self.word(size)), slot

    def fitted(self, slot: Register, size: Register) -> Register:
        """The address of memory that grows, where so many bytes fit; it holds nothing yet."""
        found = self.module.kept.fit(self.b, slot, size)
        self.fail_unless(self.b.icmp_unsigned("!=", found, null()))
        return found

    def release(self, slot: Register) -> Register:
        """Hand memory that grows over to whoever runs this; other memory takes its place."""
        address = self.b.load(slot, typ=pointer())
        other = self.new_memory(self.word(HEAD + FIRST))
        self.b.store(self.word(FIRST), other)
        self.b.store(other, slot)
        return address

    def new_memory(self, size: Register) -> Register:
        """Memory that belongs to whoever gets it, or the run fails."""
        found = self.call("PyMem_RawMalloc", pointer(), size)
        self.fail_unless(self.b.icmp_unsigned("!=", found, null()))
        return found

    def fail_unless(self, holds: Register) -> None:
        """Leave the function unless this holds."""
        raise NotImplementedError

    def capacity(self, address: Register) -> Register:
        """How many elements fit into memory that grows. New memory is all zeros."""
        noted = self.b.load(address, typ=integer(WORD))
        return self.choose(self.b.icmp_signed("==", noted, self.word(0)), self.word(FIRST), noted)

    def host(self, name: str) -> Register:
        """The address of something of the host: it is written into a table when the code is loaded."""
        table = self.module.host
        place = self.b.gep(
            table.variable, [integer(32)(0), integer(32)(table.number(name))], source_etype=table.kind
        )
        return self.b.load(place, typ=pointer())

    def load(self, dtype: dtypes.DType, address: Register, index: Register) -> Element:
        """The element with this number."""
        kind = memory_type(dtype)
        if dtype.kind == "c":
            first = self.times(index, 2)
            return Pair(
                self._load(kind, address, first),
                self._load(kind, address, self.plus(first, self.word(1))),
            )
        found = self._load(kind, address, index)
        return self.b.trunc(found, integer(1)) if dtype.is_bool else found

    def store(self, dtype: dtypes.DType, address: Register, index: Register, value: Element) -> None:
        """Replace the element with this number."""
        if isinstance(value, Pair):
            first = self.times(index, 2)
            self._store(value.re, address, first)
            self._store(value.im, address, self.plus(first, self.word(1)))
        elif dtype.is_bool:
            self._store(self.b.zext(value, integer(8)), address, index)
        else:
            self._store(value, address, index)

    def _load(self, kind: Any, address: Register, index: Register) -> Register:
        place = self.b.gep(address, [index], inbounds=True, source_etype=kind)
        return self._grouped(self.b.load(place, typ=kind))

    def _store(self, value: Register, address: Register, index: Register) -> None:
        place = self.b.gep(address, [index], inbounds=True, source_etype=value.type)
        self._grouped(self.b.store(value, place))

    def _grouped(self, access: Register) -> Register:
        if self._groups and self._groups[-1] is not None:
            access.set_metadata("llvm.access.group", self._groups[-1])
        return access

    def copy(self, target: Register, source: Register, size: int) -> None:
        """Copy bytes."""
        if size:
            self.call(
                "llvm.memcpy.p0.p0.i64", ir().VoidType(), target, source, self.word(size), integer(1)(0)
            )

    def clear(self, target: Register, size: int) -> None:
        """Fill bytes with zeros."""
        arguments = [target, integer(8)(0), self.word(size), integer(1)(0)]
        self.call("llvm.memset.p0.i64", ir().VoidType(), *arguments)

    def copy_some(self, target: Register, source: Register, size: Register) -> None:
        """Copy so many bytes as there turn out to be."""
        self.call("llvm.memcpy.p0.p0.i64", ir().VoidType(), target, source, size, integer(1)(0))

    def clear_some(self, target: Register, size: Register) -> None:
        """Fill so many bytes with zeros."""
        self.call("llvm.memset.p0.i64", ir().VoidType(), target, integer(8)(0), size, integer(1)(0))

    def _give_back(self) -> None:
        """Give what the function has taken to the next call."""
        for kept, made, size in self.pieces:
            self.module.kept.give(self.b, kept, made, self.word(size))
        for kept, slot, size in self._growing:
            address = self.b.load(slot, typ=pointer())
            self.module.kept.give(self.b, kept, address, self.times(self.capacity(address), size))


def _opaque(address: Register) -> Register:
    """An address as LLVM has them, without the type of what stands there, which llvmlite still notes."""
    address.type = pointer()
    return address
