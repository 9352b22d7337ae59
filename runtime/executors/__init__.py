"""Executors of graphs. An executor turns a graph into a function from input values to output values.

>>> sorted(EXECUTORS)
['automatic', 'interpret', 'native', 'plan', 'xla']
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ir.graph import Graph
from ..ir.nesting import room_for
from ..ir.structured import is_compiled_call
from .runners import Runner, kernel_for, plan_for, shortest, when_decided

if TYPE_CHECKING:
    from .interpreter import interpret
    from .plan.observed_plan import ObservedPlan
    from .plan.plan import Plan


def _interpreted(graph: Graph) -> Runner:
    from .interpreter import interpret  # few programs use the reference

    return functools.partial(interpret, graph)


def planned(graph: Graph) -> Runner:
    """Return the plan of a graph."""
    return _optimized_and_planned(graph)[1]


def _optimized_and_planned(graph: Graph) -> tuple[Graph, Runner]:
    """Return the optimized graph, and the plan of it."""
    # Imported at first use: importing the runtime needs no optimizer …
    from ..optimize import fusion, optimize, regroup_products
    from .plan.plan import Plan  # … and no plan generator

    with room_for(graph):
        optimized = graph = optimize(graph)
        if any(map(is_compiled_call, graph.walk())):
            from .llvm.native_calls import with_native_calls  # imported for these graphs only

            graph = with_native_calls(graph)
        return optimized, Plan(fusion.run(regroup_products.run(graph))).run


def compiled_by(executor: str, graph: Graph) -> Any:
    """Return the graph as a function that is compiled by "native" or "xla"; its `run` is a runner."""
    if executor == "xla":
        from .xla import compiled  # needs JAX, which is not always installed

        return compiled(graph)
    from .llvm import JitFunction  # needs a compiler that is not always installed

    return JitFunction(graph)


def _native(graph: Graph) -> Runner:
    return compiled_by("native", graph).run  # type: ignore[no-any-return]


def _by_xla(graph: Graph) -> Runner:
    from .replicas import has_replicas  # which import the collectives

    if has_replicas(graph):  # which are XLA programs; the rest is little
        return planned(graph)
    return compiled_by("xla", graph).run  # type: ignore[no-any-return]


def _automatic(graph: Graph) -> Runner:
    optimized, plan = _optimized_and_planned(graph)
    if os.environ.get("AGC_JIT") == "0":
        return plan
    from .llvm import tiering

    return tiering.TieredRunner(optimized, plan).run if tiering.is_wanted() else plan


EXECUTORS: dict[str, Callable[[Graph], Runner]] = {
    "plan": planned,
    "interpret": _interpreted,
    "native": _native,
    "xla": _by_xla,
    "automatic": _automatic,
}
"""The executors by name."""


COMPLETE = ("automatic", "interpret", "plan")
"""The executors that run every graph."""

__all__ = [
    "COMPLETE",
    "EXECUTORS",
    "ObservedPlan",
    "Plan",
    "Runner",
    "compiled_by",
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
    if name == "interpret":
        from .interpreter import interpret

        return interpret
    if name == "ObservedPlan":
        from .plan.observed_plan import ObservedPlan

        return ObservedPlan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
