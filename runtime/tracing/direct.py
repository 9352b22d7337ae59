"""Calls of plans without looking anything up, where a function is called in one way only.

    f(x, "add")   →   def call(*args, **kwargs):     which is f's `__call__` from now on
                          a0, a1 = args
                          a tensor of x's kind, and "add"?        →   the plan's function   →   tensor
                          another call, or somebody is `busy`     →   `Calls.call`, which knows all kinds

A runner that is no plan keeps being asked: it may be about to find something better.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..kinds import kind_of
from ..tensor import EagerTensor
from .unrolled import MOST, SAME, TENSOR, WEAK, call_function

if TYPE_CHECKING:
    from ..execute import Plan
    from ..parts import Part
    from .concrete import ConcreteFunction
    from .signature import Parameters


class Direct:
    """A way for calls like one that went well. `call(fallback)` gives what is called."""

    def __init__(self, plan: Plan, concrete: ConcreteFunction, known: Sequence[tuple[str, Any]]) -> None:
        """`known` has for each argument how it is told from others, and by what."""
        make = call_function(tuple([how for how, _ in known]), bool(concrete.references))
        self.call: Callable[[Callable[..., Any]], Callable[..., Any]] = make(
            plan, concrete.finish, concrete.references, *[what for _, what in known]
        )


def direct(
    concrete: ConcreteFunction, parameters: Parameters, args: Sequence[Any], leaves: Sequence[Any]
) -> Direct | None:
    """The way for calls like this one, if a plan runs them, and they have tensors and objects only."""
    from ..execute.plan import Plan
    from .taking_apart import parts_of

    plan = getattr(concrete.runner, "__self__", None)
    if type(plan) is not Plan or len(args) > MOST:
        return None
    parts = parts_of(parameters, args, {}, leaves)
    if parts is None or any(part.kind not in _HOW for part in parts):
        return None
    return Direct(plan, concrete, list(map(_known, args, parts)))


_HOW = {EagerTensor: TENSOR, object: SAME, weakref.ref: WEAK}


def _known(value: Any, part: Part) -> tuple[str, Any]:
    """How an argument is told from others, and by what."""
    how = _HOW[part.kind]
    return how, kind_of(value) if how == TENSOR else part.thing
