"""Implement CPython's vectorcall protocol for instances of a class that is written in Python.

    f(x)    by tp_call       a tuple of the arguments, a lookup of `__call__`, an array of the tuple's items
            by vectorcall    a call of the function pointer in f, with the caller's array of arguments

CPython reads the offset of that pointer from the type. A Python class cannot set the offset, and has slots
only for objects. So the type object is patched: the slot `_entry` becomes an integer slot for the function
pointer, and `tp_vectorcall_offset` is set to its offset. An instance whose pointer is still null is called by
`tp_call` as before.

The native code calls the object in the slot `__call__` (call_slot.py). It calls the `dispatch` function
directly.
"""

from __future__ import annotations

import ctypes

from ....core.call_slot import CallSlot
from ..codegen.llvm_types import Register, constant_at, integer, ir, null, pointer
from ..codegen.routine_builder import Routine
from ..codegen.shared_functions import declared, outside, shared
from .call_codegen import Caller
from .cpython_layout import (
    BASIC_SIZE,
    CLASS_FLAGS,
    HAS_VECTORCALL,
    METHOD,
    METHOD_FUNCTION,
    METHOD_OWNER,
    NUMBER_SLOT,
    OBJECT_SLOT,
    TYPE,
    VECTORCALL_OFFSET,
    member_of,
    offset_of,
)
from .dispatch_stub import DISPATCH

_CALL, _ENTRY = offset_of(CallSlot, "__call__"), offset_of(CallSlot, "_entry")
_COUNT = (1 << 63) - 1
"""Masks the flag PY_VECTORCALL_ARGUMENTS_OFFSET out of the number of arguments."""


class _Way(Caller):
    """Emitter of the vectorcall function."""

    def __init__(self, r: Routine) -> None:
        self.r, self.b = r, r.b

    def write(self) -> None:
        function, arguments, given, keywords = self.r.arguments
        callee, result = self.field(function, _CALL), self.r.cell(null())
        # The attribute was deleted: this raises Python's error for a missing attribute.
        with self.r.where(self.equal(callee, null())):
            self.b.ret(self.call("PyObject_GetAttrString", pointer(), function, self._name("__call__")))
        self.take(callee)  # the call may replace the object in the slot
        dispatch = declared(self.r.module, DISPATCH)
        is_ours = self.equal(self._code_of(callee), dispatch)
        with self.r.where(is_ours):
            count = self.b.and_(given, self.r.word(_COUNT))
            result.set(self.b.call(dispatch, [self.field(callee, METHOD_OWNER), arguments, count, keywords]))
        with self.r.where(self.b.not_(is_ours)):
            result.set(self.call("PyObject_Vectorcall", pointer(), callee, arguments, given, keywords))
        self.drop(callee)
        self.b.ret(result.get())

    def _code_of(self, callee: Register) -> Register:
        """Return the C function of a built-in function object, else null."""
        found = self.r.cell(null())
        builtin = outside(self.r.module, "PyCFunction_Type", pointer())
        with self.r.where(self.equal(self.field(callee, TYPE), builtin)):
            found.set(self.field(self.field(callee, METHOD), METHOD_FUNCTION))
        return found.get()

    def _name(self, text: str) -> Register:
        data = bytearray(text.encode() + b"\0")
        value = ir().Constant(ir().ArrayType(integer(8), len(data)), data)
        return constant_at(self.r.module, f"text.{text}", value)


@shared("agc_called", "address", "address", "address", "word", "address")
def _(r: Routine) -> None:
    _Way(r).write()


def enter(function: CallSlot, address: int) -> None:
    """Let native code call `function`, if CPython's type objects have the expected layout."""
    kind = type(function)
    if _of(kind, CLASS_FLAGS).value & HAS_VECTORCALL or _changed(kind):
        function._entry = address


def _changed(kind: type) -> bool:
    """Enable vectorcall for instances of a class. Return whether the layout of the type is as expected."""
    slot = member_of(CallSlot, "_entry")
    is_known = (
        kind.__call__ is CallSlot.__call__
        and (_of(kind, BASIC_SIZE).value, _of(kind, CLASS_FLAGS).value)
        == (kind.__basicsize__, kind.__flags__)
        and slot.name == b"_entry"
        and slot.kind in (OBJECT_SLOT, NUMBER_SLOT)
    )
    if is_known:
        slot.kind = NUMBER_SLOT
        _of(kind, VECTORCALL_OFFSET).value = _ENTRY
        _of(kind, CLASS_FLAGS).value |= HAS_VECTORCALL
    return is_known


def _of(kind: type, offset: int) -> ctypes.c_ssize_t:
    return ctypes.c_ssize_t.from_address(id(kind) + offset)
