"""Liveness analysis of the buffers of a function: two buffers that are live together must not share memory.

    born a                      a is live from here …
    nest writes a
    born b                      … and here, so a and b conflict
    nest reads a, writes b      … to here
    born c                      c conflicts with b only: it may use the memory of a
    nest reads b, writes c

The analysis runs on the finished IR, not on the graph. It propagates addresses through instructions and stack
slots. Every instruction that may touch memory counts as a use of all buffers that its operands may point to.
The content of a buffer is dead before `born`, which marks the start of a lifetime like `llvm.lifetime.start`.
So a buffer that is born in a loop body is free again at the end of each iteration. `born` is a
pseudo-instruction that is removed before LLVM sees the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..background_compiler import pausing
from .llvm_types import ir, pointer

BORN = "born"
PROMISE = "promise"

_FOLLOWING = frozenset(
    {"getelementptr", "phi", "select", "icmp", "br", "switch", "ret", "alloca", PROMISE, BORN}
)
"""Instructions that pass an address on without touching its memory."""


def promised(block: Any, size: int) -> Any:
    """Emit a placeholder for the address of a buffer; its memory is assigned when the function is complete."""
    made = ir().Instruction(block, pointer(), PROMISE, [], name="buffer")
    made.size = size
    return made


def born(block: Any, promise: Any) -> Any:
    """Emit the marker that a buffer's lifetime starts here."""
    made = ir().Instruction(block, ir().VoidType(), BORN, [], name="born")
    made.promise = promise
    return made


def operands_of(instruction: Any) -> Sequence[Any]:
    """Return the operands of an instruction; those of a phi without its blocks."""
    if instruction.opname == "phi":
        return [value for value, _ in instruction.incomings]
    return instruction.operands  # type: ignore[no-any-return]


def targets_of(block: Any) -> list[Any]:
    """Return the successors of a basic block."""
    last = block.terminator
    if last is None:
        return []
    found = [operand for operand in last.operands if isinstance(operand, ir().Block)]
    if last.opname == "switch":
        found += [last.default, *(target for _, target in last.cases)]
    return found


def bits(mask: int) -> Iterator[int]:
    """Yield the indices of the set bits of `mask`."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Addresses:
    """Points-to analysis: the buffers and slots that each address may refer to, as bit masks."""

    def __init__(self, blocks: Sequence[Any], promises: Sequence[Any]) -> None:
        self.number = {promise: i for i, promise in enumerate(promises)}
        self.buffers = (1 << len(promises)) - 1
        for block in blocks:
            for each in block.instructions:
                if each.opname == "alloca":
                    self.number[each] = len(self.number)
        self.of: dict[Any, int] = {value: 1 << i for value, i in self.number.items()}
        self.within: dict[int, int] = {}  # the addresses that each slot may hold
        self.lost = 0  # buffers whose addresses escape to untracked memory
        instructions = [
            each for block in pausing(blocks) for each in block.instructions if _has_address(each)
        ]
        is_new = True
        while is_new:
            is_new = False
            for each in pausing(instructions):
                is_new |= self._goes_on(each)

    def _goes_on(self, instruction: Any) -> bool:
        """Propagate addresses through one instruction; return whether that changed anything."""
        given = [
            0 if isinstance(operand, ir().Constant) else self.of.get(operand, 0)  # constants are slow to hash
            for operand in operands_of(instruction)
        ]
        if instruction.opname == "store":
            return self._goes_into(given[1], given[0])
        if instruction.opname == "load":
            found = 0
            for slot in bits(given[0]):
                found |= self.within.get(slot, 0)
        else:
            found = 0
            for each in given:
                found |= each
        known = self.of.get(instruction, 0)
        self.of[instruction] = known | found
        return found | known != known

    def _goes_into(self, slots: int, addresses: int) -> bool:
        if not slots:
            self.lost |= addresses
        is_new = False
        for slot in bits(slots):
            known = self.within.get(slot, 0)
            self.within[slot] = known | addresses
            is_new |= addresses | known != known
        return is_new

    def touched(self, instruction: Any) -> int:
        """Return the buffers that an instruction may read or write."""
        name = instruction.opname
        if name in _FOLLOWING:
            return 0
        if name == "load":
            return self.of.get(instruction.operands[0], 0) & self.buffers
        if name == "store":
            return self.of.get(instruction.operands[1], 0) & self.buffers
        found = 0
        for operand in operands_of(instruction):
            found |= self.of.get(operand, 0)
        return self._with_contents(found) & self.buffers

    def _with_contents(self, mask: int) -> int:
        """Return everything that can be reached from the addresses in `mask`."""
        found, pending = mask, mask
        while pending:
            more = 0
            for slot in bits(pending):
                more |= self.within.get(slot, 0)
            pending = more & ~found
            found |= more
        return found

    def held(self, apart_from: Sequence[Any]) -> int:
        """Return the buffers whose addresses are held in slots other than `apart_from`, or have escaped."""
        found = self.lost
        skipped = {self.number[slot] for slot in apart_from}
        for slot, addresses in self.within.items():
            if slot not in skipped:
                found |= addresses
        return found & self.buffers


def _has_address(instruction: Any) -> bool:
    if instruction.opname == "store":
        return bool(instruction.operands[0].type == pointer())
    return bool(instruction.type == pointer()) and instruction.opname not in ("alloca", PROMISE)


class BufferLiveness:
    """The buffers that are live at the start of each basic block."""

    def __init__(self, blocks: Sequence[Any], addresses: Addresses) -> None:
        self.addresses = addresses
        self.blocks = blocks
        self._events = {block: list(self._events_of(block)) for block in pausing(blocks)}
        self.at_start: dict[Any, int] = dict.fromkeys(blocks, 0)
        is_new = True
        while is_new:
            is_new = False
            for block in pausing(reversed(blocks)):
                live = self.at_end(block)
                for bit, touched in reversed(self._events[block]):
                    live = live & ~bit | touched
                is_new |= live != self.at_start[block]
                self.at_start[block] = live

    def _events_of(self, block: Any) -> Iterator[tuple[int, int]]:
        """Yield the births and the uses of buffers in a basic block, in order, as pairs of masks."""
        for each in block.instructions:
            if each.opname == BORN:
                yield 1 << self.addresses.number[each.promise], 0
            elif touched := self.addresses.touched(each):
                yield 0, touched

    def at_end(self, block: Any) -> int:
        """Return the buffers that are live at the end of a basic block."""
        live = 0
        for target in targets_of(block):
            live |= self.at_start.get(target, 0)
        return live

    def births(self) -> Iterator[tuple[int, int]]:
        """Yield each buffer that is born, with the mask of the other buffers that are live there."""
        for block in self.blocks:
            live = self.at_end(block)
            for bit, touched in reversed(self._events[block]):
                if bit:
                    live &= ~bit
                    yield bit.bit_length() - 1, live
                live |= touched
