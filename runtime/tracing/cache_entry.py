"""The entry of a repeated call: from the leaves of its arguments to its result.

    leaves of f(x, object)   →   the same object?   →   arrays of the tensors   →   graph   →   tensors

Entries are found by `FlatArguments.call_key`, which represents objects by their `id`. So the entry compares them with
the objects that it was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor
from ..executors import Runner
from .cache_key import Identity, is_identified, received
from .flat_arguments import ARRAYS, IMMUTABLE, FlatArguments


class Runnable(Protocol):
    """The part of a concrete function that an entry uses."""

    runner: Runner
    references: list[Any]  # the variables that the graph reads, as inputs after those of the call
    finish: Callable[[Sequence[Any]], Any]  # from the results of the runner to the result of the call


Entry = Callable[[Sequence[Any]], Any]

MISSED: Any = object()
"""The value that an entry returns if it was made for other objects."""


def build_entry(concrete: Runnable, flat: FlatArguments, inputs: Sequence[Any]) -> Entry | None:
    """Return an entry that calls `concrete` with arguments like `flat`; `inputs` are those of the graph.

    Return None if the tensors and arrays among the leaves are not exactly `inputs`, in this order.
    """
    leaves, taken, known = flat.leaves, [], []
    for position, leaf in enumerate(leaves):
        kind = type(leaf)
        if kind is EagerTensor or (issubclass(kind, ARRAYS) and not leaf.dtype.hasobject):
            taken.append(position)
        elif kind not in IMMUTABLE:
            if not is_identified(kind):
                return None
            known.append((position, Identity(leaf).reference))
    if flat.typed or len(taken) != len(inputs):
        return None
    if any(leaves[index] is not given for index, given in zip(taken, inputs, strict=True)):
        return None
    if known or len(taken) < len(leaves) or any(type(leaf) is not EagerTensor for leaf in leaves):
        return _general(concrete, taken, known)
    finish, references = concrete.finish, concrete.references

    def of_tensors(leaves: Sequence[Any]) -> Any:
        return finish(concrete.runner([*[leaf._array for leaf in leaves], *references]))

    return of_tensors


def _general(
    concrete: Runnable, taken: Sequence[int], known: Sequence[tuple[int, Callable[[], Any]]]
) -> Entry:
    """Return an entry for tensors and arrays at the indices `taken`, and the objects `known`."""
    finish, references = concrete.finish, concrete.references

    def entry(leaves: Sequence[Any]) -> Any:
        for position, reference in known:
            if reference() is not received(leaves[position]):
                return MISSED
        arrays = [_array_of(leaves[index]) for index in taken]
        return finish(concrete.runner([*arrays, *references]))

    return entry


def _array_of(leaf: Any) -> Any:
    array: Any = leaf if type(leaf) is EagerTensor else convert_to_tensor(leaf)
    return array._array
