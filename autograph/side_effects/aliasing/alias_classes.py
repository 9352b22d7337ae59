"""Alias classes: which paths in the results of a block lead to one object, in every trace or only in some.

if x > 0:              trace 1     a: (0,) → D1    b: (1,) → D1        one object in trace 1, two in trace 2:
    a = b = D(x)                                                       (0,) and (1,) conflict
else:                  trace 2     a: (0,) → D2    b: (1,) → D3
    a, b = D(x), D(x)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .object_paths import Path


class BranchResult(NamedTuple):
    """The objects in the results of one trace of a branch or body, and the may-alias groups of that trace."""

    objects: dict[Path, Any]
    groups: Sequence[Sequence[Any]] = ()

    def key(self, path: Path) -> int:
        return id(self.objects.get(path))

    def may_be(self, path: Path) -> Iterator[Any]:
        """Yield the object at `path` in the results, then the objects that may alias it."""
        if path in self.objects:
            value = self.objects[path]
            yield value
            for group in self.groups:
                if any(value is one for one in group):
                    yield from (one for one in group if one is not value)


class KnownObject(NamedTuple):
    """An object itself, given in place of a path to an object."""

    value: Any


def classes(runs: Sequence[BranchResult], paths: Iterable[Path]) -> dict[Path, Path]:
    """Return for each path the first path that leads to the same object in every trace."""
    first: dict[tuple[int, ...], Path] = {}
    return {path: first.setdefault(tuple(run.key(path) for run in runs), path) for path in paths}


def alias_conflicts(
    runs: Sequence[BranchResult], paths: Iterable[Path]
) -> Iterator[tuple[Path, Path | KnownObject]]:
    """Yield the pairs that alias in some traces only.

    Each pair is two paths, or a path and an object that was known before the block.
    """
    paths = list(paths)
    first = classes(runs, paths)
    reported: set[Any] = set()
    for run in runs:
        ways = defaultdict(list)
        for path in paths:
            if path in run.objects:
                ways[id(run.objects[path])].append(path)
        for path in paths:
            for value in run.may_be(path):
                for other in ways[id(value)]:
                    pair = frozenset((path, other))
                    if first[other] != first[path] and pair not in reported:
                        reported.add(pair)
                        yield path, other
                if (path, id(value)) not in reported and any(
                    one.objects.get(path) is not value for one in runs
                ):
                    reported.add((path, id(value)))
                    yield path, KnownObject(value)
