"""Emission of the array handling that both entries from Python share (entry_stub.py, dispatch_stub.py).

    check the inputs  →  allocate the results  →  run the kernel  →  keep arrays for a later call

The same code serves all functions. A table describes one function: the words of `HEADER`, and rows of words
for its inputs and results. `Words` makes these tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....ir.value_types import TensorType
from ..arena import LARGEST, FreeList, size_of
from ..codegen.llvm_types import Register, integer, ir, null, pointer
from ..codegen.routine_builder import Routine
from ..codegen.scalar_builder import Callee
from ..codegen.shared_functions import outside, shared
from ..gil import leave_lock, take_lock
from .cpython_layout import C_ORDER_AND_ALIGNED, DATA, DTYPE, FLAGS, OWN_AND_WRITEABLE, RANK, SIZES, TYPE

if TYPE_CHECKING:
    from ..loader import Kernel

WORD = 8

HEADER = ("run", "is_long", "inputs", "results", "ndarray", "failed", "input_rows", "result_rows")
INPUT = ("rank", "sizes", "dtype")
RESULT = ("rank", "sizes", "number", "spare", "later", "kept")
"""The fields of a result.

`kept` is the index, among inputs and results, of the array to keep, or `AS_TENSOR`. `spare` and `later` are
the addresses of arrays kept for the next call and the call after that, or 0 for arrays that are too large to
keep. A small array is reused by the call after the next one, so that `y = f(y)` finds a free array.
"""

RUN = "agc_run"

AS_TENSOR = -1
"""Keep the tensor that wraps the array, instead of the array (dispatch_stub.py)."""

Row = Sequence[int]


class Caller:
    """Emitter of such code. `objects` are the arrays of inputs and results, `addresses` their elements."""

    header: tuple[str, ...] = HEADER
    objects: Register
    addresses: Register

    def __init__(self, r: Routine, table: Register) -> None:
        self.r, self.b = r, r.b
        self.table = self.field(table, DATA)

    # Building blocks

    def field(self, base: Register, offset: int, kind: Any = None) -> Register:
        return self.b.load(self.r.at(integer(8), base, self.r.word(offset)), typ=kind or pointer())

    def head(self, name: str, kind: Any = None) -> Register:
        """Load a word of the table header."""
        return self.field(self.table, WORD * self.header.index(name), kind)

    def number(self, name: str) -> Register:
        return self.head(name, integer(64))

    def row(self, name: str, number: Register, fields: tuple[str, ...]) -> Register:
        """Return the address of a row."""
        return self.r.at(integer(8), self.head(name), self.b.mul(number, self.r.word(WORD * len(fields))))

    def item(self, things: Register, number: Register) -> Register:
        return self.r.load(pointer(), things, number)

    def room(self, count: Register | int) -> Register:
        """Allocate space for `count` pointers on the stack."""
        made = self.b.alloca(pointer(), count)
        made.type = pointer()
        return made

    def slot(self, kind: Any = None) -> Register:
        made = self.r.top.alloca(kind or pointer())
        made.type = pointer()
        return made

    def equal(self, a: Register, b: Register) -> Register:
        return self.b.icmp_unsigned("==", a, b)

    def demand(self, holds: Register, otherwise: Any) -> None:
        """Branch to `otherwise` unless `holds` is true."""
        onward = self.r.function.append_basic_block("onward")
        self.b.cbranch(holds, onward, otherwise)
        self.b.position_at_end(onward)

    def call(self, name: str, result: Any, *arguments: Register) -> Register:
        return self.b.call(outside(self.r.module, name, result, *[a.type for a in arguments]), arguments)

    def take(self, thing: Register) -> None:
        self.call("Py_IncRef", ir().VoidType(), thing)

    def drop(self, thing: Register) -> None:
        """Release a reference; the object may be null."""
        self.call("Py_DecRef", ir().VoidType(), thing)

    def drop_all(self, things: Register, start: Register, stop: Register) -> None:
        with self.r.counting(start, stop) as number:
            self.drop(self.item(things, number))

    # Arrays

    def check_inputs(self, otherwise: Any) -> None:
        """Check the input arrays against the table, and store the addresses of their elements."""
        with self.r.counting(self.r.word(0), self.number("inputs")) as number:
            array = self.item(self.objects, number)
            self._check(self.row("input_rows", number, INPUT), array, otherwise)
            self.r.store(self.addresses, number, self.field(array, DATA))

    def _check(self, row: Register, array: Register, otherwise: Any) -> None:
        r, whole = self.r, integer(32)
        rank = self.word_of(INPUT, row, "rank", integer(64))
        for found, wanted in (
            (self.field(array, TYPE), self.head("ndarray")),
            (self.field(array, DTYPE), self.word_of(INPUT, row, "dtype")),
            (self.field(array, RANK, whole), self.b.trunc(rank, whole)),
            (self._flags(array, C_ORDER_AND_ALIGNED), whole(C_ORDER_AND_ALIGNED)),
        ):
            self.demand(self.equal(found, wanted), otherwise)
        sizes, known = self.field(array, SIZES), self.word_of(INPUT, row, "sizes")
        with r.counting(r.word(0), rank) as axis:
            found, wanted = (r.load(integer(64), x, axis) for x in (sizes, known))
            self.demand(self.equal(found, wanted), otherwise)

    def clear(self, start: Register, stop: Register) -> None:
        """Set a range of `objects` to null, so that it can be released at any time."""
        with self.r.counting(start, stop) as number:
            self.r.store(self.objects, number, null())

    def make_results(self, lacking: Any) -> None:
        """Get an array for each result."""
        inputs = self.number("inputs")
        with self.r.counting(self.r.word(0), self.number("results")) as number:
            place = self.b.add(inputs, number)
            found = self._result(self.row("result_rows", number, RESULT), lacking)
            self.r.store(self.objects, place, found)
            self.r.store(self.addresses, place, self.field(self.array_of(found), DATA))

    def _result(self, row: Register, lacking: Any) -> Register:
        """Return the kept array if it is free, else a new array."""
        r, b = self.r, self.b
        found = self.slot()
        b.store(null(), found)
        spare, later = (self.word_of(RESULT, row, name) for name in ("spare", "later"))
        with r.where(b.icmp_unsigned("!=", spare, null())):
            kept = b.load(spare, typ=pointer())
            b.store(b.load(later, typ=pointer()), spare)
            b.store(null(), later)
            with r.where(b.icmp_unsigned("!=", kept, null())):
                with r.where(is_free := self.is_free(kept)):
                    b.store(kept, found)
                with r.where(b.not_(is_free)):
                    self.drop(kept)
        with r.where(self.equal(b.load(found, typ=pointer()), null())):
            made = self._new(row)
            self.demand(b.icmp_unsigned("!=", made, null()), lacking)
            b.store(made, found)
        return b.load(found, typ=pointer())

    def is_free(self, kept: Register) -> Register:
        """Return whether there is no other reference to `kept`."""
        return self.equal(self.field(kept, 0, integer(32)), integer(32)(1))

    def array_of(self, kept: Register) -> Register:
        """Return the array of a kept object."""
        return kept

    def _new(self, row: Register) -> Register:
        whole = integer(32)
        rank, number = (
            self.b.trunc(self.word_of(RESULT, row, name, integer(64)), whole) for name in ("rank", "number")
        )
        sizes = self.word_of(RESULT, row, "sizes")
        arguments = self.head("ndarray"), rank, sizes, number, null(), null(), whole(0), whole(0), null()
        return self.call("PyArray_New", pointer(), *arguments)

    def keep_arrays(self) -> None:
        """Keep an array for a later call for each result: the result itself, or a variable's previous array."""
        b, wanted = self.b, integer(32)(OWN_AND_WRITEABLE)
        with self.r.counting(self.r.word(0), self.number("results")) as number:
            row = self.row("result_rows", number, RESULT)
            later = self.word_of(RESULT, row, "later")
            kept = self.word_of(RESULT, row, "kept", integer(64))
            is_array = b.icmp_signed("!=", kept, self.r.word(AS_TENSOR))
            with self.r.where(b.and_(is_array, b.icmp_unsigned("!=", later, null()))):
                array = self.item(self.objects, kept)
                with self.r.where(self.equal(self._flags(array, OWN_AND_WRITEABLE), wanted)):
                    self.keep(array, later)

    def keep(self, thing: Register, place: Register) -> None:
        """Store a reference at `place`, and release the previous one."""
        before = self.b.load(place, typ=pointer())
        self.take(thing)
        self.b.store(thing, place)
        self.drop(before)

    def run(self) -> Register:
        """Run the kernel and return its code. A long kernel runs without the GIL."""
        return _run(self.r, self.head("run"), self.addresses, self.number("is_long"))

    def _flags(self, array: Register, flags: int) -> Register:
        return self.b.and_(self.field(array, FLAGS, integer(32)), integer(32)(flags))

    def word_of(self, fields: tuple[str, ...], row: Register, name: str, kind: Any = None) -> Register:
        """Load a word of a row."""
        return self.field(row, WORD * fields.index(name), kind)


