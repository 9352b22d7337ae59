"""The GIL in native code: released during long runs, and taken to check for signals and to call Python."""

from __future__ import annotations

from .call.kernel import INTERRUPTED
from .codegen.llvm_types import Register, integer, ir, null, pointer
from .codegen.routine_builder import Routine
from .codegen.scalar_builder import Callee
from .codegen.shared_functions import outside, shared

RUN = "agc_run"
"""The name of the function that runs a kernel for callers without the extension (call/ctypes_entry.py)."""


@shared(RUN)
def _(r: Routine) -> None:
    """Run a kernel on the addresses of all arrays, and return its code. A long kernel runs without the GIL."""
    run, addresses, is_long = r.arguments
    state = r.top.alloca(pointer())
    state.type = pointer()
    r.b.store(null(), state)
    with r.where(r.b.icmp_signed("!=", is_long, r.word(0))):
        leave_lock(r, state)
    code = r.b.call(Callee(run, ir().FunctionType(integer(32), [pointer(), pointer()])), [addresses, state])
    take_lock(r, state)
    r.b.ret(code)


@shared("agc_interrupted")
def _(r: Routine) -> None:
    """Return whether a signal handler has raised. Afterwards the GIL is released, even if it was held before."""
    (slot,) = r.arguments
    take_lock(r, slot)
    answer = r.b.call(outside(r.module, "PyErr_CheckSignals", integer(32)), [])
    leave_lock(r, slot)
    r.b.ret(answer)


@shared("agc_call")
def _(r: Routine) -> None:
    """Call a Python function with an address. Return its code, or INTERRUPTED if it raised an exception."""
    callee, address, slot = r.arguments
    whole = integer(32)
    state = r.b.load(slot, typ=pointer())
    take_lock(r, slot)
    code = r.cell(whole(INTERRUPTED))
    number = r.b.call(outside(r.module, "PyLong_FromVoidPtr", pointer(), pointer()), [address])
    drop = outside(r.module, "Py_DecRef", ir().VoidType(), pointer())
    with r.where(r.b.icmp_unsigned("!=", number, null())):
        call = outside(r.module, "PyObject_CallOneArg", pointer(), pointer(), pointer())
        result = r.b.call(call, [callee, number])
        r.b.call(drop, [number])
        with r.where(r.b.icmp_unsigned("!=", result, null())):
            found = r.b.call(outside(r.module, "PyLong_AsLongLong", integer(64), pointer()), [result])
            r.b.call(drop, [result])
            code.set(r.b.trunc(found, whole))
    with r.where(r.b.icmp_unsigned("!=", state, null())):
        leave_lock(r, slot)
    r.b.ret(code.get())


def leave_lock(r: Routine, slot: Register) -> None:
    """Release the GIL; the slot keeps the thread state that is needed to take it again."""
    r.b.store(r.b.call(outside(r.module, "PyEval_SaveThread", pointer()), []), slot)


def take_lock(r: Routine, slot: Register) -> None:
    """Take the GIL, unless this thread holds it, which a null slot means."""
    state = r.b.load(slot, typ=pointer())
    with r.where(r.b.icmp_unsigned("!=", state, null())):
        r.b.call(outside(r.module, "PyEval_RestoreThread", ir().VoidType(), pointer()), [state])
