"""Emission of the code that checks and unpacks the arguments of a call (dispatch_stub.py).

    f(model, [x], n=3)      the names of keywords; then the parts: the object `model`, a list of 1, the object 3;
                            and after all arguments the item of the list: a tensor, whose array is input 0

A call that does not match the table takes the fallback, without side effects.
"""

from __future__ import annotations

from typing import Any

from ....core.tensor import EagerTensor
from ..codegen.llvm_types import Register, integer, ir, null, pointer
from ..codegen.routine_builder import Cell, Routine
from .call_codegen import HEADER, WORD, Caller
from .cpython_layout import LIST_ITEMS, SIZE, TUPLE_ITEMS, TYPE, WEAK_TARGET, offset_of

TENSOR_ARRAY = offset_of(EagerTensor, "_array")

MOST = 128
"""The maximum number of inputs and results together, and of parts of arguments or results."""

TAKING_HEADER = (
    *HEADER, "positional", "named", "parts", "tensors", "busy", "attribute", "name_rows", "part_rows",
    "variable_rows",
)  # fmt: skip
"""The words of the table's header."""

NAME = ("object",)
PART = ("mode", "type", "thing", "number")
VARIABLE = ("object", "result")
"""The fields of the table's rows."""

IS_TENSOR, IS_ARRAY, IS_OBJECT, IS_ALIVE, IN_TUPLE, IN_LIST, IN_DICT = range(7)
"""The modes of a part.

A part is a tensor or an array, which is input `number`; a given object; the target of a weak reference; or a
tuple, list or dict with `number` items. The items become parts after all parts before them. A dict must have
the given keys in order.
"""


