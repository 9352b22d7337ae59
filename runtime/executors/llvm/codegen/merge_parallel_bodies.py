"""Replace loop nests that equal the body of an outlined parallel loop by a call of that body.

    for i < 200704: w[i] ← w[i] - 0.1 * g[i]       run part([w, g], …, 200704) in threads
    …                                        ==>   …
    for i < 50: v[i] ← v[i] - 0.1 * h[i]           part([v, h], 0, 50)

The body is already a function of addresses in memory and a range of iterations, so nothing else must be
compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .llvm_types import integer, ir
from .merge_functions import Form, Users, forget, operations
from .outlining import OutermostLoopNest, is_slot, replace_by


class _Part:
    """The body of a parallel loop, and what it has in common with nests that it can run."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.function, self.memory, self.rounds, *_ = run.args
        _, begin, end = self.function.args
        entry, *blocks, leave = self.function.blocks
        slots = [each for each in entry.instructions if is_slot(each)]
        known = {begin: ir().Constant(integer(64), 0), end: self.rounds}
        self.form = Form(OutermostLoopNest(entry, blocks, leave), slots, known)
        read = [each for each in entry.instructions if each.opname == "load"]
        self.places = [read.index(value) for value in self.form.given]
        ends = [
            number
            for number, (each, position) in enumerate(self.form.sites)
            if _stands_at(each, position, end)
        ]
        self.end = ends[0] if ends else None
        self.operations = operations(self.form.nest)

    def can_run(self, form: Form) -> bool:
        """Return whether a nest differs from this body only in addresses and in its trip count."""
        return form.key == self.form.key and self._others(form) == self._others(self.form)

    def _others(self, form: Form) -> list[int]:
        return [number for i, number in enumerate(form.numbers) if i != self.end]

    @property
    def is_short(self) -> bool:
        """Return whether a call takes about as many instructions as the nest itself."""
        return len(self.operations) <= 2 * len(self.places) + 2


def _stands_at(instruction: Any, position: int, value: Any) -> bool:
    return instruction.opname != "phi" and instruction.operands[position] is value


def share_parts(
    function: Any, runs: Sequence[Any], nests: Sequence[OutermostLoopNest], users: Users
) -> list[OutermostLoopNest]:
    """Replace nests by calls of equal parallel bodies, and merge equal bodies. Return the remaining nests."""
    parts: list[_Part] = []
    for part in map(_Part, runs):
        same = [other for other in parts if other.can_run(part.form) and other.places == part.places]
        if same:
            part.run.operands[1] = same[0].function
            del function.module.globals[part.function.name]
        else:
            parts.append(part)
    left = list(nests)
    for part in parts:
        alike = [nest for nest in left if operations(nest) == part.operations]
        if not alike or part.is_short or part.end is None:
            continue
        for nest in alike:
            form = Form(nest, users.own_slots(nest))
            if users.is_apart(nest) and part.can_run(form):
                _call(part, form)
                forget(function, form)
                left.remove(nest)
    return left


def _call(part: _Part, form: Form) -> None:
    """Replace a nest by a call of `part`.

    The call reuses the memory that holds the live-in values for threads, which are never running at this
    point.
    """
    b = replace_by(form.nest.before)
    for slot, value in zip(part.places, form.given, strict=True):
        b.store(value, b.gep(part.memory, [integer(64)(8 * slot)], source_etype=integer(8)))
    assert part.end is not None
    b.call(part.function, [part.memory, integer(64)(0), integer(64)(form.numbers[part.end])])
    b.branch(form.nest.after)
