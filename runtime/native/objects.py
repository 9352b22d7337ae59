"""Where things stand in the objects of CPython and NumPy, in bytes."""

from __future__ import annotations

import ctypes

TYPE = 8
SIZE = 16  # of tuples, lists and dicts
LIST_ITEMS = 24
TUPLE_ITEMS = tuple.__basicsize__
WEAK_TARGET = 16
DATA, RANK, SIZES, DTYPE, FLAGS = 16, 24, 32, 56, 64
"""Of NumPy's arrays."""

C_ORDER_AND_ALIGNED = 0x101
OWN_AND_WRITEABLE = 0x404
"""Flags of NumPy's arrays."""

_MEMBER, _OFFSET = 40, 16  # what a descriptor says of its slot, and where that has the place


def offset_of(kind: type, name: str) -> int:
    """Where the instances of a class have the slot of this name.

    >>> class Pair:
    ...     __slots__ = ("a", "b")
    >>> offset_of(Pair, "b") - offset_of(Pair, "a")
    8
    """
    descriptor = getattr(kind, name)
    member = ctypes.c_void_p.from_address(id(descriptor) + _MEMBER).value or 0
    return ctypes.c_ssize_t.from_address(member + _OFFSET).value


class Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )
