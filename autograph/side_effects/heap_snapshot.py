"""Heap snapshot: all objects that a staged block may mutate, with their contents when the block began.

    while i < n:           names in the block's code   net, step, i
        net.step(i)        net is an object            a snapshot of its attributes is taken
        i += 1             Net.step is code as well    and adds names: total, LOG, ...

A block's own functions are new each time, but reach mostly the objects that the previous block reached. So
snapshots are cached while a function is traced (`CachedSnapshot`). A cached snapshot is reused until its
contents change.
"""

from __future__ import annotations

import copy
import operator
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from .container_snapshots import Entries
from .heap_walk import HeapWalker
from .process_state import NAMES as _OF_PROCESS
from .process_state import ProcessState, global_generators
from .snapshot_cache import CachedSnapshot
from .snapshots import AccessPath, ObjectSnapshot

_MANY = 64  # snapshots: taking fewer is faster than caching them
_KEPT = 8  # cached snapshots
_NOWHERE = HeapWalker(())


class _Memory(threading.local):
    def __init__(self) -> None:
        self.depth = 0
        self.extents: list[CachedSnapshot] = []


_memory = _Memory()


@contextmanager
def remembering() -> Iterator[None]:
    """Cache heap snapshots while the context is active, so that blocks share them."""
    _memory.depth += 1
    try:
        yield
    finally:
        _memory.depth -= 1
        if not _memory.depth:
            _memory.extents.clear()


class HeapSnapshot:
    """The snapshots of all objects reachable from the functions and values `roots`."""

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        self._closures = _Closures([(value, AccessPath(None, "", name)) for name, value in roots])
        self._shared = _fitting(self._closures)
        self._rest = self._walk(self._shared)
        if not all(extent.serves(self._rest.names, self._rest.reflects) for extent in self._shared):
            self._shared = []
            self._rest = self._walk([])
        if not self._rest.meets_known and len(self._rest.records) >= _MANY and _memory.depth:
            extent = CachedSnapshot(self._rest, self._closures.labelled())
            self._shared = [*self._shared, extent]
            self._rest = _NOWHERE
            _memory.extents[:] = [extent, *_memory.extents[: _KEPT - 1]]

    def _walk(self, shared: list[CachedSnapshot]) -> HeapWalker:
        """Walk the objects that the closures reach and no cached snapshot contains."""
        closures = self._closures
        if not closures.entries:  # a block of tensors and numbers
            return _NOWHERE
        names = closures.names.union(*(extent.walk.own_names for extent in shared))
        reflects = closures.reflects or any(extent.walk.reflects for extent in shared)
        walk = HeapWalker(closures.entries, names, reflects, [extent.walk for extent in shared])
        count = len(closures.entries)
        while not walk.names <= closures.names or walk.reflects != closures.reflects:
            closures.widen(walk.names, walk.reflects)
            for value, trail in closures.entries[count:]:
                walk.push(value, trail)
            count = len(closures.entries)
            walk.widen(closures.names, closures.reflects)
        return walk

    @property
    def records(self) -> dict[Any, ObjectSnapshot]:
        """Return all snapshots, by the ids of their objects."""
        found: dict[Any, ObjectSnapshot] = {}
        for part in (
            *(extent.records for extent in self._shared),
            self._rest.records,
            self._closures.records,
        ):
            found.update(part)
        return found

    def dicts(self) -> Iterator[Entries]:
        """Yield the snapshots of dicts that may have changed in their keys or key order.

        Dicts of attributes are included where these are few.
        """
        for extent in self._shared:
            if not extent.has_same_keys():
                yield from (
                    one for one in extent.records.values() if type(one) is Entries and one.kind == "["
                )
            else:
                yield from extent.ordered
        for records in (self._rest.records, self._closures.records):
            for record in list(records.values()):
                if type(record) is Entries and (record.kind == "[" or len(records) < _MANY):
                    yield record

    def labels(self, number: int) -> set[str]:
        """Return the names through which the object with this id is reached."""
        walks = (*(extent.walk for extent in self._shared), self._rest, self._closures)
        records = [walk.records[number] for walk in walks if number in walk.records]
        return set().union(
            *(walk.also.get(number, ()) for walk in walks), *(record.labels for record in records)
        )

    @property
    def codes(self) -> dict[int, CodeType]:
        """Return all reachable code, by id."""
        walks = (*(extent.walk for extent in self._shared), self._rest, self._closures)
        return {number: code for walk in walks for number, code in walk.codes.items()}

    def process_state(self) -> ProcessState:
        """Return the current state of the process that reachable code may use."""
        walks = (*(extent.walk for extent in self._shared), self._rest, self._closures)
        names = set().union(*(walk.names & _OF_PROCESS for walk in walks))
        if any(walk.has_seen(id(generator)) for walk in walks for generator in global_generators()):
            names.add("random")
        caches, files = ([one for walk in walks for one in found(walk)] for found in (_caches_of, _files_of))
        return ProcessState(
            names,
            lambda: [(code, walk.globals[number]) for walk in walks for number, code in walk.codes.items()],
            caches,
            files,
        )

    def changed(self) -> list[ObjectSnapshot]:
        """Return the snapshots of objects that have changed."""
        found: dict[Any, list[ObjectSnapshot]] = {}
        for records in self._doubtful():
            for key, record in records.items():
                if record.has_changed():
                    found.setdefault(key, []).append(record)
        return [self._labelled(key, records) for key, records in found.items()]

    def _labelled(self, key: Any, records: list[ObjectSnapshot]) -> ObjectSnapshot:
        """Return one snapshot for what several walks have recorded, with all labels."""
        record = copy.copy(records[0])
        record.labels = set().union(*(one.labels for one in records), self._rest.also.get(key, ()))
        return record

    def restore(self) -> None:
        """Restore all objects to their snapshots."""
        for records in self._doubtful():
            for record in records.values():
                record.restore()

    def _doubtful(self) -> Iterator[dict[Any, ObjectSnapshot]]:
        """Yield the snapshots of the parts in which something may have changed."""
        yield from (extent.records for extent in self._shared if not extent.is_intact())
        yield self._rest.records
        yield self._closures.records


_caches_of, _files_of = operator.attrgetter("caches"), operator.attrgetter("files")


class _Closures(HeapWalker):
    """A walk of a block's functions and their nested functions; `entries` are the objects that they lead to."""

    def __init__(self, roots: Iterable[tuple[Any, AccessPath]]) -> None:
        self.entries: list[tuple[Any, AccessPath]] = []
        self._roots = {id(value): value for value, _ in roots}
        super().__init__(roots)

    def push(self, value: Any, trail: AccessPath) -> None:
        if type(value) is FunctionType and (
            id(value) in self._roots or "<locals>" in value.__code__.co_qualname
        ):
            super().push(value, trail)
        elif self.is_open(value):
            self.entries.append((value, trail))

    def labelled(self) -> set[tuple[int, str]]:
        return {(id(value), trail.label) for value, trail in self.entries}


def _fitting(closures: _Closures) -> list[CachedSnapshot]:
    """Return the valid cached snapshots that these closures reach."""
    if not _memory.extents:
        return []
    entries = closures.labelled()
    fitting: list[CachedSnapshot] = []
    names = closures.names
    for extent in list(_memory.extents):
        if extent.entries <= entries and extent.serves(names | extent.walk.own_names, closures.reflects):
            now = extent.renewed()
            _memory.extents.remove(extent)
            if now is not None:
                _memory.extents.insert(0, now)
                fitting.append(now)
    return fitting
