"""Value specialization: the form of a graph for the values of integers that shapes depend on.

    graph f(x: float32[6], n: int32[]) -> float32[?, ?]          f with n = 2
      shape = stack n, -1            : int32[2]             ==>    y = reshape x, [2, -1]   : float32[2, 3]
      y = reshape x, shape           : float32[?, ?]

These inputs are found by trial: without their values, the graph cannot be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..ir.value_types import TensorType
from .errors import CannotCompileError, NeverRunsError

T = TypeVar("T")

MOST_ELEMENTS = 8
"""Maximum number of elements of a vector, such as a shape, that is specialized by value."""


def first_possible(
    attempt: Callable[[Sequence[int]], T], by_value: tuple[int, ...], candidates: Sequence[int]
) -> tuple[T, tuple[int, ...]]:
    """Return what `attempt` returns for a minimal set of inputs specialized by value, and this set.

    The set includes `by_value`. Raise the `CannotCompileError` of the last attempt if none succeeds.
    """
    try:
        return attempt(by_value), by_value
    except NeverRunsError:
        raise
    except CannotCompileError:
        if set(by_value).issuperset(candidates):
            raise
        found, chosen = attempt(candidates), candidates
    for i in [i for i in candidates if i not in by_value]:
        fewer = [one for one in chosen if one != i]
        try:
            found, chosen = attempt(fewer), fewer
        except CannotCompileError:
            continue
    return found, tuple(chosen)


def may_be_shape(spec: Any, argument: Any) -> bool:
    """Return whether an input may be specialized by value: a few integers that are not a variable's."""
    if not isinstance(spec, TensorType) or not spec.dtype.is_integer or hasattr(argument, "_array"):
        return False
    return np.ndim(argument) <= 1 and np.size(argument) <= MOST_ELEMENTS
