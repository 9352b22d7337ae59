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
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.specs import Spec
from .emit.emitter import INTERRUPTED
from .emit.metering import TABLE, symbols
from .emit.types import Register, integer, ir, pointer
from .engine import Code
from .kernels import as_function
from .memory import LARGEST, NAME, SPARE, Memory, Spares
from .unit import Unit, content

_TYPE = 8  # where things stand in CPython's and NumPy's objects, in bytes
_LIST_SIZE, _LIST_ITEMS = 16, 24
_DATA, _RANK, _SIZES, _DTYPE, _FLAGS = 16, 24, 32, 56, 64
_C_ORDER_AND_ALIGNED = 0x101
_OWN_AND_WRITEABLE = 0x404

_SMALLEST = 4096  # bytes of results that are worth keeping

_TAKES_ONE = 8  # METH_O


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_OF_PYTHON = (
    "PyErr_CheckSignals", "PyEval_RestoreThread", "PyEval_SaveThread", "PyObject_CallOneArg", "PyTuple_New",
    "PyTuple_SetItem", "Py_DecRef", "Py_IncRef", "PyMem_RawCalloc", "PyMem_RawFree", "PyMem_RawMalloc",
    "PyMem_RawRealloc",
)  # fmt: skip


@functools.cache
def declare_symbols() -> None:
    """Tell LLVM where the functions of Python and NumPy are."""
    import llvmlite.binding as binding

    for name in _OF_PYTHON:
        binding.add_symbol(name, _address(getattr(ctypes.pythonapi, name)))
    for name, address in symbols():
        binding.add_symbol(name, address)
    unpack = ctypes.pythonapi.PyCapsule_GetPointer
    unpack.restype, unpack.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    _multiarray_umath: Any = importlib.import_module("numpy._core._multiarray_umath")

    table = ctypes.cast(unpack(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    binding.add_symbol("PyArray_New", table[93])


def _address(function: Any) -> int:
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
        addresses = [self._field(array, _DATA) for array in (*arrays, *made)]
        b.store(ir().Constant(pointer(), None), slot)
        if self.unit.is_long:
            self.unit.leave_lock(b, slot)
        code = b.call(self.unit.kernel, [*addresses, slot])
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

    def _blocks(self, *names: str) -> list[Any]:
        return [self.function.append_basic_block(name) for name in names]

    def _items(self) -> Register:
        given = self.function.args[1]
        self._demand(self._field(given, _TYPE), self._host("list"))
        self._demand(self._field(given, _LIST_SIZE, integer(64)), integer(64)(len(self.inputs)))
        return self._field(given, _LIST_ITEMS)

    def _check(self, spec: Spec, array: Register) -> None:
        assert spec.shape is not None
        self._demand(self._field(array, _TYPE), self._host("ndarray"))
        self._demand(self._field(array, _DTYPE), self._host(f"dtype {spec.dtype.name}"))
        self._demand(self._field(array, _RANK, integer(32)), integer(32)(len(spec.shape)))
        flags = self.b.and_(self._field(array, _FLAGS, integer(32)), integer(32)(_C_ORDER_AND_ALIGNED))
        self._demand(flags, integer(32)(_C_ORDER_AND_ALIGNED))
        if spec.shape:
            sizes = self._field(array, _SIZES)
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
        if not _is_worth_keeping(spec):
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
            if not _is_worth_keeping(spec):
                continue
            array = made[number] if number < first else arrays[self.assigned[number - first]]
            own, onward = self._blocks("own", "onward")
            flags = b.and_(self._field(array, _FLAGS, integer(32)), integer(32)(_OWN_AND_WRITEABLE))
            b.cbranch(b.icmp_unsigned("==", flags, integer(32)(_OWN_AND_WRITEABLE)), own, onward)
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


def _is_worth_keeping(spec: Spec) -> bool:
    size = math.prod(length or 0 for length in spec.shape or ()) * spec.dtype.size
    return _SMALLEST <= size <= LARGEST


class _Keeper:
    """What a built-in function needs as long as it lives."""

    def __init__(self, *needed: Any) -> None:
        self.needed = needed


def entry(
    unit: Unit, code: Code, mismatch: Callable[[Any], Any], failed: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """The built-in function of a unit that was compiled."""
    numbers = unit.host.numbers
    table = (ctypes.c_void_p * max(len(numbers), 1)).from_address(code.variable("host"))
    objects = {"list": list, "ndarray": np.ndarray, "mismatch": mismatch, "failed": failed}
    kept: list[Any] = [code, mismatch, failed]
    for name, number in numbers.items():
        if name == NAME:
            memory = Memory(unit.module.kept.count)
            kept.append(memory)
            table[number] = memory.table.ctypes.data
        elif name == SPARE:
            spares = Spares(len(unit.results))
            kept.append(spares)
            table[number] = spares.table.ctypes.data
        elif name == TABLE:
            assert unit.meter is not None
            unit.meter.table = notes = np.zeros(2 * len(unit.meter.rows), np.int64)
            kept.append(notes)
            table[number] = notes.ctypes.data
        elif name in unit.host.kernels:
            kernel = as_function(unit.host.kernels[name])
            kept.append(kernel)
            table[number] = _address(kernel)
        elif name in unit.host.arrays:
            array = unit.host.arrays[name]
            kept.append(array)
            table[number] = array.ctypes.data
        else:
            thing = np.dtype(name[6:]) if name.startswith("dtype ") else objects[name]
            kept.append(thing)
            table[number] = id(thing)
    method = _Method(unit.graph.name.encode(), code.function("entry"), _TAKES_ONE, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    built: Callable[[Any], Any] = make(ctypes.addressof(method), _Keeper(method, *kept), None)
    return built
