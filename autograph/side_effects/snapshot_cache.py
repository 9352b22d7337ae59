"""Snapshot cache: a finished heap walk that serves several blocks, and is validated as a whole.

20,000 objects, their dictionaries and lists      one pass over all items, by identity; no call for each object
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Set
from itertools import chain
from typing import Any

from ..staging import PYTHON, backends
from .class_traits import ATOMS
from .container_snapshots import Entries, Sequence
from .heap_walk import HeapWalker
from .snapshots import CellSnapshot, ObjectSnapshot


class CachedSnapshot:
    """The snapshots of all objects reachable from some objects; `entries` are the ids and labels of these."""

    def __init__(
        self,
        walk: HeapWalker,
        entries: Set[tuple[int, str]],
        records: dict[Any, ObjectSnapshot] | None = None,
    ) -> None:
        self.walk, self.entries = walk, entries
        self.records = walk.records if records is None else records
        self._unfollowed = walk.unfollowed()
        dicts = [
            record for record in self.records.values() if type(record) is Entries and not record.is_ordered
        ]
        lists = [
            record
            for record in self.records.values()
            if type(record) is Sequence and isinstance(record.owner, list)
        ]
        grouped = {id(record) for record in (*dicts, *lists)}
        self._others = [record for record in self.records.values() if id(record) not in grouped]
        self._dicts = [record.mapping for record in dicts], [record.kept for record in dicts]
        self._lists = [record.owner for record in lists], [record.kept for record in lists]

    def serves(self, names: Set[str], reflects: bool) -> bool:
        """Return whether a walk for code that contains these names would have visited the same objects."""
        if self.walk.would_note(names):
            return False
        if self.walk.reflects or reflects:
            return self.walk.reflects and reflects
        return self.walk.followed <= names and self._unfollowed.isdisjoint(names)

    def is_intact(self) -> bool:
        """Return whether no object has changed since its snapshot."""
        now, kept = self._dicts
        lists, items = self._lists
        return (
            list(map(dict.__len__, now)) == list(map(len, kept))
            and list(map(list.__len__, lists)) == list(map(len, items))
            and _are(map(dict.__iter__, now), kept)
            and _are(map(dict.values, now), map(dict.values, kept))
            and _are(map(list.__iter__, lists), items)
            and not any(record.has_changed() for record in self._others)
        )

    def has_same_keys(self) -> bool:
        """Return whether all dicts have their initial keys, in the same order."""
        now, kept = self._dicts
        return list(map(dict.__len__, now)) == list(map(len, kept)) and _are(map(dict.__iter__, now), kept)

    @property
    def ordered(self) -> Iterator[Entries]:
        """The snapshots of dicts that store the key order themselves."""
        return (record for record in self._others if isinstance(record, Entries))

    def renewed(self) -> CachedSnapshot | None:
        """Return an up-to-date version of these snapshots, or None if another walk might find other objects.

        Where one value of a backend has replaced another, only that snapshot is renewed: the value has no
        parts to visit.
        """
        if not self.walk.watches.hold():
            return None
        if self.is_intact():
            return self
        records = dict(self.records)
        for key, record in self.records.items():
            if record.has_changed():
                new = _renewed(record)
                if new is None:
                    return None
                records[key] = new
        return CachedSnapshot(self.walk, self.entries, records)


def _renewed(record: ObjectSnapshot) -> ObjectSnapshot | None:
    new: ObjectSnapshot
    if isinstance(record, CellSnapshot):
        new = CellSnapshot(record.owner, record.trail, record.get, record.put)
        changed = [new.kept]
    elif type(record) is Entries:
        now, kept = record.mapping, record.kept
        if len(now) != len(kept) or not all(map(operator.is_, dict.keys(now), kept)):
            return None
        new = Entries(record.owner, record.trail, now, record.kind, record.defaults)
        changed = [
            value for value, old in zip(dict.values(now), kept.values(), strict=True) if value is not old
        ]
    else:
        return None
    new.labels = record.labels
    return new if all(map(_is_leaf, changed)) else None


def _is_leaf(value: Any) -> bool:
    return type(value) in ATOMS or backends[type(value)] is not PYTHON


def _are(now: Any, kept: Any) -> bool:
    """Return whether containers of equal number and lengths hold the very same objects."""
    return all(map(operator.is_, chain.from_iterable(now), chain.from_iterable(kept)))
