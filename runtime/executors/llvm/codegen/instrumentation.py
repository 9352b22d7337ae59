"""Instrumentation for profiles: the code reads a clock between groups of loops and between matrix products.

    row 0  train                          own  12 µs     1 call
    row 1    while, train.py:4            own  30 µs     1 call
    row 2      matmul, train.py:5         own 800 µs   100 calls
    row 3      fused add+tanh, train.py:5 own 210 µs   100 calls

Each measured part of the code has a row in a table, and a parent row. At a transition, the elapsed time is
added to the own time of the old row, and a call of the new row is counted. Rank-0 computations are measured
together with the code around them, since these take less time than reading a clock. A function without
instrumentation has none of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ....ir.graph import Operation
from ....ir.structured import is_branch, is_loop
from ..availability import has_cycles
from .index_builder import IndexArithmetic
from .llvm_types import Register, integer, ir

_WORD = 8
_MONOTONIC = 1


class MeasuredRow:
    """A measured part of the code: its operations, its parent row, and the bytes of its buffers."""

    def __init__(self, operations: Sequence[Operation], parent: int) -> None:
        self.operations = tuple(operations)
        self.parent = parent
        self.bytes = 0


class Instrumentation:
    """Emits the clock reads of a function. Each row of the table has an own time and a number of calls."""

    name = "meter"
    """The name of the table among the host objects that are bound when the code is loaded."""

    def __init__(self, e: Any) -> None:
        self.rows = [MeasuredRow((), -1)]
        self.table: Any = None  # the recorded table, once the code is loaded
        self._e = e
        self._current = 0
        self._last = e.slot(integer(64))
        self._fresh = 0
        self._time = e.slot(integer(64), 2)
        e.b.store(self._clock(), self._last)

    def finish(self) -> None:
        """Complete the function's own time, and count its call."""
        self._goes_to(0)

    def allocates(self, size: int) -> None:
        """Count a buffer that is allocated for the next row."""
        self._fresh += size

    def begin(self, operations: Sequence[Operation]) -> tuple[int, list[Any]]:
        """Start a row. Return its parent and the emitted instructions, for `end` or `retract`."""
        block = self._e.b.block
        before = set(map(id, block.instructions))
        outer = self._current
        self.rows.append(MeasuredRow(operations, outer))
        self.rows[-1].bytes, self._fresh = self._fresh, 0
        self._goes_to(len(self.rows) - 1)
        return outer, [each for each in block.instructions if id(each) not in before]

    def end(self, outer: int) -> None:
        """End the current row and return to `outer`."""
        self.rows[self._current].bytes += self._fresh
        self._fresh = 0
        self._goes_to(outer, counts=False)

    def retract(self, outer: int, written: Sequence[Any], block: Any) -> None:
        """Remove a row that turned out too small to measure, and its instructions."""
        gone = set(map(id, written))
        block.instructions[:] = [each for each in block.instructions if id(each) not in gone]
        self._e.b.position_at_end(self._e.b.block)
        self._fresh += self.rows.pop().bytes
        self._current = outer

    def stands_at(self, operations: Sequence[Operation]) -> bool:
        """Return whether the current row already measures these operations."""
        return self.rows[self._current].operations == tuple(operations)

    def _goes_to(self, row: int, counts: bool = True) -> None:
        b, now = self._e.b, self._clock()
        table = self._e.host(self.name)
        self._add(table, 2 * self._current, b.sub(now, b.load(self._last, typ=integer(64))))
        if counts:
            self._add(table, 2 * row + 1, integer(64)(1))
        b.store(now, self._last)
        self._current = row

    def _add(self, table: Register, word: int, more: Register) -> None:
        b = self._e.b
        where = b.gep(table, [integer(64)(_WORD * word)], source_etype=integer(8))
        b.store(b.add(b.load(where, typ=integer(64)), more), where)

    def _clock(self) -> Register:
        """Emit the current time, in processor cycles or nanoseconds."""
        if has_cycles():
            return self._e.call("llvm.readcyclecounter", integer(64))
        self._e.call("clock_gettime", integer(32), integer(32)(_MONOTONIC), self._time)
        b = self._e.b
        nanoseconds = b.gep(self._time, [integer(64)(_WORD)], source_etype=integer(8))
        seconds, more = (b.load(where, typ=integer(64)) for where in (self._time, nanoseconds))
        return b.add(b.mul(seconds, integer(64)(1_000_000_000)), more)


class Measuring(IndexArithmetic):
    """The part of the emitter that handles instrumentation, if there is any."""

    meter: Instrumentation | None = None
    operation: Operation | None = None  # the operation that is being lowered
    group: Sequence[Any] = ()  # the lazy nodes that the next nest computes
    bulk = 0  # number of loop nests opened so far
    located: dict[int, tuple[Any, Operation]] | None = (
        None  # by `id`, an instruction and its operation, for texts
    )

    _groups: list[Any]

    @contextmanager
    def lowering(self, operation: Operation) -> Iterator[None]:
        """Measure the code of an operation, unless it is only rank-0 code in registers."""
        outer, self.operation = self.operation, operation
        meter = self.meter
        if self.located is not None:
            block, count, position = self.b.block, len(self.function.blocks), len(self.b.block.instructions)
            yield
            self.operation = outer
            for each in self._emitted_since(block, position, count):
                self.located.setdefault(id(each), (each, operation))
            return
        if meter is None or self._groups or is_branch(operation):
            yield
            self.operation = outer
            return
        block, count, bulk = self.b.block, len(self.function.blocks), self.bulk
        around, written = meter.begin([operation])
        position = len(block.instructions)
        yield
        self.operation = outer
        more = self._emitted_since(block, position, count)
        is_bulk = self.bulk > bulk or is_loop(operation) or any(map(_is_bulk_call, more))
        if is_bulk:
            meter.end(around)
        elif meter.rows[-1].operations == (operation,) and meter.stands_at([operation]):
            meter.retract(around, written, block)

    def _emitted_since(self, block: Any, position: int, count: int) -> list[Any]:
        """Return the instructions of a block from a position on, and those of the blocks after the first `count`."""
        blocks = self.function.blocks[count:]
        return [*block.instructions[position:], *(each for b in blocks for each in b.instructions)]

    def computing(self, only_group: bool) -> int | None:
        """Start a row for a loop nest: for its group, and the operation being lowered unless `only_group`."""
        group, self.group = self.group, ()
        self.bulk += 1
        if self.meter is None:
            return None
        makers = [node.maker for node in group if node.maker is not None]
        if self.operation is not None and not (only_group and makers):
            makers.append(self.operation)
        makers = list(dict.fromkeys(makers))
        return None if self.meter.stands_at(makers) else self.meter.begin(makers)[0]


def _is_bulk_call(instruction: Any) -> bool:
    """Return whether an instruction is a call that works on memory: one without a result."""
    return bool(instruction.opname == "call" and instruction.type == ir().VoidType())
