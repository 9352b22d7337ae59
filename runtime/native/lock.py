"""Python's lock, which long code gives back meanwhile, and the question whether somebody wants it to stop."""

from __future__ import annotations

from .emit.routines import Routine
from .emit.shared import outside, shared
from .emit.types import Register, integer, ir, null, pointer


@shared("agc_interrupted", "code", "address")
def _(r: Routine) -> None:
    """Whether to stop, says Python; others may run Python from then on, if not before."""
    (slot,) = r.arguments
    take_lock(r, slot)
    answer = r.b.call(outside(r.module, "PyErr_CheckSignals", integer(32)), [])
    leave_lock(r, slot)
    r.b.ret(answer)


def leave_lock(r: Routine, slot: Register) -> None:
    """Let others run Python; the slot keeps what it takes to have the lock again."""
    r.b.store(r.b.call(outside(r.module, "PyEval_SaveThread", pointer()), []), slot)


def take_lock(r: Routine, slot: Register) -> None:
    """Wait for Python's lock, unless this thread has it, which an empty slot says."""
    state = r.b.load(slot, typ=pointer())
    with r.where(r.b.icmp_unsigned("!=", state, null())):
        r.b.call(outside(r.module, "PyEval_RestoreThread", ir().VoidType(), pointer()), [state])
