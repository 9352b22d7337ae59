"""How Python calls compiled code: a built-in function made from machine code, which reads NumPy's arrays itself.

    entry([array, …])  ->  (array, …)

The arrays of large results are kept, and used again as soon as nobody else has them.
It looks at kind, dtype, shape and order of each array, makes the arrays of the results, and runs the kernel, without
Python's lock when that takes long. What does not look as expected, and a check that fails, is handed to Python: to the
functions `mismatch` and `failed`, with the same list.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import math
from collections.abc import Sequence
from typing import Any

from ..ir.specs import Spec
from .emit.emitter import INTERRUPTED
from .emit.metering import symbols
from .emit.types import Register, integer, ir, pointer
from .memory import LARGEST, SPARE
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
from .unit import Unit, content

PACKED = "packed"
"""The function of a compiled unit that runs its kernel, from the addresses of all inputs and results."""

_SMALLEST = 4096  # bytes of results that are worth keeping

_OF_PYTHON = (
    "PyDict_New", "PyDict_SetItem", "PyErr_CheckSignals", "PyErr_SetInterrupt", "PyErr_Clear", "PyEval_RestoreThread",
    "PyEval_SaveThread", "PyList_New", "PyList_SetItem", "PyMem_RawCalloc", "PyMem_RawFree", "PyMem_RawMalloc",
    "PyMem_RawRealloc", "PyObject_CallOneArg", "PyObject_GetAttr", "PyObject_SetAttr", "PyObject_Vectorcall",
    "PyTuple_New", "PyTuple_SetItem", "PyType_GenericAlloc", "Py_DecRef", "Py_IncRef",
)  # fmt: skip


@functools.cache
def declare_symbols() -> None:
    """Tell LLVM where the functions of Python and NumPy are."""
    import llvmlite.binding as binding

    for name in _OF_PYTHON:
        binding.add_symbol(name, address_of(getattr(ctypes.pythonapi, name)))
    for name, address in symbols():
        binding.add_symbol(name, address)
    unpack = ctypes.pythonapi.PyCapsule_GetPointer
    unpack.restype, unpack.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    _multiarray_umath: Any = importlib.import_module("numpy._core._multiarray_umath")

    table = ctypes.cast(unpack(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    binding.add_symbol("PyArray_New", table[93])


def address_of(function: Any) -> int:
    """Where a function of ctypes begins."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class EntryWriter:
    """Writes the entry of a unit."""

    def __init__(self, unit: Unit, assigned: Sequence[int] = ()) -> None:
        self.unit = unit
        self.assigned = assigned
        self.module = unit.module
        kind = ir().FunctionType(pointer(), [pointer(), pointer()])
        self.function = ir().Function(self.module, kind, "entry")
        self.b = ir().IRBuilder(self.function.append_basic_block("entry"))
        self.inputs = [content(value.spec) for value in unit.graph.inputs]
        self.results = unit.results
        self._mismatch = self.function.append_basic_block("mismatch")
        self._write()

    def _write(self) -> None:
        b = self.b
        slot = b.alloca(pointer())
        items = self._items()
        arrays = [self._field(items, 8 * i) for i in range(len(self.inputs))]
        for spec, array in zip(self.inputs, arrays, strict=True):
            self._check(spec, array)
        made = [self._result(number, spec) for number, spec in enumerate(self.results)]
        addresses = [self._field(array, DATA) for array in (*arrays, *made)]
        b.store(ir().Constant(pointer(), None), slot)
        if self.unit.is_long:
            self.unit.leave_lock(b, slot)
        table = b.alloca(pointer(), max(len(addresses), 1))
        for number, address in enumerate(addresses):
            b.store(address, b.gep(table, [integer(64)(number)], source_etype=pointer()))
        code = b.call(self._packed(), [table, slot])
        self.unit.take_lock(b, slot)
        good, bad = self._blocks("good", "bad")
        b.cbranch(b.icmp_signed("==", code, integer(32)(0)), good, bad)
        b.position_at_end(good)
        self._keep(arrays, made)
        b.ret(self._tuple(made))
        b.position_at_end(bad)
        for array in made:
            self._call("Py_DecRef", ir().VoidType(), array)
        interrupted, failed = self._blocks("interrupted", "failed")
        b.cbranch(b.icmp_signed("==", code, integer(32)(INTERRUPTED)), interrupted, failed)
        b.position_at_end(interrupted)
        b.ret(ir().Constant(pointer(), None))
        b.position_at_end(failed)
        b.ret(self._call("PyObject_CallOneArg", pointer(), self._host("failed"), self.function.args[1]))
        b.position_at_end(self._mismatch)
        b.ret(self._call("PyObject_CallOneArg", pointer(), self._host("mismatch"), self.function.args[1]))

    def _packed(self) -> Any:
        """The kernel for those who have the addresses of inputs and results in a row."""
        kind = ir().FunctionType(integer(32), [pointer(), pointer()])
        packed = ir().Function(self.module, kind, PACKED)
        packed.attributes.add("noinline")
        b = ir().IRBuilder(packed.append_basic_block("entry"))
        row, slot = packed.args
        places = [
            b.gep(row, [integer(64)(number)], source_etype=pointer())
            for number in range(len(self.unit.kernel.args) - 1)
        ]
        b.ret(b.call(self.unit.kernel, [*[b.load(place, typ=pointer()) for place in places], slot]))
        return packed

    def _blocks(self, *names: str) -> list[Any]:
        return [self.function.append_basic_block(name) for name in names]

    def _items(self) -> Register:
        given = self.function.args[1]
        self._demand(self._field(given, TYPE), self._host("list"))
        self._demand(self._field(given, LIST_SIZE, integer(64)), integer(64)(len(self.inputs)))
        return self._field(given, LIST_ITEMS)

    def _check(self, spec: Spec, array: Register) -> None:
        assert spec.shape is not None
        self._demand(self._field(array, TYPE), self._host("ndarray"))
        self._demand(self._field(array, DTYPE), self._host(f"dtype {spec.dtype.name}"))
        self._demand(self._field(array, RANK, integer(32)), integer(32)(len(spec.shape)))
        flags = self.b.and_(self._field(array, FLAGS, integer(32)), integer(32)(C_ORDER_AND_ALIGNED))
        self._demand(flags, integer(32)(C_ORDER_AND_ALIGNED))
        if spec.shape:
            sizes = self._field(array, SIZES)
            for axis, size in enumerate(spec.shape):
                self._demand(self._field(sizes, 8 * axis, integer(64)), integer(64)(size))

    def _demand(self, found: Register, wanted: Register) -> None:
        (onward,) = self._blocks("onward")
        self.b.cbranch(self.b.icmp_unsigned("==", found, wanted), onward, self._mismatch)
        self.b.position_at_end(onward)

    def _field(self, base: Register, offset: int, kind: Any = None) -> Register:
        place = self.b.gep(base, [integer(64)(offset)], source_etype=integer(8))
        return self.b.load(place, typ=kind or pointer())

    def _result(self, number: int, spec: Spec) -> Register:
        """The array of a result: the one that was kept, if nobody else has it any more."""
        if not is_worth_keeping(spec):
            return self._new(spec)
        b = self.b
        slot, null = self._spare(number), ir().Constant(pointer(), None)
        kept = b.load(slot, typ=pointer())
        b.store(null, slot)
        there, free, taken, lacking, onward = self._blocks("there", "free", "taken", "lacking", "onward")
        b.cbranch(b.icmp_unsigned("!=", kept, null), there, lacking)
        b.position_at_end(there)
        b.cbranch(b.icmp_signed("==", self._field(kept, 0, integer(32)), integer(32)(1)), free, taken)
        b.position_at_end(taken)
        self._call("Py_DecRef", ir().VoidType(), kept)
        b.branch(lacking)
        b.position_at_end(lacking)
        new, end = self._new(spec), b.block
        b.branch(onward)
        b.position_at_end(free)
        b.branch(onward)
        b.position_at_end(onward)
        found = b.phi(pointer())
        found.add_incoming(kept, free)
        found.add_incoming(new, end)
        return found

    def _keep(self, arrays: Sequence[Register], made: Sequence[Register]) -> None:
        """Keep an array for each large result of the next call: the result, or what a variable has had until now."""
        b = self.b
        first = len(made) - len(self.assigned)
        for number, spec in enumerate(self.results):
            if not is_worth_keeping(spec):
                continue
            array = made[number] if number < first else arrays[self.assigned[number - first]]
            own, onward = self._blocks("own", "onward")
            flags = b.and_(self._field(array, FLAGS, integer(32)), integer(32)(OWN_AND_WRITEABLE))
            b.cbranch(b.icmp_unsigned("==", flags, integer(32)(OWN_AND_WRITEABLE)), own, onward)
            b.position_at_end(own)
            slot = self._spare(number)
            self._call("Py_IncRef", ir().VoidType(), array)
            self._call("Py_DecRef", ir().VoidType(), b.load(slot, typ=pointer()))
            b.store(array, slot)
            b.branch(onward)
            b.position_at_end(onward)

    def _spare(self, number: int) -> Register:
        """Where the array for a result is kept."""
        return self.b.gep(self._host(SPARE), [integer(64)(number)], source_etype=pointer())

    def _new(self, spec: Spec) -> Register:
        assert spec.shape is not None
        null = ir().Constant(pointer(), None)
        sizes = null
        if spec.shape:
            kind = ir().ArrayType(integer(64), len(spec.shape))
            name = self.module.get_unique_name("shape")
            sizes = ir().GlobalVariable(self.module, kind, name)
            sizes.initializer = kind(list(spec.shape))
            sizes.global_constant = True
            sizes.linkage = "internal"
            sizes.type = pointer()
        whole = integer(32)
        arguments = [
            self._host("ndarray"), whole(len(spec.shape)), sizes, whole(spec.dtype.numpy.num), null, null,
            whole(0), whole(0), null,
        ]  # fmt: skip
        made = self._call("PyArray_New", pointer(), *arguments)
        lacking, onward = self._blocks("lacking", "onward")
        self.b.cbranch(self.b.icmp_unsigned("==", made, null), lacking, onward)
        self.b.position_at_end(lacking)
        self.b.ret(null)
        self.b.position_at_end(onward)
        return made

    def _tuple(self, arrays: Sequence[Register]) -> Register:
        made = self._call("PyTuple_New", pointer(), integer(64)(len(arrays)))
        for i, array in enumerate(arrays):
            self._call("PyTuple_SetItem", integer(32), made, integer(64)(i), array)
        return made

    def _host(self, name: str) -> Register:
        number = self.unit.host.number(name)
        place = self.b.gep(self.unit.host.variable, [integer(64)(number)], source_etype=pointer())
        return self.b.load(place, typ=pointer())

    def _call(self, name: str, result: Any, *arguments: Register) -> Register:
        return self.b.call(self.unit.function_named(name, result, [a.type for a in arguments]), arguments)


def is_worth_keeping(spec: Spec) -> bool:
    return _SMALLEST <= size_of(spec) <= LARGEST


def size_of(spec: Spec) -> int:
    """The bytes of a tensor."""
    return math.prod(length or 0 for length in spec.shape or ()) * spec.dtype.size
