"""Describe the arguments of a call as `ArgumentPattern` trees, against which native code matches later calls.

    f(x, {"y": array}, n=3)    →    a tensor, which is input 1 of the graph
                                    a dict with the key "y", and in it an array, which is input 2
                                    the object 3

The inputs of the graph are in the order of the parameters, which may differ from the order of the call.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import nest
from ..core.argument_pattern import ArgumentPattern
from ..core.tensor import EagerTensor
from .cache_key import Identity, Parameters, is_identified
from .flat_arguments import IMMUTABLE


def parts_of(
    parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: Sequence[Any]
) -> list[ArgumentPattern] | None:
    """Return the patterns of the arguments in the order of the call; `leaves` are the inputs of the graph.

    Return None if only Python can distinguish such calls from others.
    """
    if any(type(name) is not str for name in kwargs):
        return None
    given = [*args, *kwargs.values()]
    tensors: list[Any] = []
    found = {position: _part(given[position], tensors) for position in _bound(parameters, len(args), kwargs)}
    parts = [found.get(position) for position in range(len(given))]
    if len(tensors) != len(leaves) or any(a is not b for a, b in zip(tensors, leaves, strict=True)):
        return None
    whole = [part for part in parts if part is not None]
    return whole if len(whole) == len(given) else None


def _bound(parameters: Parameters, count: int, names: Iterable[str]) -> list[int]:
    """Return the indices of the arguments, which are in call order, in the order of their parameters."""
    marks = [object() for _ in [*range(count), *names]]
    values = parameters.values(tuple(marks[:count]), dict(zip(names, marks[count:], strict=True)))
    positions = {id(mark): position for position, mark in enumerate(marks)}
    return [positions[id(leaf)] for leaf in nest.flatten(values) if id(leaf) in positions]


def _part(value: Any, tensors: list[Any]) -> ArgumentPattern | None:
    kind = type(value)
    if kind is EagerTensor or (kind is np.ndarray and value.dtype.isnative and not value.dtype.hasobject):
        tensors.append(value)
        return ArgumentPattern(kind, number=len(tensors) - 1)
    if kind in (tuple, list, dict):
        found = {key: _part(child, tensors) for key, child in nest.children(value)}
        keys = tuple(value) if kind is dict else range(len(value))
        parts = tuple(part for key in keys if (part := found[key]) is not None)
        return ArgumentPattern(kind, keys, parts=parts) if len(parts) == len(keys) else None
    if kind in IMMUTABLE:
        return ArgumentPattern(object, value)
    if not is_identified(kind):
        return None
    reference = Identity(value).reference
    if type(reference) is weakref.ref:
        return ArgumentPattern(weakref.ref, reference)
    return ArgumentPattern(object, value)
