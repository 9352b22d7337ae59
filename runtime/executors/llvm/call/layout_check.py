"""Check that this CPython and NumPy lay out their objects as native calls expect (cpython_layout.py).

    a list at its address    count │ type │ size │ items │ …
    according to Python      3     │ list │ 2    │ a, b        each word must agree, for objects of each kind

The checks run once, before the first native function is loaded. If one fails, native code is called through
ctypes (ctypes_entry.py), which needs no layout: results are the same, and a call takes some microseconds
more. The logger `agc` then has a message of level INFO. `AGC_NATIVE_CALLS=0` in the environment has the same
effect as a failed check.

>>> unknown_layout() is None
True
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....core.tensor import EagerTensor
from . import cpython_layout

NUMPY_ABI = 2
"""The major version of NumPy's binary interface."""

NEEDED = (
    "Py_DecRef", "Py_IncRef", "PyDict_New", "PyDict_Next", "PyDict_SetItem", "PyErr_Clear", "PyList_New",
    "PyList_SetItem", "PyObject_CallOneArg", "PyObject_GetAttr", "PyObject_GetAttrString", "PyObject_SetAttr",
    "PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem", "PyType_GenericAlloc", "PyCFunction_NewEx",
    "PyCFunction_Type", "PyVectorcall_Function",
)  # fmt: skip
"""The functions of CPython that native calls use."""


@functools.cache
def unknown_layout() -> str | None:
    """Return why native calls are switched off; None where every check holds."""
    why = _reason()
    if why is not None:
        import logging  # takes longer to import than a call takes

        logging.getLogger("agc").info(
            "Native calls are switched off: %s. Native code is called through ctypes, with the same results.",
            why,
        )
    return why


def _reason() -> str | None:
    if os.environ.get("AGC_NATIVE_CALLS") == "0":
        return "AGC_NATIVE_CALLS=0 is set"
    failed = next(failed_checks(), None)
    version = f"CPython {sys.version.split()[0]} with NumPy {np.__version__}"
    return None if failed is None else f"{version} has an unknown layout of {failed}"


def failed_checks() -> Iterator[str]:
    """Yield the subject of each failed check."""
    with Reader() as read:
        for subject, holds in CHECKS.items():
            try:
                if not holds(read):
                    yield subject
            except (AttributeError, ImportError, LookupError, TypeError, ValueError):
                yield subject


class Reader:
    """Read memory through a pipe: the system refuses an address that is not mapped, where a load would crash."""

    def __enter__(self) -> Reader:
        self._out, self._in = os.pipe()
        self._write = ctypes.CDLL(None).write
        self._write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        self._write.restype = ctypes.c_ssize_t
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)

    def bytes(self, address: int, count: int) -> bytes:
        """Return the bytes at `address`. Raise LookupError where they cannot be read."""
        copied = self._write(self._in, address, count)
        found = os.read(self._out, copied) if copied > 0 else b""
        if len(found) != count:
            raise LookupError(hex(address))
        return found

    def word(self, address: int) -> int:
        """Return the 64 bits at `address`."""
        return int.from_bytes(self.bytes(address, 8), sys.byteorder)

    def half(self, address: int) -> int:
        """Return the 32 bits at `address`."""
        return int.from_bytes(self.bytes(address, 4), sys.byteorder)

    def words(self, address: int, count: int) -> list[int]:
        """Return `count` consecutive words."""
        return [self.word(address + 8 * i) for i in range(count)]


def _counts(read: Reader) -> bool:
    only = [object()]
    address = id(only[0])
    alone = read.half(address)
    more = only * 4
    return (alone, read.half(address)) == (1, 1 + len(more))


def _types(read: Reader) -> bool:
    examples: Sequence[Any] = (1.5, [], (), {}, len, np.zeros(1))
    return all(read.word(id(x) + cpython_layout.TYPE) == id(type(x)) for x in examples)


def _nests(read: Reader) -> bool:
    items = [object() for _ in range(5)]
    addresses = [id(item) for item in items]
    for count in (1, 5):
        a_list, a_tuple, a_dict = items[:count], tuple(items[:count]), dict.fromkeys(items[:count])
        sizes = [read.word(id(nest) + cpython_layout.SIZE) for nest in (a_list, a_tuple, a_dict)]
        of_list = read.words(read.word(id(a_list) + cpython_layout.LIST_ITEMS), count)
        of_tuple = read.words(id(a_tuple) + cpython_layout.TUPLE_ITEMS, count)
        if sizes != [count] * 3 or not of_list == of_tuple == addresses[:count]:
            return False
    return True


def _weak_references(read: Reader) -> bool:
    tensor = EagerTensor(np.zeros(1))
    watched = id(tensor) + EagerTensor.__weakrefoffset__
    before = read.word(watched)
    reference = weakref.ref(tensor)
    target = id(reference) + cpython_layout.WEAK_TARGET
    if (before, read.word(watched), read.word(target)) != (0, id(reference), id(tensor)):
        return False
    del tensor
    return read.word(target) == id(None)