def _run(r: Routine, run: Register, addresses: Register, is_long: Register) -> Register:
    b = r.b
    state = r.top.alloca(pointer())
    state.type = pointer()
    b.store(null(), state)
    with r.where(b.icmp_signed("!=", is_long, r.word(0))):
        leave_lock(r, state)
    kernel = Callee(run, ir().FunctionType(integer(32), [pointer(), pointer()]))
    code = b.call(kernel, [addresses, state])
    take_lock(r, state)
    return code


@shared(RUN, "code", "address", "address", "word")
def _(r: Routine) -> None:
    """Run a kernel for callers that have the addresses of all arrays (ctypes_entry.py)."""
    r.b.ret(_run(r, *r.arguments))


class Words:
    """Tables of words for native code. They live as long as this object, and so do all objects in them."""

    def __init__(self) -> None:
        self._needed: list[Any] = []

    def rows(self, rows: Sequence[Row]) -> int:
        """Make a table of rows, and return its address."""
        made = np.array(rows if len(rows) else [0], np.int64)
        self._needed.append(made)
        return made.ctypes.data

    def id(self, thing: Any) -> int:
        """Return the address of an object, and keep the object alive."""
        self._needed.append(thing)
        return id(thing)

    def of_kernel(self, kernel: Kernel, failed: Any, wraps: bool = False) -> dict[str, int]:
        """Return the words of `HEADER` by name.

        With `wraps`, results become tensors, which are kept instead of arrays.
        """
        self._needed.append(kernel)
        return {
            "run": kernel.address, "is_long": int(kernel.is_long), "inputs": len(kernel.inputs),
            "results": len(kernel.results), "ndarray": id(np.ndarray), "failed": self.id(failed),
            "input_rows": self.rows([self._input(spec) for spec in kernel.inputs]),
            "result_rows": self.rows(self._results(kernel, wraps)),
        }  # fmt: skip

    def _shape(self, spec: TensorType) -> tuple[int, int]:
        """Return the rank, and the address of the sizes."""
        sizes = [size or 0 for size in spec.shape or ()]
        return len(sizes), self.rows([sizes])

    def _input(self, spec: TensorType) -> Row:
        return *self._shape(spec), self.id(np.dtype(spec.dtype.name))

    def _results(self, kernel: Kernel, wraps: bool) -> list[Row]:
        outputs = len(kernel.results) - len(kernel.assigned)
        spares = FreeList(2 * len(kernel.results))
        self._needed.append(spares)
        rows: list[Row] = []
        for number, spec in enumerate(kernel.results):
            kept = len(kernel.inputs) + number if number < outputs else kernel.assigned[number - outputs]
            spare = spares.table.ctypes.data + 2 * WORD * number
            places = spare, spare + WORD
            if number in kernel.spares or size_of(spec) > LARGEST:
                places = (kernel.spares.get(number, 0),) * 2
            elif wraps and number < outputs:
                kept = AS_TENSOR
            rows.append((*self._shape(spec), spec.dtype.numpy.num, *places, kept))
        return rows
