"""Offsets in bytes within objects of CPython and NumPy; layout_check.py verifies all of them."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any

TYPE = 8
SIZE = 16  # of tuples, lists and dicts
LIST_ITEMS = 24
TUPLE_ITEMS = tuple.__basicsize__
WEAK_TARGET = 16
DATA, RANK, SIZES, DTYPE, FLAGS = 16, 24, 32, 56, 64
"""Offsets within NumPy arrays."""

METHOD, METHOD_OWNER = 16, 24
METHOD_FUNCTION = 8
"""Offsets within built-in functions (method definition, `self`) and within a PyMethodDef (C function)."""

C_ORDER_AND_ALIGNED = 0x101
OWN_AND_WRITEABLE = 0x404
"""Flags of NumPy's arrays."""

NEW_ARRAY = 93
"""The index of PyArray_New in NumPy's table of functions."""

MEMBER = 40
"""The offset of the PyMemberDef pointer in a member descriptor."""

OBJECT_SLOT, NUMBER_SLOT = 16, 19
"""Types of slots: Py_T_OBJECT_EX, Py_T_PYSSIZET."""

BASIC_SIZE, VECTORCALL_OFFSET, CLASS_FLAGS = 32, 56, 168
"""Offsets within type objects: `tp_basicsize`, `tp_vectorcall_offset` and `tp_flags`."""

HAS_VECTORCALL = 1 << 11


class Member(ctypes.Structure):
    """CPython's PyMemberDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def member_of(kind: type, name: str) -> Member:
    """Return the PyMemberDef of a slot of a class."""
    return Member.from_address(ctypes.c_void_p.from_address(id(getattr(kind, name)) + MEMBER).value or 0)


def offset_of(kind: type, name: str) -> int:
    """Return the offset of a slot in instances of a class, or 0 if the slot is not found in an instance's memory.

    >>> class Pair:
    ...     __slots__ = ("a", "b")
    >>> offset_of(Pair, "b") - offset_of(Pair, "a")
    8
    """
    instance: Any = object.__new__(kind)
    value = object()
    getattr(kind, name).__set__(instance, value)
    words = (ctypes.c_size_t * (kind.__basicsize__ // 8)).from_address(id(instance))
    return next((8 * place for place, word in enumerate(words) if word == id(value)), 0)


class Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(method: Method, owner: Any) -> Callable[..., Any]:
    """Return a built-in function with `owner` as its `self`.

    `owner` must keep alive the objects that the code needs.
    """
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = make(ctypes.addressof(method), owner, None)
    return made


def numpy_functions() -> Any:
    """Return the addresses of the functions of NumPy's C interface."""
    unpack = ctypes.pythonapi.PyCapsule_GetPointer
    unpack.restype, unpack.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    module: Any = importlib.import_module("numpy._core._multiarray_umath")
    return ctypes.cast(unpack(module._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
