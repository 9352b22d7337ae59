"""The built-in function that `f(x)` calls: from Python's tensors to a kernel and back, without a line of Python.

    dispatch((fallback, table, …), arguments…)

        arguments as the table says  →  the kernel  →  tensors, as the function returns them
        anything else                →  fallback(arguments…), which is Python
        a check of the kernel fails  →  failed(arguments…), which says why

It is compiled once for all functions; what it is to look for, a table of numbers and addresses says (quick.py). Calls
go to the fallback, too, while anybody at all is `busy`: records a graph or a tape, in whatever thread.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from ..tensor import EagerTensor
from . import engine
from .emit.arithmetic import Callee
from .emit.emitter import INTERRUPTED
from .emit.types import Register, integer, ir, pointer
from .objects import (
    C_ORDER_AND_ALIGNED,
    DATA,
    DTYPE,
    FLAGS,
    LIST_SIZE,
    OWN_AND_WRITEABLE,
    RANK,
    SIZES,
    TUPLE_ITEMS,
    TYPE,
    WEAK_TARGET,
    offset_of,
)  # fmt: skip
from .symbols import declare_symbols

MOST = 128
"""The most inputs and results together, and the most parts of what a function returns."""

HEADER = (
    "kernel", "is_long", "arguments", "tensors", "inputs", "results", "outputs", "failed", "program", "busy",
    "tensor", "ndarray", "attribute", "argument_rows", "variable_rows", "input_rows", "result_rows", "program_rows",
)  # fmt: skip
"""The first words of a table; `…_rows` are addresses."""

ARGUMENT = ("mode", "object")
VARIABLE = ("object", "result")
INPUT = ("dtype", "rank", "sizes")
RESULT = ("number", "rank", "sizes", "spare", "later", "kept", "kind")
STEP = ("step", "number")
"""The words of the rows."""

IS_TENSOR, IS_OBJECT, IS_ALIVE = range(3)
"""What is asked of an argument: a tensor, this object, or the one that a weak reference has."""

PUSH_TENSOR, PUSH_OBJECT, MAKE_TUPLE, MAKE_LIST, MAKE_DICT = range(5)
"""How results are put together, on a stack; keys of a dict stand before their values."""


@functools.cache
def dispatcher() -> tuple[int, Any]:
    """The address of the built-in's code, and what must live as long as that is used."""
    declare_symbols()
    code = engine.Code(engine.assembled(_Writer().text()))
    return code.function("dispatch"), code


