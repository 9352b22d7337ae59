"""How the built-in function looks at its arguments, and what it takes from them (dispatch_stub.py).

    f(model, [x], n=3)      the names of keywords; then the parts: the object `model`, a list of 1, the object 3,
                            and behind all arguments what was in the list: a tensor, whose array is input 0

A call that is not as the table says goes the longer way, with nothing changed.
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
"""The most inputs and results together, and the most parts of what a function takes and returns."""

TAKING_HEADER = (
    *HEADER, "positional", "named", "parts", "tensors", "busy", "attribute", "name_rows", "part_rows",
    "variable_rows",
)  # fmt: skip
"""The words of the table."""

NAME = ("object",)
PART = ("mode", "type", "thing", "number")
VARIABLE = ("object", "result")
"""The words of its rows."""

IS_TENSOR, IS_ARRAY, IS_OBJECT, IS_ALIVE, IN_TUPLE, IN_LIST, IN_DICT = range(7)
"""What is asked of a part: a tensor or an array, which is input `number`; this object, or the one that a weak reference
has; a nest of so many, whose parts follow behind all parts before them. A dict has such keys in this order."""


class ArgumentUnpacker(Caller):
    """Writes the code that takes arguments apart.

    The objects from number `owned` on are owned, and their places have nothing until they are there. What is before,
    the arguments keep: arrays of tensors and arrays that are in no nest.
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
        """The number that a cell has had until now; it has the next one from now on."""
        number = cell.get()
        cell.set(self.b.add(number, self.r.word(1)))
        return number

    def check_call(self) -> None:
        """So many arguments, such keywords; and nobody is busy."""
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
        """Look at each part, and take the arrays."""
        r = self.r
        known = r.cell(self.outer)
        with r.where(self.has_nests), self.each(self.outer) as i:
            r.store(self.parts, i, self.item(self.arguments, i))
        with self.each(self.number("parts")) as i:
            part, row = self.item(self.parts, i), self.row("part_rows", i, PART)
            mode, number = (self.word_of(PART, row, name, integer(64)) for name in ("mode", "number"))
            is_tensor = self.equal(mode, r.word(IS_TENSOR))
            with r.where(is_tensor):  # the most usual comes first
                self._check_type(part, row)
                self._take_array(self.field(part, TENSOR_ARRAY), number)
            with r.where(self.b.not_(is_tensor)):
                self._take_other(part, row, mode, number, known)

    def _take_other(
        self, part: Register, row: Register, mode: Register, number: Register, known: Cell
    ) -> None:
        """Look at a part that is no tensor."""
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
        """Hold it where nests are: they may be changed while the kernel runs."""
        self.demand(self.b.icmp_unsigned("!=", array, null()), self.longer)
        with self.r.where(self.has_nests):
            self.take(array)
        self.r.store(self.objects, number, array)

    def _open(self, nest: Register, row: Register, mode: Register, count: Register, known: Cell) -> None:
        """Put what is in a nest behind the parts that are known."""
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
        """Hold the arrays of variables, too: others may assign the variables while the kernel runs."""
        with self.each_variable() as i:
            variable = self.word_of(VARIABLE, self.row("variable_rows", i, VARIABLE), "object")
            array = self.call("PyObject_GetAttr", pointer(), variable, self.head("attribute"))
            with self.r.where(self.equal(array, null())):
                self.call("PyErr_Clear", ir().VoidType())
                self.b.branch(self.longer)
            self.r.store(self.objects, self.b.add(self.tensors, i), array)
