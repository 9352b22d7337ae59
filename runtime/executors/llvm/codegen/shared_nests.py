"""Shared nests: equal loop nests are emitted once, as a function, which is called for each of them.

    for i < 64: y[i] ← x[i] + b                    nest(x, b, y)
    …                                    ==>       …
    for i < 64: v[i] ← u[i] + c                    nest(u, c, v)

Nests are equal if their keys are (nest_keys.py). The first of them is emitted in place, and becomes a function when the
second one is found. The body of a parallel loop is a function in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .buffer_assignment import ElementwiseNest
from .function_builder import Emitter, EndedNest, NestCost
from .liveness import operands_of, targets_of
from .llvm_types import Register
from .merge_functions import WORTH
from .nest_keys import NestKey, key_of
from .outlining import OutermostLoopNest, captured, instructions_of, is_slot, outline
from .parallel_loops import call_part

Body = Callable[[Sequence[Register]], None]
"""Emits the body of a nest from the induction variables. It leaves nothing but the content of memory."""


def emit_nest(e: Emitter, counts: Sequence[int], body: Body, **options: Any) -> None:
    """Emit a nest, as `Emitter.nest` does with these options, or the call of an equal one."""
    is_noted = e.meter is not None or e.located is not None  # of which operation each instruction is
    may_share = not (e.is_in_nest or e.is_repeated or is_noted)
    key = key_of(e, [body, counts, options]) if may_share else None
    shared = e.shared.get(key.key) if key is not None else None
    if shared is not None and key is not None:
        shared.repeat(key.given)
        return
    e.ended, before = None, e.cost
    with e.nest(counts, **options) as numbers:
        body(numbers)
    if key is not None and e.ended is not None:
        found = _shareable(e, key, e.ended, before)
        if found is not None:
            e.shared[key.key] = found


class SharedNest:
    """A nest that others may equal; the registers that it is given are at `positions` among those of its key."""

    def __init__(
        self, e: Emitter, key: NestKey, nest: EndedNest, cost: NestCost, positions: Sequence[int],
        slots: Sequence[Any],
    ) -> None:  # fmt: skip
        self._e, self._key, self._nest, self._cost = e, key, nest, cost
        self._positions, self._slots = positions, slots
        self._calls: list[Any] = []  # once the nest has become a function

    def repeat(self, given: Sequence[Register]) -> None:
        """Emit the call that runs the nest with other registers."""
        e, first = self._e, self._nest.around
        before, live_in = e.b.block, [given[i] for i in self._positions]
        if first.around is None:
            call, around = e.b.call(self._function(), live_in), None
            self._calls.append(call)
        else:
            part, _, *numbers = first.run.args
            call = call_part(e, e.b, part, live_in, numbers)
            around = call.args[1]
        after = e.block("after")
        e.b.branch(after)
        e.b.position_at_end(after)
        e.spend(self._cost)
        if first.pairs:
            places = dict(zip(map(id, self._key.given), given, strict=True))
            found = [(places[id(read)], places[id(written)]) for read, written in first.pairs]
            e.elementwise.append(ElementwiseNest(before, after, found, call, around))

    def _function(self) -> Any:
        """Return the function that the first nest has become."""
        e, first = self._e, self._nest.around
        if not self._calls:
            place = next(i for i, each in enumerate(e.wholes) if each.before is first.before)
            first.run = outline(e.wholes.pop(place), self._slots)
            self._calls.append(first.run)
        return first.run.callee

    @property
    def body(self) -> OutermostLoopNest | None:
        """The body of the function that the nest has become, or None."""
        if not self._calls:
            return None
        entry, *blocks, leave = self._calls[0].callee.blocks
        return OutermostLoopNest(entry, blocks, leave, calls=self._calls)


def _shareable(e: Emitter, key: NestKey, nest: EndedNest, before: NestCost) -> SharedNest | None:
    """Return a nest that others may equal, or None: some are short, leave the function, or read what the key lacks."""
    slots: list[Any] = []
    if nest.around.around is not None:
        live_in = nest.around.run.live_in
    else:
        inside = {*nest.blocks, nest.around.after}
        if not all(inside.issuperset(targets_of(block)) for block in nest.blocks):
            return None
        if sum(len(block.instructions) for block in nest.blocks) < WORTH:
            return None
        own = e.slot_uses.only_in(nest.blocks).difference(key.given)
        operands = (
            value for each in instructions_of(nest.blocks if own else ()) for value in operands_of(each)
        )
        slots = [*dict.fromkeys(value for value in operands if is_slot(value) and value in own)]
        live_in = captured(nest.blocks, own)
    places = {id(register): i for i, register in enumerate(key.given)}
    positions = [places.get(id(value)) for value in live_in]
    if None in positions:
        return None
    cost = NestCost(*(after - old for after, old in zip(e.cost, before, strict=True)))
    return SharedNest(e, key, nest, cost, positions, slots)  # type: ignore[arg-type]
