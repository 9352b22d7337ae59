"""Retracing: mutations that a staged block makes implicitly become carried state, or are refused.

    while i < n:                    first trace      net.total was 0 and has changed: its value is restored
        net.step(i)      ==>        second trace     net.total is state of the loop, like `i`
        i += 1

A block may mutate objects in functions that it calls, through an alias, or through a library. Its source does
not show that. Before a backend traces the block, a *heap snapshot* of all objects that its code can reach is
taken (`heap_snapshot.py`). After each trace the snapshots are compared (`side_effect_tracker.py`).
However a block ends, all mutations made while tracing are undone: only the results of the backend remain.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..staging import State
from .carried_state import CarriedState
from .diagnostics import hidden, unsettled
from .later_uses import LaterUses
from .locations import Location
from .side_effect_tracker import RetraceNeeded, SideEffectTracker, remembering

MAX_ATTEMPTS = 24


def staged(
    makers: Sequence[Callable[[], Location]],
    run: Callable[[CarriedState], State],
    blocks: Sequence[Callable[..., Any]],
    state: State = (),
    names: Sequence[str] = (),
    gives: Sequence[str] | None = None,
    besides: Iterable[tuple[str, Any]] = (),
) -> State:
    """Stage `blocks` by calling `run` and return its results; carry every location that the blocks mutate.

    `state` and `names` are the variables that all blocks take. `gives` names the results of a conditional; it
    is None for a loop. `besides` are further objects that are passed to the blocks.
    """
    later_uses = LaterUses(sys._getframe(1))
    roots = [(getattr(block, "__name__", "block"), block) for block in blocks]
    roots += [*zip(names, state, strict=True), *besides]
    with remembering():
        return _settled(
            lambda: SideEffectTracker(roots, later_uses, is_choice=gives is not None),
            lambda tracker: CarriedState(makers, tracker, state, names, gives),
            run,
        )


def _settled(
    new_tracker: Callable[[], SideEffectTracker],
    carry: Callable[[SideEffectTracker], CarriedState],
    run: Callable[[CarriedState], State],
) -> State:
    """Stage the block in attempts, until one finds no further mutated location to carry.

    `new_tracker` takes a heap snapshot, `carry` creates the carried state, and `run` traces and stages the block.
    """
    tracker = new_tracker()
    carried = carry(tracker)
    if remembered := tracker.remembered():
        carried.extend(remembered)
    try:
        for _ in range(MAX_ATTEMPTS):
            try:
                tracker.refuse_aliased_updates(*carried.everything())
                results = run(carried)
                tracker.compare_gains()
            except RetraceNeeded as found:
                if found.tracker is not tracker:
                    raise
                if found.has_built:
                    tracker = new_tracker()
                    carried = carry(tracker)
                carried.extend(found.mutations)
                tracker.begin(found.mutations)
                continue
            tracker.confirm(carried.locations, carried.touched)
            tracker.warn()
            rest = carried.leave(results)
            tracker.settle_orders()
            tracker.replay()
            return rest
        raise unsettled(carried.names)
    except BaseException:
        tracker.snapshot.restore()
        raise
    finally:
        tracker.is_open = False


def pure(function: Callable[[], Any], what: str, blocks: Sequence[Callable[..., Any]]) -> Callable[[], Any]:
    """Return `function` wrapped so that a side effect raises an error.

    `function` computes an operand that the graph may skip. `what` names the operand in the error. `blocks`
    are its code.
    """
    later_uses = LaterUses(sys._getframe(1))
    tracker = SideEffectTracker([("operand", block) for block in blocks], later_uses)

    def checked() -> Any:
        try:
            result = function()
            tracker.ends(())
        except BaseException:
            tracker.undo()
            raise
        try:
            tracker.compare(None)
        except RetraceNeeded as found:
            raise hidden(found.mutations[0].name, what) from None
        tracker.warn()
        tracker.replay()  # elements that containers gain while tracing, as in a block
        return result

    return checked
