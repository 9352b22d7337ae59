"""Guards of a heap walk: objects that it visited without a snapshot, and that decide what another walk finds.

    a function       its code, its defaults           code may be replaced
    a class          its members, its bases           a method may be replaced
    an object        its class, its dictionary
    a module         its variables, and the names that it lacks

Snapshots are compared as well, in `snapshot_cache.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Set
from itertools import chain, repeat
from types import FunctionType
from typing import Any

from .. import policy
from .snapshots import ObjectSnapshot

_parts_of_function = operator.attrgetter("__code__", "__defaults__", "__kwdefaults__")


class SnapshotGuards:
    """Everything that the result of a walk depends on."""

    def __init__(self) -> None:
        self.is_complete = True  # nothing was found that cannot be guarded
        self.holders: list[ObjectSnapshot] = []
        self.conditions: list[Callable[[], bool]] = []
        self._functions: list[FunctionType] = []
        self._function_parts: list[Any] = []
        self._objects: list[Any] = []
        self._kinds: list[type] = []
        self._owners: list[Any] = []
        self._dictionaries: list[Any] = []
        self._classes: list[type] = []
        self._bases: list[tuple[type, ...]] = []
        self._mappings: list[tuple[Mapping[str, Any], dict[str, Any]]] = []
        self._absent: list[tuple[dict[str, Any], frozenset[str]]] = []

    def function(self, function: FunctionType) -> None:
        self._functions.append(function)
        parts = _parts_of_function(function)
        self._function_parts += parts
        if parts[2]:
            self.mapping(parts[2])

    def instance(self, value: Any, kind: type) -> None:
        self._objects.append(value)
        self._kinds.append(kind)

    def attributes(self, value: Any, attributes: Any) -> None:
        self._owners.append(value)
        self._dictionaries.append(attributes)

    def class_(self, owner: type) -> None:
        self._classes.append(owner)
        self._bases.append(policy.bases_of(owner))

    def mapping(self, mapping: Mapping[str, Any]) -> None:
        """Guard the variables of a module, or the members of a class."""
        self._mappings.append((mapping, dict(mapping)))

    def absent(self, variables: dict[str, Any], names: Set[str]) -> None:
        """Guard that the module does not define those of these `names` that it lacks now."""
        self._absent.append((variables, frozenset(names - variables.keys())))

    def hold(self) -> bool:
        """Return whether all guards hold."""
        return (
            self.is_complete
            and _are(map(type, self._objects), self._kinds)
            and _are(map(object.__getattribute__, self._owners, repeat("__dict__")), self._dictionaries)
            and _are(chain.from_iterable(map(_parts_of_function, self._functions)), self._function_parts)
            and _are(map(policy.bases_of, self._classes), self._bases)
            and all(
                len(now) == len(kept) and _are(now.keys(), kept) and _are(now.values(), kept.values())
                for now, kept in self._mappings
            )
            and all(variables.keys().isdisjoint(names) for variables, names in self._absent)
            and not any(holder.has_changed() for holder in self.holders)
            and all(holds() for holds in self.conditions)
        )


def _are(now: Any, kept: Any) -> bool:
    """Return whether both iterables yield the very same objects."""
    return all(map(operator.is_, now, kept))
