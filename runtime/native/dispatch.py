"""The built-in function that `f(x)` calls: from Python's tensors to a kernel and back, without a line of Python.

    dispatch((fallback, table, …), arguments…)

        arguments as the table says  →  the kernel  →  tensors, as the function returns them
        anything else                →  fallback(arguments…), which is Python
        a check of the kernel fails  →  failed(arguments…), which says why

It is compiled once for all functions; what it is to look for, a table says (calls.py, quick.py). Calls
go to the fallback, too, while anybody at all is `busy`: records a graph or a tape, in whatever thread.
"""

from __future__ import annotations

from typing import Any

from ..tensor import EagerTensor
from .calls import HEADER, WORD, Caller
from .emit.emitter import INTERRUPTED
from .emit.routines import Cell, Routine
from .emit.shared import shared
from .emit.types import Register, integer, ir, null, pointer
from .objects import LIST_SIZE, TUPLE_ITEMS, TYPE, WEAK_TARGET, offset_of

MOST = 128
"""The most inputs and results together, and the most parts of what a function returns."""

DISPATCH_HEADER = (
    *HEADER, "arguments", "tensors", "outputs", "program", "busy", "tensor", "attribute", "argument_rows",
    "variable_rows", "kind_rows", "program_rows",
)  # fmt: skip
"""The words of the table."""

ARGUMENT = ("mode", "object")
VARIABLE = ("object", "result")
KIND = ("kind",)
STEP = ("step", "number")
"""The words of its rows."""

IS_TENSOR, IS_OBJECT, IS_ALIVE = range(3)
"""What is asked of an argument: a tensor, this object, or the one that a weak reference has."""

PUSH_TENSOR, PUSH_OBJECT, MAKE_TUPLE, MAKE_LIST, MAKE_DICT = range(5)
"""How results are put together, on a stack; keys of a dict stand before their values."""