class ArgumentUnpacker(Caller):
    """Emitter of the code that unpacks arguments.

    The references in `objects` from index `owned` on are owned, and null until they are set. References
    before `owned` are borrowed from the arguments: arrays, and arrays of tensors, outside of nested
    structures.
    """

    def __init__(self, r: Routine) -> None:
        self.state, self.arguments, self.given, self.keywords = r.arguments
        super().__init__(r, r.b.load(r.at(integer(8), self.state, r.word(TUPLE_ITEMS + WORD)), typ=pointer()))
        self.longer, self.lacking = map(r.function.append_basic_block, ("longer", "lacking"))
        self.objects, self.addresses, room = (self.room(MOST) for _ in range(3))
        self.inputs, self.tensors = self.number("inputs"), self.number("tensors")
        self.count = self.b.add(self.inputs, self.number("results"))
        self.outer = self.b.add(self.number("positional"), self.number("named"))
        self.has_nests = self.b.icmp_unsigned("!=", self.outer, self.number("parts"))
        self.owned = self.b.select(self.has_nests, r.word(0), self.tensors)
        self.parts = self.b.select(self.has_nests, room, self.arguments)

    def each(self, count: Register) -> Any:
        return self.r.counting(self.r.word(0), count)

    def add(self, cell: Cell) -> Register:
        """Return the value of a cell, and increment the cell."""
        number = cell.get()
        cell.set(self.b.add(number, self.r.word(1)))
        return number

    def check_call(self) -> None:
        """Check the number of arguments, the keywords, and that `busy` is empty."""
        r, zero = self.r, self.r.word(0)
        self.demand(self.equal(self.given, self.number("positional")), self.longer)
        self.demand(self.equal(self.field(self.head("busy"), SIZE, integer(64)), zero), self.longer)
        named = r.cell(zero)
        with r.where(self.b.icmp_unsigned("!=", self.keywords, null())):
            named.set(self.field(self.keywords, SIZE, integer(64)))
        self.demand(self.equal(named.get(), self.number("named")), self.longer)
        names = r.at(integer(8), self.keywords, r.word(TUPLE_ITEMS))
        with self.each(named.get()) as i:
            wanted = self.word_of(NAME, self.row("name_rows", i, NAME), "object")
            self.demand(self.equal(self.item(names, i), wanted), self.longer)

    def take_arguments(self) -> None:
        """Check each part, and take the input arrays."""
        r = self.r
        known = r.cell(self.outer)
        with r.where(self.has_nests), self.each(self.outer) as i:
            r.store(self.parts, i, self.item(self.arguments, i))
        with self.each(self.number("parts")) as i:
            part, row = self.item(self.parts, i), self.row("part_rows", i, PART)
            mode, number = (self.word_of(PART, row, name, integer(64)) for name in ("mode", "number"))
            is_tensor = self.equal(mode, r.word(IS_TENSOR))
            with r.where(is_tensor):  # the most frequent case
                self._check_type(part, row)
                self._take_array(self.field(part, TENSOR_ARRAY), number)
            with r.where(self.b.not_(is_tensor)):
                self._take_other(part, row, mode, number, known)

    def _take_other(
        self, part: Register, row: Register, mode: Register, number: Register, known: Cell
    ) -> None:
        """Check a part that is not a tensor."""
        r = self.r
        is_object = self.b.or_(*(self.equal(mode, r.word(each)) for each in (IS_OBJECT, IS_ALIVE)))
        with r.where(is_object):
            self._check_object(part, row, mode)
        with r.where(self.b.not_(is_object)):
            self._check_type(part, row)
            is_array = self.equal(mode, r.word(IS_ARRAY))
            with r.where(is_array):
                self._take_array(part, number)
            with r.where(self.b.not_(is_array)):
                self._open(part, row, mode, number, known)

    def _check_type(self, part: Register, row: Register) -> None:
        self.demand(self.equal(self.field(part, TYPE), self.word_of(PART, row, "type")), self.longer)

    def _check_object(self, part: Register, row: Register, mode: Register) -> None:
        r = self.r
        place = self.b.select(
            self.equal(mode, r.word(IS_ALIVE)),
            r.at(integer(8), self.word_of(PART, row, "thing"), r.word(WEAK_TARGET)),
            r.at(integer(8), row, r.word(WORD * PART.index("thing"))),
        )
        self.demand(self.equal(part, self.b.load(place, typ=pointer())), self.longer)

    def _take_array(self, array: Register, number: Register) -> None:
        """Take an input array.

        Own a reference if there are nested structures: they may change while the kernel runs.
        """
        self.demand(self.b.icmp_unsigned("!=", array, null()), self.longer)
        with self.r.where(self.has_nests):
            self.take(array)
        self.r.store(self.objects, number, array)

    def _open(self, nest: Register, row: Register, mode: Register, count: Register, known: Cell) -> None:
        """Append the items of a nested structure to the parts."""
        r = self.r
        self.demand(self.equal(self.field(nest, SIZE, integer(64)), count), self.longer)
        is_dict = self.equal(mode, r.word(IN_DICT))
        with r.where(is_dict):
            self._open_dict(nest, row, count, known)
        with r.where(self.b.not_(is_dict)):
            items = r.cell(r.at(integer(8), nest, r.word(TUPLE_ITEMS)))
            with r.where(self.equal(mode, r.word(IN_LIST))):
                items.set(self.field(nest, LIST_ITEMS))
            with self.each(count) as i:
                r.store(self.parts, self.add(known), self.item(items.get(), i))

    def _open_dict(self, nest: Register, row: Register, count: Register, known: Cell) -> None:
        r, b = self.r, self.b
        place, key, value = self.slot(integer(64)), self.slot(), self.slot()
        b.store(r.word(0), place)
        with self.each(count) as i:
            found = self.call("PyDict_Next", integer(32), nest, place, key, value)
            self.demand(b.icmp_signed("!=", found, integer(32)(0)), self.longer)
            wanted = self.item(self.word_of(PART, row, "thing"), i)
            self.demand(self.equal(b.load(key, typ=pointer()), wanted), self.longer)
            r.store(self.parts, self.add(known), b.load(value, typ=pointer()))

    def each_variable(self) -> Any:
        return self.each(self.b.sub(self.inputs, self.tensors))

    def take_variables(self) -> None:
        """Take the arrays of variables, with owned references: variables may be assigned while the kernel runs."""
        with self.each_variable() as i:
            variable = self.word_of(VARIABLE, self.row("variable_rows", i, VARIABLE), "object")
            array = self.call("PyObject_GetAttr", pointer(), variable, self.head("attribute"))
            with self.r.where(self.equal(array, null())):
                self.call("PyErr_Clear", ir().VoidType())
                self.b.branch(self.longer)
            self.r.store(self.objects, self.b.add(self.tensors, i), array)
