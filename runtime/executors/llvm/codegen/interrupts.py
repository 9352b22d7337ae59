"""Check for Ctrl-C before each long piece of work.

    for i in 0 … n:                       for i in 0 … n:
        multiply(a[i], b[i])      ==>         if i % 16 = 15 and agc_interrupted(): stopped ← 1
                                              if not stopped: multiply(a[i], b[i])
                                          if stopped: leave with INTERRUPTED

A loop nest has no early exit, so its remaining iterations do nothing. Only the calling thread may check for
interrupts: nests that run in the thread pool must not use this.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .llvm_types import Register, integer

if TYPE_CHECKING:
    from .function_builder import Emitter

PATIENCE = 1 << 29
"""Multiplications between two checks: some hundredths of a second."""

ASK = "agc_interrupted"


@contextmanager
def unless_interrupted(e: Emitter, work: float, round_number: Register | None = None) -> Iterator[None]:
    """Skip the code emitted here after an interrupt. The code takes `work` multiplications in each iteration.

    Outside of a loop nest, the function returns immediately.
    """
    if e.is_committed:  # variables have been overwritten: the run is completed
        yield
        return
    stopped = e.stopped()
    number = e.word(0) if round_number is None else round_number
    often = max(int(PATIENCE // max(work, 1)), 1) if round_number is not None else 1
    mask = e.word((1 << (often.bit_length() - 1)) - 1)
    check, checked, inside, after = map(e.block, ("check", "checked", "inside", "after"))
    e.b.cbranch(e.b.icmp_unsigned("==", e.b.and_(number, mask), mask), check, checked)
    e.b.position_at_end(check)
    flag = e.b.load(stopped, typ=integer(8))
    silent, now = e.block("silent"), e.block("now")
    e.b.cbranch(e.b.icmp_unsigned("==", flag, integer(8)(0)), now, silent)
    e.b.position_at_end(now)
    answer = e.call(ASK, integer(32), e.function.args[-1])
    is_wanted = e.b.icmp_signed("!=", answer, integer(32)(0))
    e.b.store(e.b.zext(is_wanted, integer(8)), stopped)
    e.b.branch(silent)
    e.b.position_at_end(silent)
    e.b.branch(checked)
    e.b.position_at_end(checked)
    goes_on = e.b.icmp_unsigned("==", e.b.load(stopped, typ=integer(8)), integer(8)(0))
    e.b.cbranch(goes_on, inside, after)
    with e.into(inside):
        yield
        e.b.branch(after)
    e.b.position_at_end(after)
    if not e.is_in_nest:
        e.leave_if_stopped()
