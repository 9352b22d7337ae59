"""The options of `set_loop_options` for a loop of the graph: a bound, shape invariants and checkpointing.

    set_loop_options(maximum_iterations=9)                  while i < 9 and …
    set_loop_options(shape_invariants=[(x, [None])])        x has an unknown number of elements from the start

    set_loop_options(checkpoint_every=100)                  gradients: only every hundredth state is kept, the
                                                            iterations between are recomputed

The other options are hints for executors that run iterations in parallel; there is none here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from agc.autograph.staging import Undefined, name_of, rotated, unbound

from .. import nest
from ..core.conversion import convert_to_tensor
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TypeSpec
from ..ops.math import arithmetic, comparison
from . import first_iteration, state_leaves
from .regions import truth
from .while_loop import Loop

State = tuple[Any, ...]


def while_loop(
    test: Callable[..., Any],
    body: Callable[..., State],
    state: State,
    names: Sequence[str],
    options: Mapping[str, Any],
) -> State:
    """Record a `while` with these options; return the final state."""
    limit = options.get("maximum_iterations")
    shapes = invariants(state, options)
    first, every = options.get("first"), checkpoints(options)
    if limit is None:
        return recorded(Loop(test, body, state, names, shapes, first, every), options)

    def tested(*now: Any) -> Any:
        return truth(test(*now), "while")

    going, step, start = rotated(tested, body, state, truth(first, "while"))
    most = _rounds(limit)

    def limited(count: Any, *now: Any) -> Any:
        return comparison.logical_and(comparison.less(count, most), going(*now))

    def counted(count: Any, *now: Any) -> State:
        return (count + 1, *step(*now))

    fixed = None if shapes is None else [None, None, *shapes]
    carried = ("iteration", "going", *names)
    return recorded(Loop(limited, counted, (0, *start), carried, fixed, None, every), options)[2:]


def recorded(loop: Loop, options: Mapping[str, Any]) -> State:
    """Record a loop, and return the state after it."""
    return first_iteration.record(loop, options.get("is_used_later"))


def at_most(rounds: Any, options: Mapping[str, Any]) -> Any:
    """Return the trip count of a `for`, limited by `maximum_iterations`."""
    limit = options.get("maximum_iterations")
    return rounds if limit is None else arithmetic.minimum(rounds, _rounds(limit))


def _rounds(limit: Any) -> Tensor:
    most: Tensor = convert_to_tensor(limit, "int32")
    return most


def checkpoints(options: Mapping[str, Any]) -> int | str | None:
    """Return the number of iterations between checkpoints, "auto", or None for no checkpoints.

    Raise ValueError for other values.
    """
    every = options.get("checkpoint_every")
    if every is None or every == "auto":
        return every
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise ValueError(
            f"checkpoint_every is a number of iterations (a Python integer, 1 or more), 'auto' or None, not {every!r}"
        )
    return int(every)


def invariants(state: State, options: Mapping[str, Any]) -> list[Any] | None:
    """Return the shape invariant of each leaf of the state, None where there is none; None without any."""
    pairs = options.get("shape_invariants")
    if not pairs:
        return None
    shapes: dict[int, list[Any]] = {}
    for variable, shape in pairs:
        if isinstance(variable, Undefined):
            raise unbound(name_of(variable))
        for leaf, said in _matched(variable, shape):
            shapes[id(leaf)] = shapes_of(leaf, said)
    found: list[Any] = []
    for value in state:
        for leaf in [value] if isinstance(value, Undefined) else nest.flatten(value):
            found += shapes.pop(id(leaf), []) or [None for _ in state_leaves.flatten(leaf)]
    if shapes:
        raise ValueError("shape_invariants: each must name a tensor that the loop changes")
    return found


def shapes_of(leaf: Any, said: Any) -> list[Any]:
    """Return the shapes of the components of a composite, or the shape of a tensor; `said` is a shape or a spec."""
    if not nest.is_composite(leaf):
        return [getattr(said, "shape", said)]
    spec = said if isinstance(said, TypeSpec) else leaf._shape_invariant_to_type_spec(said)
    if type(spec) is not type(leaf._type_spec):
        raise TypeError(f"shape_invariants: {said!r} is not a spec of a {type(leaf).__name__}")
    return [part.shape for part in spec.flatten()]


def _matched(variable: Any, shape: Any) -> list[tuple[Any, Any]]:
    """Return the leaves of a variable with their shapes, which come in the same structure."""
    if not nest.is_nested(variable):
        return [(variable, shape)]
    parts = nest.children(variable)
    names = [name for name, _ in parts]
    said = list(shape.values()) if isinstance(shape, Mapping) else shape
    keys = list(shape) if isinstance(shape, Mapping) else names
    if isinstance(said, TensorShape) or len(said) != len(parts) or set(keys) != set(names):
        raise ValueError(
            f"shape_invariants: {len(parts)} shapes are needed for {variable!r}, in its structure"
        )
    each = dict(zip(keys, said, strict=True))
    return [pair for name, part in parts for pair in _matched(part, each[name])]
