"""`HashIndex`: the keys and values of a lookup table as arrays, with a dict from keys to rows.

keys   [b"a", b"b"]        find([b"b", b"z"], default)   ==>   values[1], default
values [10, 20]            insert([b"c"], [30])          ==>   one more row in buffers that grow by doubling

Rows of keys may be vectors, as in dense hash tables; a row of values has the shape of one value.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


class HashIndex:
    """The rows of a lookup table. `keys` and `values` are views of the filled rows.

    >>> table = HashIndex(np.array([5, 7]), np.array([1.0, 2.0]))
    >>> table.find(np.array([[7, 6]]), np.array(0.0)).tolist()
    [[2.0, 0.0]]
    """

    def __init__(self, keys: Array, values: Array) -> None:
        self._lock = threading.RLock()
        self.keys, self.values = keys, values
        self._buffers = keys, values
        self._names: Callable[[Array], list[Any]] = _vectors if keys.ndim > 1 else _scalars
        self._order = self._names(keys)
        self._rows = {name: row for row, name in enumerate(self._order)}
        self._owns = False

    def __len__(self) -> int:
        return len(self._rows)

    def rows_of(self, keys: Array) -> Array:
        """Return the row of each key; -1 for keys that are not in the table."""
        row = self._rows.get
        names = self._names(keys)
        return np.fromiter([row(name, -1) for name in names], np.intp, len(names))

    def find(self, keys: Array, default: Array) -> Array:
        """Return the values of keys. `default` is one value, or one for each key."""
        own = self.keys.ndim - 1
        shape = np.shape(keys)[: np.ndim(keys) - own]
        value_shape = self.values.shape[1:]
        with self._lock:
            rows = self.rows_of(keys)
            lacking = rows < 0
            values = self.values
            found = values[rows] if len(values) else np.empty((len(rows), *value_shape), values.dtype)
        if lacking.any():
            is_single = np.ndim(default) == len(value_shape)
            found[lacking] = default if is_single else np.reshape(default, (-1, *value_shape))[lacking]
        return found.reshape(shape + value_shape)

    def insert(self, keys: Array, values: Array) -> None:
        """Add rows, or replace the values of keys that are in the table; the last of equal keys counts."""
        values = np.reshape(values, (-1, *self.values.shape[1:]))
        with self._lock:
            names = self._names(keys)
            new = [name for name in dict.fromkeys(names) if name not in self._rows]
            self._reserve(len(new))
            self._rows.update(zip(new, range(len(self), len(self) + len(new)), strict=True))
            self._order += new
            rows = [self._rows[name] for name in names]
            for buffer, rest in zip(self._buffers, (keys, values), strict=True):
                for row, item in zip(rows, np.reshape(rest, (-1, *buffer.shape[1:])), strict=True):
                    buffer[row] = item
            self._show()

    def remove(self, keys: Array) -> None:
        """Remove the rows of keys; the last row moves to the place of a removed one."""
        with self._lock:
            self._reserve(0)
            for name in self._names(keys):
                row = self._rows.pop(name, None)
                if row is None:
                    continue
                last = self._order.pop()
                if row < len(self._order):
                    self._rows[last], self._order[row] = row, last
                    for buffer in self._buffers:
                        buffer[row] = buffer[len(self._order)]
            self._show()

    def _reserve(self, count: int) -> None:
        """Make the buffers this index's own, with room for `count` more rows."""
        size, needed = len(self._buffers[0]), len(self) + count
        if not self._owns or needed > size:
            capacity = max(needed, 2 * size if self._owns else needed)
            self._buffers = _grown(self.keys, capacity), _grown(self.values, capacity)
            self._owns = True

    def _show(self) -> None:
        self.keys, self.values = (buffer[: len(self)] for buffer in self._buffers)


def _grown(rows: Array, capacity: int) -> Array:
    grown = np.empty((capacity, *rows.shape[1:]), rows.dtype)
    grown[: len(rows)] = rows
    return grown


def _scalars(keys: Array) -> list[Any]:
    names: list[Any] = np.reshape(keys, -1).tolist()
    return names


def _vectors(keys: Array) -> list[Any]:
    return [tuple(row) for row in np.reshape(keys, (-1, np.shape(keys)[-1])).tolist()]
