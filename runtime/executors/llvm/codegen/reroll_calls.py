"""Reroll calls: consecutive calls of one native function become a loop over a table of their operands.

    repeated(x, w, a)                        bases ← [x, w, a, v, b, …]          the addresses that calls use
    repeated(a, v, b)                ==>     for i < 500:
    repeated(b, u, c)                            p, q, r ← bases[table[i]]
    …                                            repeated(p, q, r)

A deep network has hundreds of calls with dozens of operands each. Printing and compiling them took LLVM, and Python,
longer than all that the functions compute. The pass runs on the finished IR, after buffer assignment.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .liveness import operands_of, targets_of
from .llvm_types import Register, integer, ir, pointer, word
from .outlining import instructions_of

FEWEST = 16
"""The number of consecutive calls from which a loop is shorter."""

_MOST = (1 << 31) - 1
"""The largest number in a table."""


class AddressArray(NamedTuple):
    """The address of an array of addresses, and the positions of some of the function's values there."""

    array: Register
    positions: Mapping[Any, int]


NOWHERE = AddressArray(None, {})


def reroll_calls(e: Any, callees: Sequence[Any], places: AddressArray = NOWHERE) -> None:
    """Replace the calls of `callees`, whose results nothing reads, in the function that `e` has emitted."""
    known = {id(each) for each in callees}
    blocks = e.function.blocks if known else ()
    found = [(block, *each) for block in blocks for each in _sequences(block, known)]
    for block, first, calls in reversed(found):  # a block is split at its last calls first
        columns = _Columns(calls, places)
        if columns.fit:
            _rerolled(e, block, first, calls, columns)
    if found:
        _forget_buffers(e.function)


def _sequences(block: Any, callees: set[int]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the positions and calls of consecutive calls of one function."""
    position = 0
    for callee, some in itertools.groupby(block.instructions, lambda each: _callee(each, callees)):
        calls = list(some)
        if callee is not None and len(calls) >= FEWEST:
            yield position, calls
        position += len(calls)


def _callee(instruction: Any, callees: set[int]) -> int | None:
    found = id(instruction.callee) if instruction.opname == "call" else None
    return found if found in callees else None


class _Columns:
    """The operands of calls, one column for each parameter: `fixed` ones, and columns of numbers in a table.

    The numbers are positions in the array of `places`, or else pairs: positions in `bases`, and offsets.
    """

    def __init__(self, calls: Sequence[Any], places: AddressArray) -> None:
        self.places = places
        self.bases: dict[Any, int] = {}
        self.fixed: dict[int, Any] = {}
        self.listed: dict[int, int] = {}  # from parameters to columns of the table
        self.paired: dict[int, int] = {}  # to the first of two columns
        self._numbers: list[list[int]] = []
        for i, column in enumerate(zip(*(call.args for call in calls), strict=True)):
            if len(set(map(_identity, column))) == 1:
                self.fixed[i] = column[0]
            elif all(each in places.positions for each in column):
                self.listed[i] = len(self._numbers)
                self._numbers.append([places.positions[each] for each in column])
            else:
                self.paired[i] = len(self._numbers)
                pairs = [*map(_place, column)]
                self._numbers.append([self.bases.setdefault(base, len(self.bases)) for base, _ in pairs])
                self._numbers.append([offset for _, offset in pairs])
        self.fit = max(map(max, self._numbers), default=0) <= _MOST

    def table(self) -> np.ndarray[Any, Any]:
        """Return the table: one row for each call."""
        return np.ascontiguousarray(np.array(self._numbers, np.int32).T)


def _identity(operand: Any) -> Any:
    return str(operand) if isinstance(operand, ir().Constant) else id(operand)


def _place(operand: Any) -> tuple[Any, int]:
    """Return an address as another one and an offset in bytes: buffers share blocks of memory."""
    if getattr(operand, "is_buffer", False):
        return operand.pointer, operand.indices[0].constant
    return operand, 0


def _rerolled(e: Any, block: Any, first: int, calls: Sequence[Any], columns: _Columns) -> None:
    """Replace the calls at a position of a block by a loop."""
    loop, after = (e.function.append_basic_block(name) for name in ("loop", "after"))
    _split(block, first + len(calls), after)
    del block.instructions[first:]
    bases = _stored(e, block, columns.bases)
    table = columns.table()
    e.b.position_at_end(block)
    rows = e.module.host.constant(e, table)
    e.b.branch(loop)
    b = ir().IRBuilder(loop)
    i = b.phi(integer(64), "i")
    row = b.gep(rows, [b.mul(i, word(table.shape[1]))], source_etype=integer(32))

    def number(column: int) -> Register:
        found = b.load(b.gep(row, [word(column)], source_etype=integer(32)), typ=integer(32))
        return b.zext(found, integer(64))

    def address(array: Register, column: int) -> Register:
        return b.load(b.gep(array, [number(column)], source_etype=pointer()), typ=pointer())

    operands = dict(columns.fixed)
    for parameter, column in columns.listed.items():
        operands[parameter] = address(columns.places.array, column)
    for parameter, column in columns.paired.items():
        base = address(bases, column)
        operands[parameter] = b.gep(base, [number(column + 1)], source_etype=integer(8))
    b.call(calls[0].callee, [operands[parameter] for parameter in range(len(operands))])
    following = b.add(i, word(1), flags=("nuw", "nsw"))
    i.add_incoming(word(0), block)
    i.add_incoming(following, loop)
    b.cbranch(b.icmp_unsigned("<", following, word(len(calls))), loop, after)


def _split(block: Any, position: int, after: Any) -> None:
    """Move the instructions of a block from a position on to the block `after`."""
    after.instructions = block.instructions[position:]
    for each in after.instructions:
        each.parent = after
    after.terminator, block.terminator = block.terminator, None
    for target in targets_of(after):
        for each in target.instructions:
            if each.opname == "phi":
                each.incomings = [(value, after if x is block else x) for value, x in each.incomings]
    del block.instructions[position:]


def _forget_buffers(function: Any) -> None:
    """Remove the addresses of buffers that only the table refers to."""
    used = {id(x) for each in instructions_of(function.blocks) for x in operands_of(each)}
    entry = function.blocks[0]
    entry.instructions = [
        each for each in entry.instructions if id(each) in used or not getattr(each, "is_buffer", False)
    ]


def _stored(e: Any, block: Any, addresses: Mapping[Any, int]) -> Register:
    """Store addresses in an array on the stack; return its address."""
    top = ir().IRBuilder()
    top.position_at_start(e.function.blocks[0])
    array = top.alloca(pointer(), max(len(addresses), 1))
    array.type = pointer()
    b = ir().IRBuilder(block)
    for each, position in addresses.items():
        b.store(each, b.gep(array, [word(position)], source_etype=pointer()))
    return array