class _Dispatch(Caller):
    """Writes the code."""

    header = DISPATCH_HEADER

    def __init__(self, r: Routine) -> None:
        self.state, self.arguments, self.count, self.keywords = r.arguments
        super().__init__(r, r.b.load(r.at(integer(8), self.state, r.word(TUPLE_ITEMS + WORD)), typ=pointer()))
        self.longer, self.lacking = map(r.function.append_basic_block, ("longer", "lacking"))
        self.objects, self.addresses, self.stack = (self.room(MOST) for _ in range(3))
        self.inputs, self.tensors = self.number("inputs"), self.number("tensors")
        self.taken, self.top = (r.cell(r.word(0)) for _ in range(2))
        # Behind the last array that this code owns: of variables, and of results.
        self.held, self.made = r.cell(self.tensors), r.cell(self.inputs)

    def write(self) -> None:
        b = self.b
        self._check_call()
        self._take_arguments()
        self._take_variables()
        self.check_inputs(self.longer)
        self.make_results(self.lacking, self.made)
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
        self.drop_all(self.objects, self.tensors, self.held.get())
        self._hand_over(self.field(self.state, TUPLE_ITEMS))
        b.position_at_end(self.lacking)
        self.drop_all(self.stack, self.r.word(0), self.top.get())
        self._let_go()
        b.ret(null())

    def _let_go(self) -> None:
        """Give up the arrays of variables, and results."""
        self.drop_all(self.objects, self.tensors, self.held.get())
        self.drop_all(self.objects, self.inputs, self.made.get())

    def _check_call(self) -> None:
        self.demand(self.equal(self.keywords, null()), self.longer)
        self.demand(self.equal(self.count, self.number("arguments")), self.longer)
        busy = self.field(self.head("busy"), LIST_SIZE, integer(64))
        self.demand(self.equal(busy, self.r.word(0)), self.longer)

    def _each(self, count: Register) -> Any:
        return self.r.counting(self.r.word(0), count)

    def _add(self, cell: Cell) -> Register:
        """The number that a cell has had until now; it has the next one from now on."""
        number = cell.get()
        cell.set(self.b.add(number, self.r.word(1)))
        return number

    def _take_arguments(self) -> None:
        """Look at each argument, and take the arrays of the tensors."""
        r = self.r
        with self._each(self.count) as i:
            argument = self.item(self.arguments, i)
            row = self.row("argument_rows", i, ARGUMENT)
            mode = self.word_of(ARGUMENT, row, "mode", integer(64))
            is_tensor = self.equal(mode, r.word(IS_TENSOR))
            with r.where(is_tensor):
                self.demand(self.equal(self.field(argument, TYPE), self.head("tensor")), self.longer)
                array = self.field(argument, offset_of(EagerTensor, "_array"))
                self.demand(self.b.icmp_unsigned("!=", array, null()), self.longer)
                r.store(self.objects, self._add(self.taken), array)
            with r.where(self.b.not_(is_tensor)):
                known = self.word_of(ARGUMENT, row, "object")
                place = self.b.select(
                    self.equal(mode, r.word(IS_ALIVE)),
                    r.at(integer(8), known, r.word(WEAK_TARGET)),
                    r.at(integer(8), row, r.word(WORD * ARGUMENT.index("object"))),
                )
                self.demand(self.equal(argument, self.b.load(place, typ=pointer())), self.longer)

    def _variables(self) -> Any:
        return self._each(self.b.sub(self.inputs, self.tensors))

    def _take_variables(self) -> None:
        """Take the arrays of variables, and hold them: others may assign the variables while the kernel runs."""
        with self._variables() as i:
            variable = self.word_of(VARIABLE, self.row("variable_rows", i, VARIABLE), "object")
            array = self.call("PyObject_GetAttr", pointer(), variable, self.head("attribute"))
            with self.r.where(self.equal(array, null())):
                self.call("PyErr_Clear", ir().VoidType())
                self.b.branch(self.longer)
            self.r.store(self.objects, self._add(self.held), array)

    def _wrap(self) -> None:
        """Make tensors of the arrays, in their places; arrays for variables stay what they are."""
        with self._each(self.number("outputs")) as i:
            made = self.call("PyType_GenericAlloc", pointer(), self.head("tensor"), self.r.word(0))
            self.demand(self.b.icmp_unsigned("!=", made, null()), self.lacking)
            kind = self.word_of(KIND, self.row("kind_rows", i, KIND), "kind")
            self.take(kind)
            place = self.b.add(self.inputs, i)
            for name, value in (("_array", self.item(self.objects, place)), ("_kind", kind)):
                where = self.r.at(integer(8), made, self.r.word(offset_of(EagerTensor, name)))
                self.b.store(value, where)
            self.r.store(self.objects, place, made)

    def _structured(self) -> Register:
        """What the function returns, made step by step on a stack."""
        r, b = self.r, self.b
        with self._each(self.number("program")) as i:
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
        """Make a tuple, a list or a dict of what is on top of the stack."""
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
            with r.where(self.equal(step, r.word(kind))), self._each(count) as i:
                self.call(name, integer(32), made, i, self.item(self.stack, b.add(first, i)))
        self.top.set(first)
        self._push(made)

    def _fill_dict(self, made: Register, first: Register, count: Register) -> None:
        with self._each(count) as i:
            place = self.b.add(first, self.b.shl(i, self.r.word(1)))
            key, value = (self.item(self.stack, at) for at in (place, self.b.add(place, self.r.word(1))))
            code = self.call("PyDict_SetItem", integer(32), made, key, value)
            with self.r.where(self.b.icmp_signed("!=", code, integer(32)(0))):
                self.drop(made)
                self.b.branch(self.lacking)

    def _push(self, thing: Register) -> None:
        self.r.store(self.stack, self._add(self.top), thing)

    def _assign(self) -> None:
        """Give the variables their new arrays, when all else is done."""
        with self._variables() as i:
            row = self.row("variable_rows", i, VARIABLE)
            result = self.word_of(VARIABLE, row, "result", integer(64))
            with self.r.where(self.b.icmp_signed(">=", result, self.r.word(0))):
                array = self.item(self.objects, self.b.add(self.inputs, result))
                variable, name = self.word_of(VARIABLE, row, "object"), self.head("attribute")
                code = self.call("PyObject_SetAttr", integer(32), variable, name, array)
                self.demand(self.equal(code, integer(32)(0)), self.lacking)

    def _hand_over(self, callee: Register) -> None:
        """Let another have the call."""
        arguments = (callee, self.arguments, self.count, self.keywords)
        self.b.ret(self.call("PyObject_Vectorcall", pointer(), *arguments))


@shared("agc_dispatch", "address", "address", "address", "word", "address")
def _(r: Routine) -> None:
    _Dispatch(r).write()
