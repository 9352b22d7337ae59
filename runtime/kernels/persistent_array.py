"""A persistent array: the list of a TensorArray, of which each write makes a new version.

A write leaves the old version unchanged. It still costs O(1): the newest version owns the list, and each older version
stores its difference (Baker, "Shallow binding makes functional arrays fast", 1991).

>>> old = PersistentArray([1, 2])
>>> new = old.written(0, 7)
>>> new.items(), old.items()
([7, 2], [1, 2])
>>> new.popped().items(), new.items()
([7], [7, 2])
"""

from __future__ import annotations

from typing import Any

_GONE = object()


class PersistentArray:
    """One version of a persistent array of tensors; None marks an element that was never written."""

    __slots__ = ("_index", "_items", "_newer", "_old")

    def __init__(self, items: list[Any]) -> None:
        self._items: list[Any] | None = items
        self._newer: PersistentArray | None = None
        self._index = 0
        self._old: Any = None

    def items(self) -> list[Any]:
        """Return the elements; the caller must not change the list."""
        if self._items is None:
            self._split_off()
        assert self._items is not None
        return self._items

    def written(self, index: int, item: Any) -> PersistentArray:
        """Return the version with `item` at `index`, which is at most the length."""
        items = self.items()
        new = self._version(items)
        self._old = items[index] if index < len(items) else _GONE
        if self._old is _GONE:
            items.append(item)
        else:
            items[index] = item
        self._items, self._newer, self._index = None, new, index
        return new

    def popped(self) -> PersistentArray:
        """Return the version without the last element."""
        items = self.items()
        self._old, self._index = items.pop(), len(items)
        new = self._version(items)
        self._items, self._newer = None, new
        return new

    def _version(self, items: list[Any]) -> PersistentArray:
        """Return a version that owns a list; what a subclass states about its elements may not hold for these."""
        return PersistentArray(items)

    def _split_off(self) -> None:
        """Give this old version its own copy of the list."""
        chain = [self]
        while chain[-1]._items is None:
            newer = chain[-1]._newer
            assert newer is not None
            chain.append(newer)
        newest = chain.pop()._items
        assert newest is not None
        items = list(newest)
        for version in reversed(chain):
            if version._old is _GONE:
                items.pop()
            elif version._index == len(items):
                items.append(version._old)
            else:
                items[version._index] = version._old
        self._items, self._newer, self._old = items, None, None


class Growing(PersistentArray):
    """A persistent array that can be written past its end."""

    __slots__ = ()

    def written(self, index: int, item: Any) -> PersistentArray:
        items = self.items()
        if index > len(items):
            missing: list[Any] = [None] * (index - len(items))
            return Growing([*items, *missing]).written(index, item)
        return super().written(index, item)

    def _version(self, items: list[Any]) -> PersistentArray:
        return Growing(items)
