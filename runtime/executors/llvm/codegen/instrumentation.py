"""Code that measures itself, for profiles: a clock is read where one group of loops follows another, or a product.

    spot 0  train                          own  12 µs     1 call
    spot 1    while, train.py:4            own  30 µs     1 call
    spot 2      matmul, train.py:5         own 800 µs   100 calls
    spot 3      fused add+tanh, train.py:5 own 210 µs   100 calls

Each place in the code is a row of a table, and belongs to the row around it. Where the code goes from one row to
another, what the clock has gone on since the last time is added to the first one's own time, and the call is counted
to the second. Numbers in registers are measured with what is around them: their own clock would take longer than they
do. A function without a meter has none of this.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ....ir.graph import Operation
from .llvm_types import Register, integer, ir
from .scalar_builder import Arithmetic

TABLE = "meter"
"""What the table is called among what is known only when the code is loaded."""

_UNMEASURED = frozenset({"cond", "switch"})
_WORD = 8
_MONOTONIC = 1


class Row:
    """A place in the code: the operations that are computed there, the row around it, bytes of its buffers."""

    def __init__(self, operations: Sequence[Operation], parent: int) -> None:
        self.operations = tuple(operations)
        self.parent = parent
        self.bytes = 0


class Instrumentation:
    """Writes the clocks of a function. In the table each row has its own time, and how often it was come to."""

    def __init__(self, e: Any) -> None:
        self.rows = [Row((), -1)]
        self.table: Any = None  # the notes, once the code is loaded
        self._e = e
        self._current = 0
        self._last = e.slot(integer(64))
        self._fresh = 0
        self._time = e.slot(integer(64), 2)
        e.b.store(self._clock(), self._last)

    def finish(self) -> None:
        """The function is done: the time of its own is complete, and its call counts."""
        self._goes_to(0)

    def allocates(self, size: int) -> None:
        """A buffer is made for what is computed next."""
        self._fresh += size

    def begin(self, operations: Sequence[Operation]) -> tuple[int, list[Any]]:
        """Something begins; what `end` or `retract` is to be told of it."""
        block = self._e.b.block
        before = set(map(id, block.instructions))
        outer = self._current
        self.rows.append(Row(operations, outer))
        self.rows[-1].bytes, self._fresh = self._fresh, 0
        self._goes_to(len(self.rows) - 1)
        return outer, [each for each in block.instructions if id(each) not in before]

    def end(self, outer: int) -> None:
        """It ends."""
        self.rows[self._current].bytes += self._fresh
        self._fresh = 0
        self._goes_to(outer, counts=False)

    def retract(self, outer: int, written: Sequence[Any], block: Any) -> None:
        """It was nothing that is worth a clock."""
        gone = set(map(id, written))
        block.instructions[:] = [each for each in block.instructions if id(each) not in gone]
        self._e.b.position_at_end(self._e.b.block)
        self._fresh += self.rows.pop().bytes
        self._current = outer

    def stands_at(self, operations: Sequence[Operation]) -> bool:
        """Whether these operations are being measured already."""
        return self.rows[self._current].operations == tuple(operations)

    def _goes_to(self, row: int, counts: bool = True) -> None:
        b, now = self._e.b, self._clock()
        table = self._e.host(TABLE)
        self._add(table, 2 * self._current, b.sub(now, b.load(self._last, typ=integer(64))))
        if counts:
            self._add(table, 2 * row + 1, integer(64)(1))
        b.store(now, self._last)
        self._current = row

    def _add(self, table: Register, place: int, more: Register) -> None:
        b = self._e.b
        where = b.gep(table, [integer(64)(_WORD * place)], source_etype=integer(8))
        b.store(b.add(b.load(where, typ=integer(64)), more), where)

    def _clock(self) -> Register:
        """A time in units of the processor's, or nanoseconds."""
        if has_cycles():
            return self._e.call("llvm.readcyclecounter", integer(64))
        self._e.call("clock_gettime", integer(32), integer(32)(_MONOTONIC), self._time)
        b = self._e.b
        behind = b.gep(self._time, [integer(64)(_WORD)], source_etype=integer(8))
        seconds, more = (b.load(where, typ=integer(64)) for where in (self._time, behind))
        return b.add(b.mul(seconds, integer(64)(1_000_000_000)), more)


def has_cycles() -> bool:
    """Whether programs may read the processor's counter of cycles."""
    return platform.machine().lower() in ("x86_64", "amd64")


class Measuring(Arithmetic):
    """What an emitter does for its meter, where it has one."""

    meter: Instrumentation | None = None
    operation: Operation | None = None  # what is being lowered
    group: Sequence[Any] = ()  # the lazy nodes that the next nest computes
    bulk = 0  # loops that have been opened

    function: Any
    _groups: list[Any]

    @contextmanager
    def lowering(self, operation: Operation) -> Iterator[None]:
        """Measure what an operation becomes, if that is more than numbers in registers."""
        outer, self.operation = self.operation, operation
        meter = self.meter
        if meter is None or self._groups or operation.type in _UNMEASURED:
            yield
            self.operation = outer
            return
        block, count, bulk = self.b.block, len(self.function.blocks), self.bulk
        around, written = meter.begin([operation])
        place = len(block.instructions)
        yield
        self.operation = outer
        more = [
            *block.instructions[place:],
            *(i for b in self.function.blocks[count:] for i in b.instructions),
        ]
        is_bulk = self.bulk > bulk or operation.type == "while" or any(map(_is_bulk_call, more))
        if is_bulk:
            meter.end(around)
        elif meter.rows[-1].operations == (operation,) and meter.stands_at([operation]):
            meter.retract(around, written, block)

    def computing(self, only_group: bool) -> int | None:
        """A nest of loops begins, which computes the group, and what is being lowered unless `only_group`."""
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
    """Whether a call works on memory: what works on numbers gives one."""
    return bool(instruction.opname == "call" and instruction.type == ir().VoidType())


def symbols() -> list[tuple[str, int]]:
    """The functions from outside that clocks need, and where they are."""
    if has_cycles():
        return []
    import ctypes

    found = ctypes.CDLL(None).clock_gettime
    return [("clock_gettime", ctypes.cast(found, ctypes.c_void_p).value or 0)]
