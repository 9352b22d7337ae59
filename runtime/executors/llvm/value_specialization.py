"""Value specialization: compile a graph for the values of integers that shapes depend on, as for shapes of tensors.

    graph f(x: float32[6], n: int32[]) -> float32[?, ?]          f with n = 2
      shape = stack n, -1            : int32[2]             ==>    y = reshape x, [2, -1]   : float32[2, 3]
      y = reshape x, shape           : float32[?, ?]

The compiler finds these inputs by trial: without their values, the graph cannot be compiled.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...ir.graph import Constant, Graph
from ...ir.value_types import ListType, TensorType
from .compile_graph import lowered
from .list_abi import described

MOST_ELEMENTS = 8
"""Maximum number of elements of a vector, such as a shape, that is specialized by value."""


def lowered_for(
    graph: Graph,
    arguments: Sequence[Any],
    assigned: Sequence[int],
    by_value: tuple[int, ...],
    is_measured: bool = False,
    sizes_first: bool = False,
) -> tuple[Any, tuple[int, ...]]:
    """Compile a graph for these inputs. Return the unit, and the inputs it is specialized for, `by_value` included.

    Lists are specialized by length. With `sizes_first`, dynamic sizes are preferred if possible.
    """

    def attempt(chosen: Sequence[int], with_sizes: bool) -> Any:
        known = [
            _known(value.spec, argument, i in chosen)
            for i, (value, argument) in enumerate(zip(graph.inputs, arguments, strict=True))
        ]
        return lowered(graph, known, assigned, is_measured, with_sizes)

    if sizes_first:
        with contextlib.suppress(CannotCompileError):
            return attempt((), with_sizes=True), ()
    candidates = [i for i, value in enumerate(graph.inputs) if _may_be_shape(value.spec, arguments[i])]
    try:
        return _first(functools.partial(attempt, with_sizes=False), by_value, candidates)
    except NeverRunsError:
        raise
    except CannotCompileError:
        return _first(functools.partial(attempt, with_sizes=True), by_value, candidates)


def _first(
    attempt: Callable[[Sequence[int]], Any], by_value: tuple[int, ...], candidates: Sequence[int]
) -> tuple[Any, tuple[int, ...]]:
    """Return the unit with a minimal set of inputs specialized by value, and this set."""
    try:
        return attempt(by_value), by_value
    except NeverRunsError:
        raise
    except CannotCompileError:
        if set(by_value).issuperset(candidates):
            raise
        unit, chosen = attempt(candidates), candidates
    for i in [i for i in candidates if i not in by_value]:
        fewer = [one for one in chosen if one != i]
        try:
            unit, chosen = attempt(fewer), fewer
        except CannotCompileError:
            continue
    return unit, tuple(chosen)


def _known(spec: Any, argument: Any, by_value: bool) -> Any:
    """Return the type or constant that an input is specialized to."""
    if isinstance(spec, ListType):
        return described(argument, spec, by_value)[1]
    array = getattr(argument, "_array", argument)
    return Constant(np.asarray(array)) if by_value else TensorType(spec.dtype, np.shape(array))


def _may_be_shape(spec: Any, argument: Any) -> bool:
    if isinstance(spec, ListType):
        return isinstance(spec.element, TensorType)
    if not spec.dtype.is_integer or hasattr(argument, "_array"):
        return False
    return np.ndim(argument) <= 1 and np.size(argument) <= MOST_ELEMENTS
