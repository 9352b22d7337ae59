"""With which objects the rounds of a loop begin.

    first = last = [x]             the first round begins with one list, which `first` is as well; the later ones with
    for i in range(n):             another list each. A trace that began with the first one would take what `last` has
        last = f(first, last)      in later rounds for what `first` has.

A loop's body is traced as for the first round. Where that shows that later rounds begin with other objects, and
somebody may notice, it is traced once more: with objects of its own, which are in doubt with those of before."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, Protocol

from .alias_classes import BranchResult, Known, alias_conflicts, classes
from .object_paths import Path


class Reaches(Protocol):
    """Who knows what a block reaches."""

    def knows(self, value: Any) -> bool:
        """Whether a container or object was there before the block, within its reach."""
        ...

    def is_elsewhere(self, value: Any, names: Set[str]) -> bool:
        """Whether the block reaches an object otherwise than by these of its variables."""
        ...


class LoopEntryAliases:
    """What the traces of a loop's body have shown so far."""

    def __init__(self) -> None:
        self.apart: set[Path] = set()  # where later rounds begin with another object
        self.first: dict[Path, Path] = {}  # of the ways that lead to one object in each round, the first
        self.moving: dict[Path, list[Any]] = {}  # where a round ends with another object, and which these are
        self._doubtful: dict[tuple[Path, Any], Path | Known] = {}

    def forget(self) -> None:
        """A round without objects: there is nothing to be known of them."""
        self.first = {}
        if not self.apart:
            self.moving = {}

    def learn(
        self, before: dict[Path, Any], run: BranchResult, names: tuple[str, ...], watch: Reaches
    ) -> bool:
        """Look at the objects after a round; whether the trace was wrong about those at the beginning of one."""
        runs = BranchResult(before, run.doubts), run
        paths = list(dict.fromkeys((*before, *run.objects)))
        self.first = classes(runs, paths)
        has_learned = False
        for path, other in alias_conflicts(runs, paths):
            key = (path, id(other.value) if isinstance(other, Known) else other)
            if key in self._doubtful or not self._matters(other, before, names, watch):
                continue
            self._doubtful[key] = other
            self.apart.add(path)
            if not isinstance(other, Known):
                self.apart.add(other)
            has_learned = True
        return has_learned

    def _matters(
        self, other: Path | Known, before: dict[Path, Any], names: tuple[str, ...], watch: Reaches
    ) -> bool:
        """Whether the block would notice; of its own variables one is compared with the other."""
        if not isinstance(other, Known):
            return True
        own = [path for path, value in before.items() if value is other.value]
        if not own and not watch.knows(other.value):
            return False
        return watch.is_elsewhere(other.value, {names[path[0]] for path in own})

    def doubts(self, before: dict[Path, Any], now: dict[Path, Any]) -> Iterator[tuple[Path, Any, Any]]:
        """What may be one object when a round begins, with the objects that are there `now`."""
        for (path, _), other in self._doubtful.items():
            found = other.value if isinstance(other, Known) else now.get(other)
            if path in now and found is not None and found is not now[path]:
                yield path, now[path], found
        for path in self.apart:
            if path in before and path in now:
                yield path, now[path], before[path]