def _slots(read: Reader) -> bool:
    return all(_slot_holds(read, EagerTensor, name) for name in ("_array", "_kind"))


def _slot_holds(read: Reader, kind: type, name: str) -> bool:
    """Return whether the descriptor of a slot has the layout that native calls read and change."""
    member = read.word(id(getattr(kind, name)) + cpython_layout.MEMBER)
    name_at, content, offset = read.words(member, 3)
    return (
        read.bytes(name_at, len(name) + 1) == name.encode() + b"\0"
        and content & 0xFFFFFFFF == cpython_layout.OBJECT_SLOT
        and 0 < offset == cpython_layout.offset_of(kind, name)
    )


def _arrays(read: Reader) -> bool:
    return all(_array_holds(read, array) for array in _examples())


def _examples() -> Sequence[np.ndarray[Any, Any]]:
    plain = np.zeros((2, 3), np.float32)
    frozen = np.zeros(3)
    frozen.setflags(write=False)
    unaligned = np.zeros(17, np.int8)[1:].view(np.float64)
    return (
        plain, plain.T, plain[:, ::2], plain[::-1], plain[:0], frozen, unaligned, np.zeros(()), np.zeros(2, ">f8"),
        np.zeros((2, 3), np.complex64, "F"), np.zeros((1, 2, 3, 4), bool),
    )  # fmt: skip


def _array_holds(read: Reader, array: np.ndarray[Any, Any]) -> bool:
    start, flags = id(array), array.flags
    words = [read.word(start + offset) for offset in (cpython_layout.DATA, cpython_layout.DTYPE)]
    sizes = read.words(read.word(start + cpython_layout.SIZES), array.ndim) if array.ndim else []
    bits = read.half(start + cpython_layout.FLAGS)
    wanted = (
        (cpython_layout.C_ORDER_AND_ALIGNED, flags.c_contiguous and flags.aligned),
        (cpython_layout.OWN_AND_WRITEABLE, flags.owndata and flags.writeable),
    )
    return (
        words == [array.__array_interface__["data"][0], id(array.dtype)]
        and read.half(start + cpython_layout.RANK) == array.ndim
        and sizes == list(array.shape)
        and all((bits & mask == mask) == holds for mask, holds in wanted)
    )


def _new_arrays(read: Reader) -> bool:
    """Return whether PyArray_New works when it is called as native calls do."""
    table = cpython_layout.numpy_functions()
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[0])() >> 24
    if version != NUMPY_ABI:
        return False
    word, number, pointer = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p
    kinds = (ctypes.py_object, number, pointer, number, pointer, pointer, number, number, pointer)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(table[cpython_layout.NEW_ARRAY])
    sizes = (word * 2)(2, 3)
    made = make(np.ndarray, 2, ctypes.addressof(sizes), np.dtype(np.float32).num, None, None, 0, 0, None)
    return (
        type(made) is np.ndarray and made.shape == (2, 3) and made.dtype == np.float32 and made.flags.owndata
    )


def _built_in_functions(read: Reader) -> bool:
    address = ctypes.cast(ctypes.pythonapi.PyErr_CheckSignals, ctypes.c_void_p).value or 0
    method = cpython_layout.Method(b"name", address, 8, None)
    owner = object()
    function = cpython_layout.builtin(method, owner)
    made = id(function)
    found = read.word(made + cpython_layout.METHOD), read.word(made + cpython_layout.METHOD_OWNER)
    return (
        found == (ctypes.addressof(method), id(owner))
        and read.word(found[0] + cpython_layout.METHOD_FUNCTION) == address
    )


def _classes(read: Reader) -> bool:
    find = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyVectorcall_Function", ctypes.pythonapi))
    for called in (_classes, len, tuple, object()):
        kind = type(called)
        size, flags = (
            read.word(id(kind) + place) for place in (cpython_layout.BASIC_SIZE, cpython_layout.CLASS_FLAGS)
        )
        offset = read.word(id(kind) + cpython_layout.VECTORCALL_OFFSET)
        if (size, flags) != (kind.__basicsize__, kind.__flags__):
            return False
        has_address = bool(flags & cpython_layout.HAS_VECTORCALL)
        if has_address != bool(offset) or (
            has_address and (read.word(id(called) + offset) or None) != find(called)
        ):
            return False
    return True


def _functions(read: Reader) -> bool:
    return all(hasattr(ctypes.pythonapi, name) for name in NEEDED)


CHECKS: dict[str, Callable[[Reader], bool]] = {
    "reference counts": _counts,
    "objects": _types,
    "lists, tuples and dicts": _nests,
    "weak references": _weak_references,
    "slots": _slots,
    "arrays": _arrays,
    "NumPy's functions": _new_arrays,
    "built-in functions": _built_in_functions,
    "classes": _classes,
    "CPython's functions": _functions,
}
"""The checks and their subjects, in order."""
