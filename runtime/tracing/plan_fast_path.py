"""A fast path for calls that run a plan: it skips the lookup of the trace.

    f(x, "add")   →   def call(…):                           which is f's `__call__` from now on
                          a tensor of x's kind, and "add"?        →   the plan's function   →   tensor
                          another call, or `busy` is not empty    →   `Dispatcher.call`, which handles all calls

The function is generated for the call (plan_fast_path_codegen.py). A runner that is no plan gets no such function,
since it may switch to a faster one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.argument_pattern import ArgumentPattern
from ..core.tensor import EagerTensor
from ..executors import plan_for
from . import plan_fast_path_codegen

if TYPE_CHECKING:
    from .cache_key import Parameters
    from .concrete_function import ConcreteFunction

MOST = 40
"""The maximum number of nodes in the argument patterns; calls with more use the lookup."""


class PlanFastPath:
    """A fast path for calls like one that succeeded. `call(fallback)` returns the callable."""

    def __init__(self, call: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self.call = call


def direct(
    concrete: ConcreteFunction,
    parameters: Parameters,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    arguments: Sequence[Any],
) -> PlanFastPath | None:
    """Return the fast path for calls like this one, if a plan runs them; `arguments` are the inputs of the plan."""
    from .argument_flattening import parts_of

    plan = plan_for(concrete.runner, arguments)
    if plan is None or not all(map(parameters.is_named, kwargs)):
        return None
    parts = parts_of(parameters, args, kwargs, leaves)
    if parts is None or _count(parts) > MOST or not all(map(_is_told, leaves)):
        return None
    text = plan_fast_path_codegen.PlanFastPathCodegen()
    text.takes(parts, list(kwargs), leaves)
    text.runs(plan, concrete.references)
    text.gives(concrete._structure, concrete._output_specs(), concrete.finish)
    return PlanFastPath(text.compiled())


def _count(parts: Sequence[ArgumentPattern]) -> int:
    return sum(1 + _count(part.parts) for part in parts)


def _is_told(leaf: Any) -> bool:
    """Return whether a leaf is an eager tensor, which its kind describes, or a numeric array, which is copied."""
    return type(leaf) is EagerTensor or (type(leaf) is np.ndarray and leaf.dtype.kind in "biufc")
