"""What Python calls: code that reads NumPy's arrays itself, and runs a kernel on them.

    entry(table, [array, …])  ->  (array, …)

There is one such code for all functions; a table tells it what one of them takes and gives (loading.py). It looks at
kind, dtype, shape and order of each array, makes the arrays of the results, and runs the kernel, without Python's lock
when that takes long. What does not look as expected, and a check that fails, is handed to Python: to the functions
`mismatch` and `failed`, with the same list. The arrays of large results are kept, and used again as soon as nobody
else has them.
"""

from __future__ import annotations

from typing import Any

from .emit.arithmetic import Callee
from .emit.emitter import INTERRUPTED
from .emit.routines import Routine
from .emit.shared import outside, shared
from .emit.types import Register, integer, ir, null, pointer
from .lock import leave_lock, take_lock
from .objects import (
    C_ORDER_AND_ALIGNED,
    DATA,
    DTYPE,
    FLAGS,
    LIST_ITEMS,
    LIST_SIZE,
    OWN_AND_WRITEABLE,
    RANK,
    SIZES,
    TYPE,
)  # fmt: skip

WORD = 8
# Where things stand in the table of a function, in bytes, and in the rows of its inputs and results.
_RUN, _IS_LONG, _INPUTS, _RESULTS, _LIST, _NDARRAY, _MISMATCH, _FAILED, _INPUT_ROWS, _RESULT_ROWS = range(
    0, 10 * WORD, WORD
)
_ROW_RANK, _ROW_SIZES, _ROW_DTYPE, _INPUT_ROW = range(0, 4 * WORD, WORD)
_ROW_KIND, _ROW_SPARE, _ROW_KEPT, _RESULT_ROW = range(2 * WORD, 6 * WORD, WORD)


