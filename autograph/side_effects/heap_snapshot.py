"""Heap snapshot: all objects that a staged block may mutate, with their contents when the block began.

while i < n:           names in the block's code   net, step, i
    net.step(i)        net is an object            a snapshot of its attributes is taken
    i += 1             Net.step is code as well    and adds names: total, LOG, ...
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from .container_snapshots import Entries
from .heap_walk import HeapWalker
from .process_state import NAMES as _OF_PROCESS
from .process_state import ProcessState, global_generators
from .snapshots import AccessPath, ObjectSnapshot

_MANY = 64  # snapshots: with more, the key order of attributes is not compared


class HeapSnapshot(HeapWalker):
    """The snapshots of all objects reachable from the functions and values `roots`."""

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        super().__init__([(value, AccessPath(None, "", name)) for name, value in roots])

    def dicts(self) -> Iterator[Entries]:
        """Yield the snapshots of dicts whose key order matters.

        Dicts of attributes are included where these are few.
        """
        is_small = len(self.records) < _MANY
        for record in list(self.records.values()):
            if type(record) is Entries and (record.kind == "[" or is_small):
                yield record

    def labels(self, number: int) -> set[str]:
        """Return the names through which the object with this id is reached."""
        record = self.records.get(number)
        return self.also.get(number, set()) | (set() if record is None else record.labels)

    def process_state(self) -> ProcessState:
        """Return the current state of the process that reachable code may use."""
        names = self.names & _OF_PROCESS
        if any(id(generator) in self.visited for generator in global_generators()):
            names.add("random")
        return ProcessState(
            names,
            lambda: [(code, self.globals[number]) for number, code in self.codes.items()],
            self.caches,
            self.files,
        )

    def changed(self) -> list[ObjectSnapshot]:
        """Return the snapshots of objects that have changed."""
        return [self._labelled(key) for key, record in self.records.items() if record.has_changed()]

    def _labelled(self, key: Any) -> ObjectSnapshot:
        record = copy.copy(self.records[key])
        record.labels = record.labels | self.also.get(key, set())
        return record

    def restore(self) -> None:
        """Restore all objects to their snapshots."""
        for record in self.records.values():
            record.restore()
