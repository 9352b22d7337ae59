"""The dispatch stub: the built-in function that `f(x)` calls, from tensors to a kernel and back without Python code.

    dispatch((fallback, table, …), arguments…)

        arguments match the table    →  the kernel  →  tensors, in the structure that the function returns
        anything else                →  fallback(arguments…), in Python
        a check of the kernel fails  →  failed(arguments…), which reports the error

The stub is compiled once for all functions; a table describes each one (call_codegen.py, call_descriptor.py).
All calls take the fallback while the list `busy` is not empty: while any thread records a graph or a tape.
"""

from __future__ import annotations

from ....core.tensor import EagerTensor
from ..codegen.function_builder import INTERRUPTED
from ..codegen.llvm_types import Register, integer, null, pointer
from ..codegen.routine_builder import Routine
from ..codegen.shared_functions import shared
from .call_codegen import AS_TENSOR, RESULT, WORD
from .cpython_layout import TUPLE_ITEMS, TYPE, offset_of
from .unpack_arguments import MOST, TAKING_HEADER, TENSOR_ARRAY, VARIABLE, ArgumentUnpacker

DISPATCH = "agc_dispatch"

DISPATCH_HEADER = (*TAKING_HEADER, "outputs", "program", "tensor", "kind_rows", "program_rows")
"""The words of the table's header."""

TENSOR_KIND, TENSOR_WATCHED = offset_of(EagerTensor, "_kind"), EagerTensor.__weakrefoffset__
"""Offsets in a tensor of its kind, and of its list of weak references."""

KIND = ("kind",)
STEP = ("step", "number")
"""The fields of the table's rows."""

PUSH_TENSOR, PUSH_OBJECT, MAKE_TUPLE, MAKE_LIST, MAKE_DICT = range(5)
"""The steps that build a result on a stack; each key of a dict precedes its value."""


