"""Peel the first iteration of a loop whose state begins as None.

    state = None                                     if i < n:
    while i < n:                                         state = step(None, i)
        state = step(state, i)           ==>             while i < n:
                                                             state = step(state, i)

In the first iteration the state is Python's None, so `state is None` is decided while it is traced. In the others
it is a tensor. After a loop that ran no iteration it would be None, which a graph cannot carry: the graph then fails,
unless no later code uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc.autograph.staging import Maybe, Undefined

from ..ops.framework.region_ops import COND
from . import state_leaves
from .conditional import trace_branches
from .list_staging import fitted
from .regions import truth
from .while_loop import Loop, NoneBecomesTensor

State = tuple[Any, ...]


def record(loop: Loop, is_used_later: Callable[[str], bool] | None = None) -> State:
    """Record a loop, and return the state after it; peel the first iteration if None becomes a tensor in it.

    `is_used_later` returns whether code after the loop uses a variable.
    """
    loop.may_be_peeled = True
    try:
        return loop.record()
    except NoneBecomesTensor as found:
        if found.loop is not loop:
            raise
    going = loop.test(*loop.state) if loop.first is None else loop.first
    never = list(loop.state)

    def ran() -> State:
        final = _remaining(loop, is_used_later)
        for at, (before, after) in enumerate(zip(loop.state, final, strict=True)):
            if _is_none(before, after):
                never[at] = Undefined(loop.names[at])
        return final

    functions: list[Callable[[], State]] = [ran, lambda: tuple(never)]
    results = trace_branches(COND, truth(going, "while"), functions, loop.names, blocks=(loop.body,) * 2)
    return tuple(
        value if before is other else _checked(value, is_used_later)
        for before, other, value in zip(loop.state, never, results, strict=True)
    )


def _remaining(loop: Loop, is_used_later: Callable[[str], bool] | None) -> State:
    """Trace the first iteration, and record a loop of the others."""
    state = fitted(loop.names, loop.state, loop.body(*loop.state))
    every = loop.attrs.get("checkpoint_every")
    return record(Loop(loop.test, loop.body, state, loop.names, loop.invariants, None, every), is_used_later)


def _is_none(before: Any, after: Any) -> bool:
    """Return whether a value has a None that becomes something else."""
    leaves = state_leaves.flatten(before)
    if not any(leaf is None for leaf in leaves):
        return False
    return not state_leaves.same_structure(before, after) or any(
        one is None and other is not None
        for one, other in zip(leaves, state_leaves.flatten(after), strict=True)
    )


def _checked(value: Any, is_used_later: Callable[[str], bool] | None) -> Any:
    """Return the value after the loop; code that uses it fails if the loop ran no iteration."""
    if not isinstance(value, Maybe):  # the first iteration always raises
        return value
    if is_used_later is None or is_used_later(value.name):
        message = f"`{value.name}` is still None after the loop; make it a tensor before the loop"
        from .failures import check  # few loops may leave a variable undefined

        check(value.defined, lambda: message)
    return value.value
