"""Arguments of a call, flattened once: their leaves and their structure. All that a call does with them starts here.

    f(x, {"b": y, "a": 3})      leaves       x, 3, y
                                structure    None, (dict, ("a", "b"), None, None)

    call key     structure, and abstract values of the leaves: finds the entry of a repeated call (cache_entry.py)
    trace key    structure, and cache keys of the leaves (cache_key.py): finds the trace
    inputs       the leaves that the graph takes

A leaf has the structure None. A nest has its type, its keys, and the structures of its children.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import nest
from ..composite import components
from ..core.abstract_value import abstract_value_of
from ..core.tensor import EagerTensor
from ..core.type_spec import TypeSpec
from .cache_key import is_identified, is_tensor_argument, key_of, received
from .trace_type import TraceType

IMMUTABLE = frozenset({bool, int, float, str, bytes, type(None)})
"""The types of values that are used in keys unchanged."""

ARRAYS = (np.ndarray, np.generic)

_SEQUENCES = (tuple, list)


class FlatArguments:
    """The values of all parameters in order, with their leaves and their structure.

    `typed` are the indices of leaves in nests that have a `TraceType`: that is their key.
    """

    __slots__ = ("leaves", "structure", "typed", "values")

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self.leaves: list[Any] = []
        self.typed: set[int] | None = None
        structure: list[Hashable] = []
        for value in values:
            kind = type(value)
            if kind is EagerTensor or not nest.is_nest_type(kind):  # type: ignore[arg-type]
                self.leaves.append(value)
                structure.append(None)
            else:
                structure.append(self._nest(value, kind))
        self.structure = tuple(structure)

    def _nest(self, value: Any, kind: type) -> Hashable:
        """Collect the leaves of a nest, and return its structure."""
        start, keys, inner = len(self.leaves), [], []
        for key, child in nest.children(value):
            keys.append(key)
            kind_of_child = type(child)
            if nest.is_nest_type(kind_of_child):  # type: ignore[arg-type]
                inner.append(self._nest(child, kind_of_child))
            else:
                self.leaves.append(child)
                inner.append(None)
        if kind in _SEQUENCES:
            return kind, len(keys), *inner
        if not _has_type(kind):
            return kind, tuple(keys), *inner
        self.typed = (self.typed or set()) | {*range(start, len(self.leaves))}
        return kind, key_of(value), *inner

    def with_leaves(self, leaves: Sequence[Any]) -> FlatArguments:
        """Return arguments of the same structure with other leaves."""
        made = object.__new__(FlatArguments)
        made.leaves, made.structure, made.typed = list(leaves), self.structure, self.typed
        left = iter(leaves)
        made.values = [nest.pack_leaves(value, left, False) for value in self.values]
        return made

    @property
    def call_key(self) -> Hashable:
        """The key of calls that run the same entry. It differs for arguments that need different graphs.

        Objects are represented by their `id`, which the entry checks.
        """
        leaves = [
            x._kind or abstract_value_of(x) if type(x) is EagerTensor else _leaf_key(x) for x in self.leaves
        ]
        return self.structure, *leaves

    @property
    def trace_key(self) -> Hashable:
        """The key of calls that share a trace."""
        keys = [key_of(leaf) for i, leaf in enumerate(self.leaves) if not self.typed or i not in self.typed]
        return self.structure, tuple(keys)

    @property
    def inputs(self) -> list[Any]:
        """The leaves that become inputs, in the order of the graph's inputs; composites as their components."""
        found: list[Any] = []
        for leaf in self.leaves:
            if nest.is_composite(leaf):
                found += filter(is_tensor_argument, components.flatten(leaf))
            elif is_tensor_argument(leaf):
                found.append(leaf)
        return found

    def by_argument(self) -> Iterator[tuple[Hashable, list[Any]]]:
        """Yield the structure and the leaves of each argument."""
        end = 0
        for structure in self.structure:
            start, end = end, end + _count(structure)
            yield structure, self.leaves[start:end]


def _has_type(kind: type) -> bool:
    """Return whether the key of a nest is not made of its elements."""
    return (
        issubclass(kind, (TraceType, TypeSpec))
        or hasattr(kind, "__components__")
        or hasattr(kind, "__tf_tracing_type__")
    )


def _leaf_key(leaf: Any) -> Hashable:
    """Return the part of the call key for a leaf; one that is never found for a leaf that only `key_of` can tell."""
    kind = type(leaf)
    if kind in IMMUTABLE:
        return kind, str(leaf) if leaf == 0 else leaf  # 0.0 and -0.0 are equal
    if issubclass(kind, ARRAYS):
        return kind, leaf.dtype, leaf.shape
    return id(received(leaf)) if is_identified(kind) else object()


def _count(structure: Any) -> int:
    """Return the number of leaves of a structure."""
    return 1 if structure is None else sum(map(_count, structure[2:]))