class _Writer:
    """Writes the code."""

    def __init__(self) -> None:
        self.module = ir().Module("dispatch")
        kind = ir().FunctionType(pointer(), [pointer(), pointer(), integer(64), pointer()])
        self.function = ir().Function(self.module, kind, "dispatch")
        self.state, self.arguments, self.count, self.keywords = self.function.args
        self.b = ir().IRBuilder(self.function.append_basic_block("entry"))
        self.longer, self.lacking = map(self.function.append_basic_block, ("longer", "lacking"))
        self.null = ir().Constant(pointer(), None)
        self.table = self.load(self.load(self.state, TUPLE_ITEMS + 8), DATA)
        self.arrays, self.data, self.tensors, self.stack = (self._room() for _ in range(4))
        self.slot, self.found, self.nest = (self.b.alloca(pointer()) for _ in range(3))
        self.taken, self.made, self.top = (self.b.alloca(integer(64)) for _ in range(3))
        for counter in (self.taken, self.made, self.top):
            self.b.store(_word(0), counter)
        self.held = self.b.alloca(integer(64))
        self.b.store(self.number("tensors"), self.held)
        self._write()

    def text(self) -> str:
        return str(self.module)

    def _room(self) -> Register:
        return self.b.alloca(pointer(), MOST)

    # What the code is made of.

    def load(self, base: Register, offset: int | Register, kind: Any = None) -> Register:
        return self.b.load(self.at(base, offset), typ=kind or pointer())

    def at(self, base: Register, offset: int | Register) -> Register:
        place = _word(offset) if isinstance(offset, int) else offset
        return self.b.gep(base, [place], source_etype=integer(8))

    def item(self, base: Register, number: Register) -> Register:
        return self.b.gep(base, [number], source_etype=pointer())

    def head(self, name: str, kind: Any = None) -> Register:
        return self.load(self.table, 8 * HEADER.index(name), kind)

    def number(self, name: str) -> Register:
        return self.head(name, integer(64))

    def row(self, name: str, number: Register, fields: tuple[str, ...]) -> Register:
        return self.at(self.head(name), self.b.mul(number, _word(8 * len(fields))))

    def field(self, row: Register, fields: tuple[str, ...], name: str, kind: Any = None) -> Register:
        return self.load(row, 8 * fields.index(name), kind)

    def call(self, name: str, result: Any, *arguments: Register) -> Register:
        found = self.module.globals.get(name)
        if found is None:
            kind = ir().FunctionType(result, [a.type for a in arguments])
            found = ir().Function(self.module, kind, name)
        return self.b.call(found, arguments)

    def take(self, thing: Register) -> None:
        self.call("Py_IncRef", ir().VoidType(), thing)

    def drop(self, thing: Register) -> None:
        self.call("Py_DecRef", ir().VoidType(), thing)

    def demand(self, holds: Register, otherwise: Any) -> None:
        onward = self.function.append_basic_block("onward")
        self.b.cbranch(holds, onward, otherwise)
        self.b.position_at_end(onward)

    def equal(self, a: Register, b: Register) -> Register:
        return self.b.icmp_unsigned("==", a, b)

    def is_there(self, a: Register) -> Register:
        return self.b.icmp_unsigned("!=", a, self.null)

    def add_to(self, counter: Register, delta: int | Register) -> None:
        change = _word(delta) if isinstance(delta, int) else delta
        self.b.store(self.b.add(self.b.load(counter, typ=integer(64)), change), counter)

    @contextlib.contextmanager
    def loop(self, count: Register, first: Register | None = None) -> Iterator[Register]:
        """The numbers from `first`, or zero, up to `count`."""
        names = ("head", "body", "behind")
        head, body, behind = (self.function.append_basic_block(name) for name in names)
        before = self.b.block
        self.b.branch(head)
        self.b.position_at_end(head)
        i = self.b.phi(integer(64))
        i.add_incoming(_word(0) if first is None else first, before)
        self.b.cbranch(self.b.icmp_signed("<", i, count), body, behind)
        self.b.position_at_end(body)
        yield i
        i.add_incoming(self.b.add(i, _word(1)), self.b.block)
        self.b.branch(head)
        self.b.position_at_end(behind)

    # The code, from its beginning to its end.

    def _write(self) -> None:
        self._check_call()
        self._take_arguments()
        self._take_variables()
        self._check_inputs()
        self._make_results()
        good, bad = map(self.function.append_basic_block, ("good", "bad"))
        code = self._run()
        self.b.cbranch(self.equal(code, integer(32)(0)), good, bad)
        self.b.position_at_end(good)
        self._keep_spares()
        self._wrap()
        result = self._structured()
        self._assign()
        self._drop_all(self.tensors, self.number("results"))
        self._let_variables_go()
        self.b.ret(result)
        self._write_failures(bad, code)

    def _check_call(self) -> None:
        self.demand(self.equal(self.keywords, self.null), self.longer)
        self.demand(self.equal(self.count, self.number("arguments")), self.longer)
        busy = self.load(self.head("busy"), LIST_SIZE, integer(64))
        self.demand(self.equal(busy, _word(0)), self.longer)

    def _take_arguments(self) -> None:
        """Look at each argument, and take the arrays of the tensors."""
        tensor = self.head("tensor")
        with self.loop(self.count) as i:
            argument = self.b.load(self.item(self.arguments, i), typ=pointer())
            row = self.row("argument_rows", i, ARGUMENT)
            mode = self.field(row, ARGUMENT, "mode", integer(64))
            with self.b.if_else(self.equal(mode, _word(IS_TENSOR))) as (is_tensor, is_other):
                with is_tensor:
                    self.demand(self.equal(self.load(argument, TYPE), tensor), self.longer)
                    array = self.load(argument, offset_of(EagerTensor, "_array"))
                    self.demand(self.is_there(array), self.longer)
                    self.b.store(array, self.item(self.arrays, self.b.load(self.taken, typ=integer(64))))
                    self.add_to(self.taken, 1)
                with is_other:
                    known = self.field(row, ARGUMENT, "object")
                    is_alive = self.equal(mode, _word(IS_ALIVE))
                    place = self.b.select(is_alive, self.at(known, WEAK_TARGET), self.at(row, 8))
                    self.demand(self.equal(argument, self.b.load(place, typ=pointer())), self.longer)

    def _variable_rows(self) -> Any:
        return self.loop(self.b.sub(self.number("inputs"), self.number("tensors")))

    def _take_variables(self) -> None:
        """Take the arrays of variables, and hold them: others may assign the variables while the kernel runs."""
        with self._variable_rows() as i:
            variable = self.field(self.row("variable_rows", i, VARIABLE), VARIABLE, "object")
            array = self.call("PyObject_GetAttr", pointer(), variable, self.head("attribute"))
            with self.b.if_then(self.equal(array, self.null)):
                self.call("PyErr_Clear", ir().VoidType())
                self.b.branch(self.longer)
            self.b.store(array, self.item(self.arrays, self.b.load(self.held, typ=integer(64))))
            self.add_to(self.held, 1)

    def _check_inputs(self) -> None:
        ndarray, flags = self.head("ndarray"), integer(32)(C_ORDER_AND_ALIGNED)
        with self.loop(self.number("inputs")) as i:
            array = self.b.load(self.item(self.arrays, i), typ=pointer())
            row = self.row("input_rows", i, INPUT)
            self.demand(self.equal(self.load(array, TYPE), ndarray), self.longer)
            self.demand(self.equal(self.load(array, DTYPE), self.field(row, INPUT, "dtype")), self.longer)
            rank = self.field(row, INPUT, "rank", integer(64))
            found = self.b.sext(self.load(array, RANK, integer(32)), integer(64))
            self.demand(self.equal(found, rank), self.longer)
            own = self.b.and_(self.load(array, FLAGS, integer(32)), flags)
            self.demand(self.equal(own, flags), self.longer)
            sizes, wanted = self.load(array, SIZES), self.field(row, INPUT, "sizes")
            with self.loop(rank) as axis:
                size, other = (self.b.load(self.item(x, axis), typ=integer(64)) for x in (sizes, wanted))
                self.demand(self.equal(size, other), self.longer)
            self.b.store(self.load(array, DATA), self.item(self.data, i))

    def _let_variables_go(self) -> None:
        self._drop_all(self.arrays, self.b.load(self.held, typ=integer(64)), self.number("tensors"))

    def _drop_all(self, things: Register, count: Register, first: Register | None = None) -> None:
        with self.loop(count, first) as i:
            self.drop(self.b.load(self.item(things, i), typ=pointer()))

    def _make_results(self) -> None:
        inputs = self.number("inputs")
        with self.loop(self.number("results")) as i:
            row = self.row("result_rows", i, RESULT)
            array = self._spare(row)
            self.b.store(array, self.item(self.tensors, i))
            self.add_to(self.made, 1)
            self.b.store(self.load(array, DATA), self.item(self.data, self.b.add(inputs, i)))

    def _spare(self, row: Register) -> Register:
        """The array of a result: the one that was kept, if nobody else has it any more, or a new one."""
        b, found = self.b, self.found
        b.store(self.null, found)
        slot, later = (self.field(row, RESULT, name) for name in ("spare", "later"))
        kept = b.load(slot, typ=pointer())
        b.store(b.load(later, typ=pointer()), slot)
        b.store(self.null, later)
        with b.if_then(self.is_there(kept)):
            is_free = b.icmp_signed("==", self.load(kept, 0, integer(32)), integer(32)(1))
            with b.if_else(is_free) as (free, taken):
                with free:
                    b.store(kept, found)
                with taken:
                    self.drop(kept)
        with b.if_then(self.equal(b.load(found, typ=pointer()), self.null)):
            number, rank = (
                b.trunc(self.field(row, RESULT, name, integer(64)), integer(32))
                for name in ("number", "rank")
            )
            zero = integer(32)(0)
            arguments = (
                self.head("ndarray"), rank, self.field(row, RESULT, "sizes"), number, self.null, self.null, zero,
                zero, self.null,
            )  # fmt: skip
            made = self.call("PyArray_New", pointer(), *arguments)
            self.demand(self.is_there(made), self.lacking)
            b.store(made, found)
        return b.load(found, typ=pointer())

    def _run(self) -> Register:
        """The kernel's answer; without Python's lock where that takes long."""
        b = self.b
        b.store(self.null, self.slot)
        with b.if_then(b.icmp_signed("!=", self.number("is_long"), _word(0))):
            b.store(self.call("PyEval_SaveThread", pointer()), self.slot)
        kind = ir().FunctionType(integer(32), [pointer(), pointer()])
        code = b.call(Callee(self.head("kernel"), kind), [self.data, self.slot])
        state = b.load(self.slot, typ=pointer())
        with b.if_then(self.is_there(state)):
            self.call("PyEval_RestoreThread", ir().VoidType(), state)
        return code

    def _keep_spares(self) -> None:
        """Keep an array for each result of a later call: the result, or what a variable has had until now.

        Small ones wait for the call after the next, so that `y = f(y)` finds one that is free.
        """
        b, wanted = self.b, integer(32)(OWN_AND_WRITEABLE)
        with self.loop(self.number("results")) as i:
            row = self.row("result_rows", i, RESULT)
            kept = self.field(row, RESULT, "kept", integer(64))
            is_result = b.icmp_signed("<", kept, _word(0))
            place = b.select(is_result, self.item(self.tensors, i), self.item(self.arrays, kept))
            array, later = b.load(place, typ=pointer()), self.field(row, RESULT, "later")
            own = b.and_(self.load(array, FLAGS, integer(32)), wanted)
            with b.if_then(self.equal(own, wanted)):
                before = b.load(later, typ=pointer())
                self.take(array)
                b.store(array, later)
                with b.if_then(self.is_there(before)):
                    self.drop(before)

    def _wrap(self) -> None:
        """Make tensors of the arrays, in their places; arrays for variables stay what they are."""
        b, tensor = self.b, self.head("tensor")
        with self.loop(self.number("outputs")) as i:
            made = self.call("PyType_GenericAlloc", pointer(), tensor, _word(0))
            self.demand(self.is_there(made), self.lacking)
            place = self.item(self.tensors, i)
            b.store(b.load(place, typ=pointer()), self.at(made, offset_of(EagerTensor, "_array")))
            kind = self.field(self.row("result_rows", i, RESULT), RESULT, "kind")
            self.take(kind)
            b.store(kind, self.at(made, offset_of(EagerTensor, "_kind")))
            b.store(made, place)

    def _structured(self) -> Register:
        """What the function returns, made step by step on a stack."""
        b = self.b
        with self.loop(self.number("program")) as i:
            row = self.row("program_rows", i, STEP)
            step, number = (self.field(row, STEP, name, integer(64)) for name in STEP)
            with b.if_else(b.icmp_signed("<=", step, _word(PUSH_OBJECT))) as (is_leaf, is_nest):
                with is_leaf:
                    is_tensor = self.equal(step, _word(PUSH_TENSOR))
                    place = b.select(is_tensor, self.item(self.tensors, number), self.at(row, 8))
                    leaf = b.load(place, typ=pointer())
                    self.take(leaf)
                    self._push(leaf)
                with is_nest:
                    self._nest(step, number)
        return b.load(self.stack, typ=pointer())

    def _nest(self, step: Register, count: Register) -> None:
        """Make a tuple, a list or a dict of what is on top of the stack."""
        b = self.b
        b.store(self.null, self.nest)
        choices: tuple[tuple[int, str, list[Register]], ...] = (
            (MAKE_TUPLE, "PyTuple_New", [count]),
            (MAKE_LIST, "PyList_New", [count]),
            (MAKE_DICT, "PyDict_New", []),
        )
        for kind, name, arguments in choices:
            with b.if_then(self.equal(step, _word(kind))):
                b.store(self.call(name, pointer(), *arguments), self.nest)
        nest, top = b.load(self.nest, typ=pointer()), b.load(self.top, typ=integer(64))
        self.demand(self.is_there(nest), self.lacking)
        with b.if_else(self.equal(step, _word(MAKE_DICT))) as (is_dict, is_row):
            with is_dict:
                first = b.sub(top, b.shl(count, _word(1)))
                self._fill_dict(nest, first, count)
                self._drop_all(self.stack, top, first)
                b.store(first, self.top)
            with is_row:
                first = b.sub(top, count)
                with self.loop(count) as i:
                    part = b.load(self.item(self.stack, b.add(first, i)), typ=pointer())
                    for kind, name in ((MAKE_TUPLE, "PyTuple_SetItem"), (MAKE_LIST, "PyList_SetItem")):
                        with b.if_then(self.equal(step, _word(kind))):
                            self.call(name, integer(32), nest, i, part)
                b.store(first, self.top)
        self._push(nest)

    def _fill_dict(self, made: Register, first: Register, count: Register) -> None:
        with self.loop(count) as i:
            place = self.b.add(first, self.b.shl(i, _word(1)))
            places = (place, self.b.add(place, _word(1)))
            key, value = (self.b.load(self.item(self.stack, each), typ=pointer()) for each in places)
            code = self.call("PyDict_SetItem", integer(32), made, key, value)
            good, bad = map(self.function.append_basic_block, ("good", "bad"))
            self.b.cbranch(self.equal(code, integer(32)(0)), good, bad)
            self.b.position_at_end(bad)
            self.drop(made)
            self.b.branch(self.lacking)
            self.b.position_at_end(good)

    def _push(self, thing: Register) -> None:
        self.b.store(thing, self.item(self.stack, self.b.load(self.top, typ=integer(64))))
        self.add_to(self.top, 1)

    def _assign(self) -> None:
        """Give the variables their new arrays, when all else is done."""
        b = self.b
        with self._variable_rows() as i:
            row = self.row("variable_rows", i, VARIABLE)
            result = self.field(row, VARIABLE, "result", integer(64))
            with b.if_then(b.icmp_signed(">=", result, _word(0))):
                array = b.load(self.item(self.tensors, result), typ=pointer())
                variable, name = self.field(row, VARIABLE, "object"), self.head("attribute")
                code = self.call("PyObject_SetAttr", integer(32), variable, name, array)
                self.demand(self.equal(code, integer(32)(0)), self.lacking)

    def _write_failures(self, bad: Any, code: Register) -> None:
        b = self.b
        b.position_at_end(bad)
        self._drop_all(self.tensors, self.number("results"))
        self._let_variables_go()
        interrupted, failed = map(self.function.append_basic_block, ("interrupted", "failed"))
        b.cbranch(self.equal(code, integer(32)(INTERRUPTED)), interrupted, failed)
        b.position_at_end(interrupted)
        b.ret(self.null)
        b.position_at_end(failed)
        self._hand_over(self.head("failed"))
        b.position_at_end(self.longer)
        self._let_variables_go()
        self._hand_over(self.load(self.state, TUPLE_ITEMS))
        b.position_at_end(self.lacking)
        self._drop_all(self.tensors, b.load(self.made, typ=integer(64)))
        self._drop_all(self.stack, b.load(self.top, typ=integer(64)))
        self._let_variables_go()
        b.ret(self.null)

    def _hand_over(self, callee: Register) -> None:
        """Let another have the call."""
        arguments = (callee, self.arguments, self.count, self.keywords)
        self.b.ret(self.call("PyObject_Vectorcall", pointer(), *arguments))


def _word(number: int) -> Register:
    return integer(64)(number)
