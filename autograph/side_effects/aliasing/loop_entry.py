"""Alias analysis at loop entry: the objects with which the iterations of a loop begin.

    first = last = [x]             The first iteration begins with one list, which `first` is as well. Later
    for i in range(n):             iterations begin with another list each. A trace that began with the first list
        last = f(first, last)      would confuse `last` of later iterations with `first`.

A loop's body is traced first as for the first iteration. If an observer can notice that later iterations
begin with other objects, the body is traced again. That trace has objects of its own, which may alias those
before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .alias_classes import BranchResult, KnownObject, alias_conflicts, classes
from .external_aliases import ExternalAliases
from .object_paths import Path


class LoopEntryAliases:
    """The aliases at loop entry that the traces of a loop's body have shown so far."""

    def __init__(self) -> None:
        self.apart: set[Path] = set()  # where later iterations begin with another object
        self.first: dict[Path, Path] = {}  # path → the first path to the same object in each iteration
        self._ambiguous: dict[tuple[Path, Any], Path | KnownObject] = {}

    def learn(
        self, before: dict[Path, Any], run: BranchResult, names: tuple[str, ...], outside: ExternalAliases
    ) -> bool:
        """Record the aliases after a trace of the body.

        Return whether the trace made a wrong assumption about the objects at the beginning of an iteration.
        """
        runs = BranchResult(before, run.groups), run
        paths = list(dict.fromkeys((*before, *run.objects)))
        self.first = classes(runs, paths)
        has_learned = False
        for path, other in alias_conflicts(runs, paths):
            key = (path, id(other.value) if isinstance(other, KnownObject) else other)
            if key in self._ambiguous or not self._matters(other, before, names, outside):
                continue
            self._ambiguous[key] = other
            self.apart.add(path)
            if not isinstance(other, KnownObject):
                self.apart.add(other)
            has_learned = True
        return has_learned

    def _matters(
        self,
        other: Path | KnownObject,
        before: dict[Path, Any],
        names: tuple[str, ...],
        outside: ExternalAliases,
    ) -> bool:
        """Return whether the block can observe that the object at a path aliases `other`."""
        if not isinstance(other, KnownObject):
            return True
        own = [path for path, value in before.items() if value is other.value]
        if not own and not outside.is_older(other.value):
            return False
        return outside.is_elsewhere(other.value, {names[path[0]] for path in own})

    def groups(self, before: dict[Path, Any], now: dict[Path, Any]) -> Iterator[tuple[Path, Any, Any]]:
        """Yield each path whose object may alias another when an iteration begins, with both objects."""
        for (path, _), other in self._ambiguous.items():
            found = other.value if isinstance(other, KnownObject) else now.get(other)
            if path in now and found is not None and found is not now[path]:
                yield path, now[path], found
        for path in self.apart:
            if path in before and path in now:
                yield path, now[path], before[path]
