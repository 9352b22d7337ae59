"""The entry stub: native code that reads NumPy arrays directly, and runs a kernel on them.

    entry(table, [array, …])  ->  (array, …)

One stub serves all functions; a table describes the inputs and results of each (call_codegen.py). The stub
checks type, dtype, shape and memory order of each array, allocates the results, and runs the kernel. If an
array does not match, the stub calls the Python function `mismatch` with the same list, and `failed` if a
check in the kernel fails.
"""

from __future__ import annotations

from ..codegen.function_builder import INTERRUPTED
from ..codegen.llvm_types import Register, integer, null, pointer
from ..codegen.routine_builder import Routine
from ..codegen.shared_functions import shared
from .call_codegen import HEADER, Caller
from .cpython_layout import LIST_ITEMS, SIZE, TYPE

ENTRY_HEADER = (*HEADER, "list", "mismatch")
"""The words of the table's header."""


class _Entry(Caller):
    """Emitter of the entry stub."""

    header = ENTRY_HEADER

    def write(self) -> None:
        r, b = self.r, self.b
        given = r.arguments[1]
        mismatch, lacking = map(r.function.append_basic_block, ("mismatch", "lacking"))
        inputs, results = self.number("inputs"), self.number("results")
        self.demand(self.equal(self.field(given, TYPE), self.head("list")), mismatch)
        self.demand(self.equal(self.field(given, SIZE, integer(64)), inputs), mismatch)
        items = self.field(given, LIST_ITEMS)
        count = b.add(inputs, results)
        self.objects, self.addresses = (self.room(count) for _ in range(2))
        with r.counting(r.word(0), inputs) as number:
            r.store(self.objects, number, self.item(items, number))
        self.check_inputs(mismatch)
        self.clear(inputs, count)
        self.make_results(lacking)
        code = self.run()
        with r.where(self.equal(code, integer(32)(0))):
            self.keep_arrays()
            b.ret(self._tuple(inputs, results))
        self.drop_all(self.objects, inputs, count)
        with r.where(self.equal(code, integer(32)(INTERRUPTED))):
            b.ret(null())
        b.ret(self.call("PyObject_CallOneArg", pointer(), self.head("failed"), given))
        b.position_at_end(mismatch)
        b.ret(self.call("PyObject_CallOneArg", pointer(), self.head("mismatch"), given))
        b.position_at_end(lacking)
        self.drop_all(self.objects, inputs, count)
        b.ret(null())

    def _tuple(self, inputs: Register, results: Register) -> Register:
        made = self.call("PyTuple_New", pointer(), results)
        with self.r.counting(self.r.word(0), results) as number:
            array = self.item(self.objects, self.b.add(inputs, number))
            self.call("PyTuple_SetItem", integer(32), made, number, array)
        return made


@shared("agc_entry", "address", "address", "address")
def _(r: Routine) -> None:
    _Entry(r, r.arguments[0]).write()
