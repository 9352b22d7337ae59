"""Where things stand in the objects of CPython and NumPy, in bytes; layout_check.py checks all of it."""

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
"""Of NumPy's arrays."""

METHOD, METHOD_OWNER = 16, 24
METHOD_FUNCTION = 8
"""Of built-in functions: the description, of which the second word is the address, and whose method it is."""

C_ORDER_AND_ALIGNED = 0x101
OWN_AND_WRITEABLE = 0x404
"""Flags of NumPy's arrays."""

NEW_ARRAY = 93
"""The place of PyArray_New in NumPy's table of functions."""

MEMBER = 40
"""Where a descriptor says what its slot is."""

OBJECT_SLOT, NUMBER_SLOT = 16, 19
"""What slots hold: Py_T_OBJECT_EX, Py_T_PYSSIZET."""

BASIC_SIZE, VECTORCALL_OFFSET, CLASS_FLAGS = 32, 56, 168
"""Where CPython's types have what `__basicsize__` says, where instances have the address, and what `__flags__` says."""

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
    """What CPython knows of the slot that a class has by this name."""
    return Member.from_address(ctypes.c_void_p.from_address(id(getattr(kind, name)) + MEMBER).value or 0)


def offset_of(kind: type, name: str) -> int:
    """Where the instances of a class have the slot of this name; 0 where it is not found in the memory of one.

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
    """A built-in function as the method of an object, which must keep what the machine code needs."""
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
