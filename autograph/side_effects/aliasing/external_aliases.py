"""Aliases outside of a staged block: variables of the enclosing functions that share objects with the block.

    first = [x]
    chosen = first if x > 0 else [x]         `chosen` is `first`, or another list
    chosen.append(x)                         through the alias, `first` is mutated here, or is not
    return len(first)                        and that is observed here

The variables of the enclosing functions give the aliases of an object. The bytecode of these functions shows
what they do with it later.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence, Set
from typing import Any

from ...analysis import bytecode_effects
from ..diagnostics import compared, parted, rebound, unlike
from ..heap_snapshot import HeapSnapshot
from ..later_uses import LaterUses
from . import may_alias
from .object_paths import Path


class ExternalAliases:
    """The alias queries about one staged block.

    `again` returns the exception that has the block traced again.
    """

    def __init__(
        self, snapshot: HeapSnapshot, later_uses: LaterUses, retrace: Callable[[], BaseException]
    ) -> None:
        self._snapshot, self._later_uses, self.again = snapshot, later_uses, retrace

    def target(self, path: Path) -> str:
        """Return the variable that gets the result of a conditional expression, or the item at `path` of it."""
        is_item = len(path) > 1 and isinstance(path[1], int)
        return self._later_uses.target(path[1] if is_item else 0)

    def is_older(self, value: Any) -> bool:
        """Return whether an object existed before the block, within its reach, or may alias one that did."""
        is_older = not self._known.isdisjoint((id(value), id(getattr(value, "__dict__", value))))
        return is_older or any(value is one for group in may_alias.groups() for one in group)

    @functools.cached_property
    def _known(self) -> set[int]:
        return {id(record.owner) for record in self._snapshot.records.values()}

    def is_elsewhere(self, value: Any, names: Set[str]) -> bool:
        """Return whether the block reaches `value` other than through these of its variables."""
        if not all(map(str.isidentifier, names)):
            return True  # other objects may have attributes of the same name
        labels = (self._snapshot.labels(id(part)) for part in (value, getattr(value, "__dict__", value)))
        return not set().union(*labels) <= names

    def lost(self, name: str, container: Any, own: Set[str], results: Set[str]) -> None:
        """Raise an error if `container` has an alias: a loop mutates it, and rebinds its variable `name`.

        `own` are the variables that hold the container before the loop. `results` are those that it assigns.
        """
        self._later_uses.forget()  # the block's function is still running
        if self.is_elsewhere(container, own) or self._others(name, container, results):
            raise rebound(name, list(self._later_uses.changes_inside(name)))

    def split(self, name: str, container: Any, result: Any, results: Set[str]) -> None:
        """Raise an error if the variable `name` holds one of two objects, and that is observable later.

        One object is mutated while the other is in use.
        """
        others = self._others(name, container, results)
        if others and self._later_uses.uses_name_later(name):
            names = [name, *others]
            self._refuse_if_observable(
                names, [container, result], rebound(name, list(self._later_uses.changes_later(names)))
            )

    def parted(self, names: Sequence[str], results: Sequence[Any]) -> None:
        """Raise an error if two variables may alias, and one is mutated while the other is in use."""
        if all(map(self._later_uses.uses_name_later, names)):
            self._refuse_if_observable(
                names, results, parted(names, list(self._later_uses.changes_later(names)))
            )

    def record_loop_entry(self, name: str, values: Sequence[Any]) -> None:
        """Record that an iteration begins with objects that may alias; refuse identity comparisons of `name`."""
        if any(bytecode_effects.compares(code, {name}) for code in self._later_uses.blocks):
            raise compared(name)
        may_alias.record(values, rebound(name))

    def unlike(self, name: str, what: str) -> Exception:
        """Return the error for objects that differ in something that the graph does not carry."""
        return unlike(name, what)

    def _others(self, name: str, container: Any, results: Set[str]) -> list[str]:
        """Return the later used variables of the enclosing functions that hold `container`.

        Variables that the block assigns are left out.
        """
        return list(dict.fromkeys(self._later_uses.holders_later(container, {name, *results})))

    def _refuse_if_observable(self, names: Sequence[str], values: Sequence[Any], error: Exception) -> None:
        """Record that these names may alias; raise if later code compares or mutates the objects."""
        if self._later_uses.compares_later(set(names), values):
            raise compared(next(filter(None, names), "value"))
        if not may_alias.record(values, error) and any(True for _ in self._later_uses.changes_later(names)):
            raise error