class _Dispatch(ArgumentUnpacker):
    """Emitter of the dispatch stub."""

    header = DISPATCH_HEADER

    def __init__(self, r: Routine) -> None:
        super().__init__(r)
        self.stack, self.top = self.room(MOST), r.cell(r.word(0))

    def write(self) -> None:
        b = self.b
        self.clear(self.owned, self.count)
        self.check_call()
        self.take_arguments()
        self.take_variables()
        self.check_inputs(self.longer)
        self.make_results(self.lacking)
        code = self.run()
        with self.r.where(self.equal(code, integer(32)(0))):
            self.keep_arrays()
            self._wrap()
            result = self._structured()
            self._assign()
            self._let_go()
            b.ret(result)
        self._let_go()
        with self.r.where(self.equal(code, integer(32)(INTERRUPTED))):
            b.ret(null())
        self._hand_over(self.head("failed"))
        b.position_at_end(self.longer)
        self._let_go()
        self._hand_over(self.field(self.state, TUPLE_ITEMS))
        b.position_at_end(self.lacking)
        self.drop_all(self.stack, self.r.word(0), self.top.get())
        self._let_go()
        b.ret(null())

    def _let_go(self) -> None:
        """Release the owned arrays of inputs, and those of results."""
        self.drop_all(self.objects, self.owned, self.count)

    def is_free(self, kept: Register) -> Register:
        """Return whether a kept array or tensor, and its array, have no other reference, not even a weak one."""
        array = self.array_of(kept)
        watched = self.r.cell(null())
        with self.r.where(self._is_tensor(kept)):
            watched.set(self.field(kept, TENSOR_WATCHED))
        frees = (super().is_free(kept), super().is_free(array), self.equal(watched.get(), null()))
        return self.b.and_(self.b.and_(*frees[:2]), frees[2])

    def array_of(self, kept: Register) -> Register:
        place = self.r.cell(kept)
        with self.r.where(self._is_tensor(kept)):
            place.set(self.field(kept, TENSOR_ARRAY))
        return place.get()

    def _is_tensor(self, kept: Register) -> Register:
        return self.equal(self.field(kept, TYPE), self.head("tensor"))

    def _wrap(self) -> None:
        """Wrap the arrays of outputs in tensors, unless they were kept as tensors, and keep small ones.

        Arrays for variables are not wrapped.
        """
        with self.each(self.number("outputs")) as i:
            place = self.b.add(self.inputs, i)
            found = self.item(self.objects, place)
            with self.r.where(self.b.not_(self._is_tensor(found))):
                self._wrap_array(i, place, found)
            row = self.row("result_rows", i, RESULT)
            with self.r.where(
                self.equal(self.word_of(RESULT, row, "kept", integer(64)), self.r.word(AS_TENSOR))
            ):
                self.keep(self.item(self.objects, place), self.word_of(RESULT, row, "later"))

    def _wrap_array(self, i: Register, place: Register, array: Register) -> None:
        made = self.call("PyType_GenericAlloc", pointer(), self.head("tensor"), self.r.word(0))
        self.demand(self.b.icmp_unsigned("!=", made, null()), self.lacking)
        kind = self.word_of(KIND, self.row("kind_rows", i, KIND), "kind")
        self.take(kind)
        for offset, value in ((TENSOR_ARRAY, array), (TENSOR_KIND, kind)):
            self.b.store(value, self.r.at(integer(8), made, self.r.word(offset)))
        self.r.store(self.objects, place, made)

    def _structured(self) -> Register:
        """Build the function's result step by step on a stack."""
        r, b = self.r, self.b
        with self.each(self.number("program")) as i:
            row = self.row("program_rows", i, STEP)
            step, number = (self.word_of(STEP, row, name, integer(64)) for name in STEP)
            is_leaf = b.icmp_signed("<=", step, r.word(PUSH_OBJECT))
            with r.where(is_leaf):
                place = b.select(
                    self.equal(step, r.word(PUSH_TENSOR)),
                    r.at(pointer(), self.objects, b.add(self.inputs, number)),
                    r.at(integer(8), row, r.word(WORD * STEP.index("number"))),
                )
                leaf = b.load(place, typ=pointer())
                self.take(leaf)
                self._push(leaf)
            with r.where(b.not_(is_leaf)):
                self._nest(step, number)
        return self.item(self.stack, r.word(0))

    def _nest(self, step: Register, count: Register) -> None:
        """Make a tuple, a list or a dict of the topmost objects on the stack."""
        r, b = self.r, self.b
        nest = r.cell(null())
        choices: tuple[tuple[int, str, list[Register]], ...] = (
            (MAKE_TUPLE, "PyTuple_New", [count]),
            (MAKE_LIST, "PyList_New", [count]),
            (MAKE_DICT, "PyDict_New", []),
        )
        for kind, name, arguments in choices:
            with r.where(self.equal(step, r.word(kind))):
                nest.set(self.call(name, pointer(), *arguments))
        made = nest.get()
        self.demand(b.icmp_unsigned("!=", made, null()), self.lacking)
        is_dict = self.equal(step, r.word(MAKE_DICT))
        first = b.sub(self.top.get(), b.select(is_dict, b.shl(count, r.word(1)), count))
        with r.where(is_dict):
            self._fill_dict(made, first, count)
            self.drop_all(self.stack, first, self.top.get())
        for kind, name in ((MAKE_TUPLE, "PyTuple_SetItem"), (MAKE_LIST, "PyList_SetItem")):
            with r.where(self.equal(step, r.word(kind))), self.each(count) as i:
                self.call(name, integer(32), made, i, self.item(self.stack, b.add(first, i)))
        self.top.set(first)
        self._push(made)

    def _fill_dict(self, made: Register, first: Register, count: Register) -> None:
        with self.each(count) as i:
            place = self.b.add(first, self.b.shl(i, self.r.word(1)))
            key, value = (self.item(self.stack, at) for at in (place, self.b.add(place, self.r.word(1))))
            code = self.call("PyDict_SetItem", integer(32), made, key, value)
            with self.r.where(self.b.icmp_signed("!=", code, integer(32)(0))):
                self.drop(made)
                self.b.branch(self.lacking)

    def _push(self, thing: Register) -> None:
        self.r.store(self.stack, self.add(self.top), thing)

    def _assign(self) -> None:
        """Assign the new arrays to the variables, as the last step."""
        with self.each_variable() as i:
            row = self.row("variable_rows", i, VARIABLE)
            result = self.word_of(VARIABLE, row, "result", integer(64))
            with self.r.where(self.b.icmp_signed(">=", result, self.r.word(0))):
                array = self.item(self.objects, self.b.add(self.inputs, result))
                variable, name = self.word_of(VARIABLE, row, "object"), self.head("attribute")
                code = self.call("PyObject_SetAttr", integer(32), variable, name, array)
                self.demand(self.equal(code, integer(32)(0)), self.lacking)

    def _hand_over(self, callee: Register) -> None:
        """Forward the call to `callee`."""
        arguments = (callee, self.arguments, self.given, self.keywords)
        self.b.ret(self.call("PyObject_Vectorcall", pointer(), *arguments))


@shared(DISPATCH, "address", "address", "address", "word", "address")
def _(r: Routine) -> None:
    _Dispatch(r).write()
