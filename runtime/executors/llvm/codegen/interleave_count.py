"""Choose LLVM's interleave count of a loop: no more than keeps the processor busy, to keep the code small.

    for i: c[i] ← a[i] + b[i]         1: iterations are independent, so out-of-order execution overlaps them
    for i: b[i] ← tanh(a[i])          2: long latencies leave time for a second vector
    for i: total ← total + a[i]       LLVM's choice, since each iteration depends on the one before
    for i: total ← … + tanh(a[i])     2: as above; the addition is the shorter latency
    for i: for j < 32: …              LLVM's choice, which may unroll the inner loop fully
    for i: c[i] ← a[b[i]]             no vectors for few iterations: each element is loaded separately

By default, LLVM would choose four if the registers suffice.
"""

from __future__ import annotations

from typing import Any

SHORT = 64
"""Inner loops with at most this trip count may be unrolled fully."""

_MANY = 1024
"""Iterations from which interleaving by two is worth its code size."""

_FETCHED = 256
"""Elements from which vectorizing indirect loads pays off."""


def at_once(body: Any, count: int, rounds: int, noted: Any) -> list[Any]:
    """Return loop metadata for a loop with one block, and `rounds` iterations including the loops around it.

    `noted` is the slot of the flag that checks set.
    """
    if rounds < _FETCHED and _looks_up(body):
        return [["llvm.loop.vectorize.width", 1], ["llvm.loop.interleave.count", 1]]
    takes_long = _takes_long(body)
    if (count <= SHORT and count < rounds) or (_gathers(body, noted) and not takes_long):
        return []
    return [["llvm.loop.interleave.count", 2 if rounds >= _MANY and takes_long else 1]]


def _gathers(body: Any, noted: Any) -> bool:
    """Return whether the loop accumulates into a stack slot."""
    targets = [each.operands[1] for each in body.instructions if each.opname == "store"]
    return any(getattr(target, "opname", None) == "alloca" and target is not noted for target in targets)


def _looks_up(body: Any) -> bool:
    """Return whether the loop mainly reads elements at indices that depend on loaded values."""
    found: set[Any] = set()
    for each in body.instructions:
        if each.opname == "load":
            if each.operands[0] in found:
                return not _takes_long(body)
            found.add(each)
        elif each.opname != "phi" and not found.isdisjoint(each.operands):
            found.add(each)
    return False


def _takes_long(body: Any) -> bool:
    """Return whether the loop calls one of the project's own mathematical functions."""
    return any(each.opname == "call" and each.callee.name.startswith("agc.") for each in body.instructions)
