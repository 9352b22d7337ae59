"""Executors of graphs. An executor turns a graph into a function from input values to output values.

>>> sorted(EXECUTORS)
['automatic', 'interpret', 'native', 'plan']
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.graph import Graph
from .interpreter import interpret

if TYPE_CHECKING:
    from .plan.plan import Plan

Runner = Callable[[Sequence[Any]], Sequence[Any]]


def _interpreted(graph: Graph) -> Runner:
    return functools.partial(interpret, graph)


def _planned(graph: Graph) -> Runner:
    # Imported at first use: importing the runtime needs no optimizer …
    from ..optimize import batch_loop_matmul, fusion, optimise
    from .plan.plan import Plan  # … and no plan generator

    return Plan(fusion.run(batch_loop_matmul.run(optimise(graph)))).run


def _native(graph: Graph) -> Runner:
    from .llvm import JitFunction  # needs a compiler that is not always installed

    return JitFunction(graph).run


def _automatic(graph: Graph) -> Runner:
    plan = _planned(graph)
    if os.environ.get("AGC_JIT") == "0":
        return plan
    from .llvm import tiering

    return tiering.TieredRunner(graph, plan).run if tiering.is_wanted() else plan


EXECUTORS: dict[str, Callable[[Graph], Runner]] = {
    "plan": _planned,
    "interpret": _interpreted,
    "native": _native,
    "automatic": _automatic,
}
"""The executors by name."""


def shortest(runner: Runner) -> Runner:
    """Return the fastest equivalent of `runner` after its first run; `runner` itself if there is none."""
    return getattr(getattr(runner, "__self__", None), "shortest", None) or runner


def kernel_for(runner: Runner, arguments: Sequence[Any]) -> Any:
    """Return the native code of `runner` for `arguments`, to be called directly; None if there is none."""
    find = getattr(getattr(runner, "__self__", None), "kernel_for", None)
    return None if find is None else find(arguments)


def plan_for(runner: Runner, arguments: Sequence[Any]) -> Plan | None:
    """Return the plan that runs such arguments from now on.

    None if no plan runs them, or if the runner may still switch to native code.
    """
    from .plan.plan import Plan

    owner = getattr(runner, "__self__", None)
    find = getattr(owner, "plan_for", None)
    if find is not None:
        return find(arguments)  # type: ignore[no-any-return]
    return owner if type(owner) is Plan else None


def when_decided(runner: Runner, arguments: Sequence[Any], tell: Callable[[], None]) -> None:
    """Call `tell` once `runner` has chosen between plan and native code, if that choice is still pending."""
    wait = getattr(getattr(runner, "__self__", None), "when_decided", None)
    if wait is not None:
        wait(arguments, tell)


COMPLETE = ("automatic", "interpret", "plan")
"""The executors that run every graph."""

__all__ = [
    "COMPLETE",
    "EXECUTORS",
    "Plan",
    "Runner",
    "interpret",
    "kernel_for",
    "plan_for",
    "shortest",
    "when_decided",
]


def __getattr__(name: str) -> Any:
    if name == "Plan":
        from .plan.plan import Plan

        return Plan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
