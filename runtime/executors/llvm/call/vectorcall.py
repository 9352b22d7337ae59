"""Calls without a tuple: CPython's vectorcall, for instances of a class that is written in Python.

    f(x)    by tp_call       a tuple of the arguments, a search for `__call__`, an array of what is in the tuple
            by vectorcall    the address that stands in f, which is given the arguments where the caller has them

CPython asks a class where its instances have that address. A class written in Python cannot say so, and has only slots
for objects. So what CPython keeps of the class is changed: the slot `_entry` holds a number, which is the address, and
its place becomes the class's answer. An instance that has none yet is called by tp_call as before.

The machine code there runs what stands in `__call__` (call_slot.py); `dispatch` it calls itself.
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
"""What a number of arguments has besides a bit that says whether the place before them may be used."""


class _Way(Caller):
    """Writes the machine code."""

    def __init__(self, r: Routine) -> None:
        self.r, self.b = r, r.b

    def write(self) -> None:
        function, arguments, given, keywords = self.r.arguments
        callee, result = self.field(function, _CALL), self.r.cell(null())
        # Somebody took it away: this raises what Python does then.
        with self.r.where(self.equal(callee, null())):
            self.b.ret(self.call("PyObject_GetAttrString", pointer(), function, self._name("__call__")))
        self.take(callee)  # the call may put something else there
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
        """What a built-in function runs; nothing for any other object."""
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
    """Let a function be called by machine code, where CPython keeps of classes what it is known to."""
    kind = type(function)
    if _of(kind, CLASS_FLAGS).value & HAS_VECTORCALL or _changed(kind):
        function._entry = address


def _changed(kind: type) -> bool:
    """Let the instances of a class be called where they have an address; whether that went well."""
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