class _Entry:
    """Writes the entry, which one table tells what belongs to the function that is called (see `_table`)."""

    def __init__(self, r: Routine) -> None:
        self.r, self.b = r, r.b
        self.table = self._field(r.arguments[0], DATA)
        self.given = r.arguments[1]
        self._mismatch = r.function.append_basic_block("mismatch")

    def write(self) -> None:
        r, b = self.r, self.b
        inputs, results = self._number(_INPUTS), self._number(_RESULTS)
        items = self._items(inputs)
        count = b.add(inputs, results)
        self.objects, self.addresses = (self._room(count) for _ in range(2))
        rows = self._field(self.table, _INPUT_ROWS)
        with r.counting(r.word(0), inputs) as number:
            array = r.load(pointer(), items, number)
            self._check(r.at(integer(8), rows, b.mul(number, r.word(_INPUT_ROW))), array)
            self._enter(number, array)
        rows = self._field(self.table, _RESULT_ROWS)
        with r.counting(r.word(0), results) as number:
            array = self._result(r.at(integer(8), rows, b.mul(number, r.word(_RESULT_ROW))), number)
            self._enter(b.add(inputs, number), array)
        code = self._run()
        with r.where(b.icmp_signed("==", code, integer(32)(0))):
            with r.counting(r.word(0), results) as number:
                self._keep(r.at(integer(8), rows, b.mul(number, r.word(_RESULT_ROW))))
            b.ret(self._tuple(inputs, results))
        self._release(inputs, count)
        with r.where(b.icmp_signed("==", code, integer(32)(INTERRUPTED))):
            b.ret(null())
        self._hand_over(_FAILED)
        b.position_at_end(self._mismatch)
        self._hand_over(_MISMATCH)

    def _run(self) -> Register:
        """What the kernel says, which has Python's lock unless it takes long."""
        r, b = self.r, self.b
        slot = r.top.alloca(pointer())
        slot.type = pointer()
        b.store(null(), slot)
        with r.where(b.icmp_signed("!=", self._number(_IS_LONG), r.word(0))):
            leave_lock(r, slot)
        run = Callee(self._field(self.table, _RUN), ir().FunctionType(integer(32), [pointer(), pointer()]))
        code = b.call(run, [self.addresses, slot])
        take_lock(r, slot)
        return code

    def _room(self, count: Register) -> Register:
        made = self.b.alloca(pointer(), count)
        made.type = pointer()
        return made

    def _enter(self, number: Register, array: Register) -> None:
        """Note an array, and where its elements stand."""
        self.r.store(self.objects, number, array)
        self.r.store(self.addresses, number, self._field(array, DATA))

    def _items(self, count: Register) -> Register:
        self._demand(self._field(self.given, TYPE), self._field(self.table, _LIST))
        self._demand(self._field(self.given, LIST_SIZE, integer(64)), count)
        return self._field(self.given, LIST_ITEMS)

    def _check(self, row: Register, array: Register) -> None:
        r, whole = self.r, integer(32)
        self._demand(self._field(array, TYPE), self._field(self.table, _NDARRAY))
        self._demand(self._field(array, DTYPE), self._field(row, _ROW_DTYPE))
        rank = self._field(row, _ROW_RANK, integer(64))
        self._demand(self._field(array, RANK, whole), self.b.trunc(rank, whole))
        self._demand_flags(array, C_ORDER_AND_ALIGNED)
        sizes, known = self._field(array, SIZES), self._field(row, _ROW_SIZES)
        with r.counting(r.word(0), rank) as axis:
            self._demand(r.load(integer(64), sizes, axis), r.load(integer(64), known, axis))

    def _demand_flags(self, array: Register, flags: int) -> None:
        self._demand(self._flags(array, flags), integer(32)(flags))

    def _flags(self, array: Register, flags: int) -> Register:
        return self.b.and_(self._field(array, FLAGS, integer(32)), integer(32)(flags))

    def _demand(self, found: Register, wanted: Register) -> None:
        onward = self.r.function.append_basic_block("onward")
        self.b.cbranch(self.b.icmp_unsigned("==", found, wanted), onward, self._mismatch)
        self.b.position_at_end(onward)

    def _field(self, base: Register, offset: int, kind: Any = None) -> Register:
        place = self.b.gep(base, [integer(64)(offset)], source_etype=integer(8))
        return self.b.load(place, typ=kind or pointer())

    def _number(self, offset: int) -> Register:
        return self._field(self.table, offset, integer(64))

    def _result(self, row: Register, number: Register) -> Register:
        """The array of a result: the one that was kept, if nobody else has it any more."""
        r, b = self.r, self.b
        found = r.top.alloca(pointer())
        found.type = pointer()
        b.store(null(), found)
        slot = self._field(row, _ROW_SPARE)
        with r.where(b.icmp_unsigned("!=", slot, null())):
            kept = b.load(slot, typ=pointer())
            b.store(null(), slot)
            with r.where(b.icmp_unsigned("!=", kept, null())):
                is_free = b.icmp_signed("==", self._field(kept, 0, integer(32)), integer(32)(1))
                with r.where(is_free):
                    b.store(kept, found)
                with r.where(b.not_(is_free)):
                    self._call("Py_DecRef", ir().VoidType(), kept)
        with r.where(b.icmp_unsigned("==", b.load(found, typ=pointer()), null())):
            made = self._new(row)
            with r.where(b.icmp_unsigned("==", made, null())):
                inputs = self._number(_INPUTS)
                self._release(inputs, b.add(inputs, number))
                b.ret(null())
            b.store(made, found)
        return b.load(found, typ=pointer())

    def _new(self, row: Register) -> Register:
        whole = integer(32)
        rank, kind = (self.b.trunc(self._field(row, at, integer(64)), whole) for at in (_ROW_RANK, _ROW_KIND))
        arguments = [
            self._field(self.table, _NDARRAY), rank, self._field(row, _ROW_SIZES), kind, null(), null(),
            whole(0), whole(0), null(),
        ]  # fmt: skip
        return self._call("PyArray_New", pointer(), *arguments)

    def _keep(self, row: Register) -> None:
        """Keep an array for a large result of the next call: the result, or what a variable has had until now."""
        r, b = self.r, self.b
        slot = self._field(row, _ROW_SPARE)
        with r.where(b.icmp_unsigned("!=", slot, null())):
            array = r.load(pointer(), self.objects, self._field(row, _ROW_KEPT, integer(64)))
            flags = self._flags(array, OWN_AND_WRITEABLE)
            with r.where(b.icmp_unsigned("==", flags, integer(32)(OWN_AND_WRITEABLE))):
                self._call("Py_IncRef", ir().VoidType(), array)
                self._call("Py_DecRef", ir().VoidType(), b.load(slot, typ=pointer()))
                b.store(array, slot)

    def _release(self, start: Register, stop: Register) -> None:
        """Arrays are not needed any more."""
        with self.r.counting(start, stop) as number:
            self._call("Py_DecRef", ir().VoidType(), self.r.load(pointer(), self.objects, number))

    def _tuple(self, inputs: Register, results: Register) -> Register:
        made = self._call("PyTuple_New", pointer(), results)
        with self.r.counting(self.r.word(0), results) as number:
            array = self.r.load(pointer(), self.objects, self.b.add(inputs, number))
            self._call("PyTuple_SetItem", integer(32), made, number, array)
        return made

    def _hand_over(self, offset: int) -> None:
        """End with what a function of Python gives for the list."""
        function = self._field(self.table, offset)
        self.b.ret(self._call("PyObject_CallOneArg", pointer(), function, self.given))

    def _call(self, name: str, result: Any, *arguments: Register) -> Register:
        return self.b.call(outside(self.r.module, name, result, *[a.type for a in arguments]), arguments)


@shared("agc_entry", "address", "address", "address")
def _(r: Routine) -> None:
    _Entry(r).write()
