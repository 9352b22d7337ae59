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

METHOD, METHOD_OWNER = 16, 24
METHOD_FUNCTION = 8
"""Of built-in functions: the description, of which the second word is the address, and whose method it is."""

C_ORDER_AND_ALIGNED = 0x101
OWN_AND_WRITEABLE = 0x404
"""Flags of NumPy's arrays."""

_MEMBER = 40  # where a descriptor says what its slot is


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
    return Member.from_address(ctypes.c_void_p.from_address(id(getattr(kind, name)) + _MEMBER).value or 0)


def offset_of(kind: type, name: str) -> int:
    """Where the instances of a class have the slot of this name.

    >>> class Pair:
    ...     __slots__ = ("a", "b")
    >>> offset_of(Pair, "b") - offset_of(Pair, "a")
    8
    """
    return int(member_of(kind, name).offset)


class Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )
