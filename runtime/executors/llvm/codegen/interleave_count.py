"""How many vectors of a loop LLVM shall compute at once: as few as keep the processor busy, for each is more code.

    for i: c[i] ← a[i] + b[i]         1: no round waits for another, so the processor begins the next ones by itself
    for i: b[i] ← tanh(a[i])          2: what takes so long leaves time for another one
    for i: total ← total + a[i]       as LLVM thinks, for each round waits for the one before
    for i: total ← … + tanh(a[i])     2: as above; the sum is the least that it waits for
    for i: for j < 32: …              as LLVM thinks, which may leave no inner loop at all
    for i: c[i] ← a[b[i]]             no vectors, where it runs for few rounds: each element is fetched by itself

Left alone, LLVM would take four wherever they fit into its registers.
"""

from __future__ import annotations

from typing import Any

SHORT = 64
"""Inner loops of so few rounds may become so many vectors that no loop is left."""

_MANY = 1024
"""Rounds from which on two vectors at once are worth their code."""

_FETCHED = 256
"""Elements from which on it is worth it to fetch several from various places at once."""


def at_once(body: Any, count: int, rounds: int, noted: Any) -> list[Any]:
    """What LLVM is told about a loop whose only block this is, and which runs in `rounds` with those around it.

    `noted` is where checks leave their note.
    """
    if rounds < _FETCHED and _looks_up(body):
        return [["llvm.loop.vectorize.width", 1], ["llvm.loop.interleave.count", 1]]
    takes_long = _takes_long(body)
    if (count <= SHORT and count < rounds) or (_gathers(body, noted) and not takes_long):
        return []
    return [["llvm.loop.interleave.count", 2 if rounds >= _MANY and takes_long else 1]]


def _gathers(body: Any, noted: Any) -> bool:
    """Whether elements are taken together in a slot."""
    targets = [each.operands[1] for each in body.instructions if each.opname == "store"]
    return any(getattr(target, "opname", None) == "alloca" and target is not noted for target in targets)


def _looks_up(body: Any) -> bool:
    """Whether elements are read at places that depend on others, and little else is done."""
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
    """Whether one of our own mathematical functions is called."""
    return any(each.opname == "call" and each.callee.name.startswith("agc.") for each in body.instructions)
