"""Who else knows the objects in a block's state and results, and whether they will notice what becomes of these.

    first = [x]
    chosen = first if x > 0 else [x]         `chosen` is `first`, or another list
    chosen.append(x)                         by another name, `first` is changed here, or is not
    return len(first)                        and that is noticed here

What an object is in is looked for in the variables of the functions around; what they do later, in their code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence, Set
from itertools import chain
from typing import Any

from ...analysis import bytecode_effects
from ..diagnostics import compared, parted, rebound, unlike
from ..heap_snapshot import HeapSnapshot
from ..later_uses import LaterUses
from . import may_alias
from .object_paths import Path


class ExternalAliases:
    """All that sees the objects of one staged block; `again` has the block traced once more."""

    def __init__(self, survey: HeapSnapshot, reach: LaterUses, again: Callable[[], BaseException]) -> None:
        self._survey, self._reach, self.again = survey, reach, again

    def target(self, path: Path) -> str:
        """The variable that gets the result of a choice that is an expression, or of an item of it."""
        is_item = len(path) > 1 and isinstance(path[1], int)
        return self._reach.target(path[1] if is_item else 0)

    def knows(self, value: Any) -> bool:
        """Whether a container or object was there before the block, within its reach, or is perhaps one that was."""
        return self.has_seen(value) or any(value is one for group in may_alias.groups() for one in group)

    def has_seen(self, value: Any) -> bool:
        """Whether an object was there before the block, within its reach."""
        return not self._known.isdisjoint((id(value), id(getattr(value, "__dict__", value))))

    @functools.cached_property
    def _known(self) -> set[int]:
        return {id(record.owner) for record in self._survey.records.values()}

    def is_elsewhere(self, value: Any, names: Set[str]) -> bool:
        """Whether the block reaches an object otherwise than by these of its variables."""
        if not all(map(str.isidentifier, names)):
            return True  # other objects may have attributes of the same name
        labels = (self._survey.labels(id(part)) for part in (value, getattr(value, "__dict__", value)))
        return not set().union(*labels) <= names

    def lost(self, name: str, container: Any, own: Set[str], results: Set[str]) -> None:
        """A list or dict is changed, and its variable is something else then: nobody else may know it."""
        self._reach.forget()  # the block's function is still running
        if self.is_elsewhere(container, own) or self._others(name, container, results):
            raise rebound(name)

    def split(self, name: str, container: Any, result: Any, results: Set[str]) -> None:
        """One of two objects is in a variable: neither may be changed by one name, and used by the other."""
        others = self._others(name, container, results)
        if others and self._reach.uses_name_later(name):
            names = [name, *others]
            self._doubt(names, [container, result], rebound(name, list(self._reach.changes_later(names))))

    def parted(self, names: Sequence[str], results: Sequence[Any]) -> None:
        """Two variables have one object or two: neither may be changed by one name, and used by the other."""
        if all(map(self._reach.uses_name_later, names)):
            self._doubt(names, results, parted(names, list(self._reach.changes_later(names))))

    def is_noticed(self, names: Sequence[str], container: Any, results: Set[str]) -> bool:
        """Whether code goes on to change an object that is perhaps two, while others use it."""
        if not all(map(self._reach.uses_name_later, names)):
            return False
        others = [] if container is None else self._others(names[0], container, results)
        if container is not None and not others:
            return False
        if not all(map(str.isidentifier, names)):
            # Methods change the object in an attribute, and what an expression gives has no name to look for.
            return not self._reach.asks_which(() if container is None else (container,))
        outside = chain.from_iterable(map(self._reach.names_outside, names))
        return any(True for _ in self._reach.changes_later([*names, *others, *outside]))

    def chooses(self, name: str, objects: Sequence[Any]) -> None:
        """A variable has one of several objects, which are told by a number: nobody may ask which it is."""
        if self._reach.asks_which(objects):
            raise compared(name)

    def begins(self, name: str, values: Sequence[Any]) -> None:
        """A round of a loop begins with objects that are perhaps one."""
        if any(bytecode_effects.compares(code, {name}) for code in self._reach.blocks):
            raise compared(name)
        may_alias.note(values, rebound(name))

    def unlike(self, name: str, what: str) -> Exception:
        """What to raise for objects that differ in something which is no part of them."""
        return unlike(name, what)

    def _others(self, name: str, container: Any, results: Set[str]) -> list[str]:
        """What else has an object, of all that the functions around go on to use and the block does not assign."""
        return list(dict.fromkeys(self._reach.holders_later(container, {name, *results})))

    def _doubt(self, names: Sequence[str], values: Sequence[Any], error: Exception) -> None:
        """These names are of one object, or of several: from now on it must not matter."""
        if self._reach.compares_later(set(names), values):
            raise compared(next(filter(None, names), "value"))
        if not may_alias.note(values, error) and any(True for _ in self._reach.changes_later(names)):
            raise error
