"""A stable merge sort, as a function of the module that sorts keys along with their original indices.

    agc_sort_float32(keys, places, spare keys, spare places, count, thread state, stopped)

The function regularly polls for interrupts: an interrupt sets `stopped` to 1 and ends the sort. Runs of
16 elements are sorted by insertion, then pairs of runs are merged between two buffers. NaN is greater than
all numbers, as in NumPy.
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ..codegen.interrupts import ASK
from ..codegen.llvm_types import Register, integer, memory_type, pointer
from ..codegen.routine_builder import Routine, StackSlot
from ..codegen.shared_functions import outside

_RUN = 16

_PATIENCE = 1 << 22
"""The number of moved elements between two polls for interrupts."""


def before(b: Any, kind: str, x: Register, y: Register) -> Register:
    """Return whether `x` is less than `y`; NaN is the largest."""
    if kind == "f":
        y_is_nan, x_is_number = b.fcmp_unordered("uno", y, y), b.fcmp_ordered("ord", x, x)
        return b.or_(b.fcmp_ordered("<", x, y), b.and_(y_is_nan, x_is_number))
    return b.icmp_signed("<", x, y) if kind == "i" else b.icmp_unsigned("<", x, y)


def sorting(module: Any, dtype: dtypes.DType, with_places: bool) -> Any:
    """Return the function that sorts elements of a dtype, defined in the module on first use."""
    name = f"agc_sort_{dtype.name}_{'places' if with_places else 'alone'}"
    return module.globals.get(name) or _Writer(module, name, dtype, with_places).write()


class _Column:
    """An array that is sorted, or permuted along with the keys: its current buffer and the next one."""

    def __init__(self, r: Routine, kind: Any, size: int, here: Register, there: Register) -> None:
        self.r, self.kind, self.size = r, kind, size
        self.first, self.here, self.there = here, r.cell(here), r.cell(there)

    def get(self, index: Register) -> Register:
        return self.r.load(self.kind, self.here.get(), index)

    def put(self, index: Register, value: Register) -> None:
        self.r.store(self.here.get(), index, value)

    def give(self, index: Register, value: Register) -> None:
        self.r.store(self.there.get(), index, value)

    def give_rest(self, target: Register, start: Register, count: Register) -> None:
        """Copy the elements from `start` on to the other buffer."""
        r = self.r
        source = r.at(self.kind, self.here.get(), start)
        r.copy(r.at(self.kind, self.there.get(), target), source, self.kind, self.size, count)

    def swap(self) -> None:
        here = self.here.get()
        self.here.set(self.there.get())
        self.there.set(here)


class _Writer:
    """Emits one sort function."""

    def __init__(self, module: Any, name: str, dtype: dtypes.DType, with_places: bool) -> None:
        self.kind = dtype.kind
        self.r = Routine(module, name, [*[pointer()] * 4, integer(64), *[pointer()] * 2])
        keys, numbers, spare_keys, spare_places, self.count, self.state, self.stopped = self.r.arguments
        self.work = self.r.cell(self.r.word(0))
        self.keys = _Column(self.r, memory_type(dtype), dtype.size, keys, spare_keys)
        self.columns = [self.keys]
        if with_places:
            self.columns.append(_Column(self.r, integer(64), 8, numbers, spare_places))

    def write(self) -> Any:
        r = self.r
        with r.where(r.b.icmp_unsigned("!=", r.b.load(self.stopped, typ=integer(8)), integer(8)(0))):
            r.b.ret_void()
        with r.counting(r.word(0), self.count, _RUN) as start:
            self._listen(r.word(4 * _RUN))
            self._insert(start, r.smaller(r.b.add(start, r.word(_RUN)), self.count))
        width = r.cell(r.word(_RUN))
        with r.loop(lambda: r.b.icmp_signed("<", width.get(), self.count)):
            now = width.get()
            twice = r.b.shl(now, r.word(1))
            with r.counting(r.word(0), self.count, twice) as start:
                middle = r.smaller(r.b.add(start, now), self.count)
                self._listen(twice)
                self._merge(start, middle, r.smaller(r.b.add(start, twice), self.count))
            for column in self.columns:
                column.swap()
            width.set(twice)
        moved = r.b.icmp_unsigned("!=", r.b.ptrtoint(self.keys.here.get(), integer(64)), self._address())
        with r.where(moved):
            for column in self.columns:
                column.give_rest(r.word(0), r.word(0), self.count)
        return r.finish()

    def _listen(self, work: Register) -> None:
        """Count work; after enough of it, poll for interrupts, and return if there is one."""
        r = self.r
        self.work.set(r.b.add(self.work.get(), work))
        with r.where(r.b.icmp_signed(">", self.work.get(), r.word(_PATIENCE))):
            self.work.set(r.word(0))
            answer = r.b.call(outside(r.module, ASK, integer(32), pointer()), [self.state])
            with r.where(r.b.icmp_signed("!=", answer, integer(32)(0))):
                r.b.store(integer(8)(1), self.stopped)
                r.b.ret_void()

    def _address(self) -> Register:
        return self.r.b.ptrtoint(self.keys.first, integer(64))

    def _insert(self, start: Register, stop: Register) -> None:
        """Sort a run by insertion."""
        r = self.r
        with r.counting(r.b.add(start, r.word(1)), stop) as number:
            taken = [column.get(number) for column in self.columns]
            position = r.cell(number)

            def must_go_on() -> Register:
                is_inner = r.b.icmp_signed(">", position.get(), start)
                previous = r.b.select(is_inner, r.b.sub(position.get(), r.word(1)), start)
                return r.b.and_(is_inner, before(r.b, self.kind, taken[0], self.keys.get(previous)))

            with r.loop(must_go_on):
                now = position.get()
                previous = r.b.sub(now, r.word(1))
                for column in self.columns:
                    column.put(now, column.get(previous))
                position.set(previous)
            for column, element in zip(self.columns, taken, strict=True):
                column.put(position.get(), element)

    def _merge(self, start: Register, middle: Register, stop: Register) -> None:
        """Merge two sorted runs into the other buffer; equal elements of the first run come first."""
        r = self.r
        left, right, target = r.cell(start), r.cell(middle), r.cell(start)

        def both_have() -> Register:
            first = r.b.icmp_signed("<", left.get(), middle)
            return r.b.and_(first, r.b.icmp_signed("<", right.get(), stop))

        with r.loop(both_have):
            i, j = left.get(), right.get()
            takes_right = before(r.b, self.kind, self.keys.get(j), self.keys.get(i))
            chosen, step = r.b.select(takes_right, j, i), r.b.zext(takes_right, integer(64))
            for column in self.columns:
                column.give(target.get(), column.get(chosen))
            right.set(r.b.add(j, step))
            left.set(r.b.add(i, r.b.sub(r.word(1), step)))
            target.set(r.b.add(target.get(), r.word(1)))
        self._give_rest(target, left, middle)
        self._give_rest(target, right, stop)

    def _give_rest(self, target: StackSlot, here: StackSlot, stop: Register) -> None:
        r = self.r
        count = r.b.sub(stop, here.get())
        for column in self.columns:
            column.give_rest(target.get(), here.get(), count)
        target.set(r.b.add(target.get(), count))
