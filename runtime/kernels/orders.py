"""Stable orders of elements and rows, by fast sorts of integers that end with the elements' positions.

    values [7, 3, 7]  ──►  [7 << 2 | 0, 3 << 2 | 1, 7 << 2 | 2]  ──► sort ──►  the last two bits: 1, 0, 2

NumPy's sort of integers is several times as fast as its stable argsort.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np

Array = Any

FEW = 512
"""The number of elements up to which NumPy finds a stable order, or the places in each of a few rows, sooner."""

FEW_ROWS = 16


def stable_order(
    values: Array, axis: int = -1, is_descending: bool = False, count: int | None = None
) -> Array:
    """Return the indices of a stable order, or the first `count` of them. NaN is greater than any number.

    >>> stable_order(np.array([3.0, 1.0, np.nan, 1.0])).tolist()
    [1, 3, 0, 2]
    """
    size = values.shape[axis]
    bits = max(size - 1, 0).bit_length()
    keys = _keys(values, 63 - bits) if values.size > FEW else None
    if keys is not None:
        packed = ((~keys if is_descending else keys) << bits).swapaxes(axis, -1)
        packed |= np.arange(size)
        if count is not None and 0 < count < size:
            packed = np.partition(packed, count - 1)
        packed = packed[..., :count]
        packed.sort()
        packed &= (1 << bits) - 1
        return packed.swapaxes(axis, -1)
    rows = values.swapaxes(axis, -1)
    order = rows[..., ::-1].argsort(-1, "stable") if is_descending else rows.argsort(-1, "stable")
    if is_descending:  # the ascending order of the reversed values, read backwards
        order = size - 1 - order[..., ::-1]
    return order[..., :count].swapaxes(axis, -1)


def take_along_last(x: Array, indices: Array) -> Array:
    """Return `np.take_along_axis(x, indices, -1)` in a third of its time, for indices that are in range.

    >>> take_along_last(np.array([[1, 2], [3, 4]]), np.array([[1], [0]])).tolist()
    [[2], [3]]
    """
    starts = np.arange(math.prod(x.shape[:-1])) * x.shape[-1]
    return x.reshape(-1).take(indices + starts.reshape(*x.shape[:-1], 1))


def places_in_rows(rows: Array, values: Array, side: Any) -> Array:
    """Return `row.searchsorted(some, side)` for each of the sorted rows and its values.

    Many rows are searched all at once.

    >>> places_in_rows(np.array([[1, 3], [5, 7]]), np.array([[3], [9]]), "right").tolist()
    [[2], [2]]
    """
    are_few = len(rows) == 1 or (len(rows) <= FEW_ROWS and values.size <= FEW)
    if are_few or (values.dtype.kind == "f" and np.isnan(values).any()):
        found = [row.searchsorted(some, side) for row, some in zip(rows, values, strict=True)]
        return np.array(found, np.int64).reshape(values.shape)
    is_before = np.less_equal if side == "right" else np.less
    flat, size = rows.reshape(-1), rows.shape[-1]
    starts = np.arange(len(rows))[:, None] * size
    places = np.broadcast_to(starts, values.shape).copy()
    while size > 1:
        half = size // 2
        places += half * is_before(flat.take(places + (half - 1)), values)
        size -= half
    if size:
        places += is_before(flat.take(places), values)
    return places - starts


def _keys(values: Array, bits: int) -> Array:
    """Return signed integers of at most `bits` bits and a sign in the order of the elements, or None."""
    if values.dtype.kind == "f" and values.dtype.itemsize <= 4 and bits >= 31:
        numbers = values.astype(np.float32)
        numbers += 0.0  # -0.0 becomes 0.0, which is equal
        numbers[np.isnan(numbers)] = np.nan  # with the sign bit 0
        whole = numbers.view(np.int32)
        return (whole ^ (whole >> 31 & 0x7FFFFFFF)).astype(np.int64)  # negative numbers are in reverse order
    if values.dtype.kind == "b" or not values.size:
        return values.astype(np.int64) if values.dtype.kind in "biu" else None
    if values.dtype.kind not in "iu":
        return None
    low, high = int(values.min()), int(values.max())
    if (high - low).bit_length() > bits:
        return None
    is_wide = values.dtype.itemsize == 8
    return (values - values.dtype.type(low)).astype(np.int64) if is_wide else values.astype(np.int64) - low


def _row_keys(rows: Array) -> tuple[Array | None, list[int], list[int]]:
    """Return numbers in the lexicographic order of rows, or None if they do not fit; the columns' minima and ranges."""
    columns = rows.T if rows.size else rows.T[:0]
    low = [int(column.min()) for column in columns]
    spans = [int(column.max()) - least + 1 for column, least in zip(columns, low, strict=True)]
    if math.prod(spans) >= 1 << 63:
        return None, low, spans
    keys: Any = np.zeros(len(rows), np.int64)
    for column, least, span in zip(columns, low, spans, strict=True):
        keys *= span
        keys += column
        keys -= least
    return keys, low, spans


def row_order(rows: Array) -> Array:
    """Return the stable order that sorts rows of integers lexicographically.

    >>> row_order(np.array([[1, 0], [0, 5], [0, 2]])).tolist()
    [2, 1, 0]
    """
    keys, _, _ = _row_keys(rows)
    if keys is None:
        return np.lexsort(rows.T[::-1])
    is_ordered = (keys[1:] >= keys[:-1]).all()
    return np.arange(len(rows)) if is_ordered else stable_order(keys)


def distinct_rows(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows of integers in order, and the number of each row among them.

    >>> [part.tolist() for part in distinct_rows(np.array([[1, 0], [0, 5], [1, 0]]))]
    [[[0, 5], [1, 0]], [1, 0, 1]]
    """
    keys, low, spans = _row_keys(rows)
    if keys is None:
        found, positions = np.unique(rows, axis=0, return_inverse=True)
        return found, positions.reshape(-1)
    if not spans:
        return rows[:1], keys
    found, positions = distinct(keys)
    columns = [part + least for part, least in zip(np.unravel_index(found, spans), low, strict=True)]
    return np.stack(columns, 1).astype(rows.dtype), positions


_DENSE = 4


def distinct(x: Array) -> tuple[Array, Array]:
    """Return the distinct elements of a vector in order, and the number of each element among them.

    >>> [part.tolist() for part in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    if x.dtype.kind in "iu" and len(x):
        low, high = int(x.min()), int(x.max())
        if high - low <= _DENSE * len(x):  # mark the elements in a table
            keys = (
                (x - x.dtype.type(low)).astype(np.intp) if x.dtype.itemsize == 8 else x.astype(np.intp) - low
            )
            is_there = np.zeros(high - low + 1, bool)
            is_there[keys] = True
            found = is_there.nonzero()[0].astype(x.dtype) + x.dtype.type(low)
            return found, (is_there.cumsum() - 1)[keys]
    order = stable_order(x)
    ordered = x[order]
    is_first = np.ones(len(x), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    positions = np.empty(len(x), np.int64)
    positions[order] = is_first.cumsum() - 1
    return ordered[is_first], positions


_HASHED = 32
"""Below this number of elements, a dictionary is faster than sorting."""


def first_appearances(x: Array) -> tuple[Array, Array]:
    """Return the distinct elements of a vector by first appearance, and the index of each element among them.

    A NaN is distinct from every other element.

    >>> [part.tolist() for part in first_appearances(np.array([7, 3, 7]))]
    [[7, 3], [0, 1, 0]]
    """
    if x.dtype == object or len(x) < _HASHED:
        items = x.tolist()
        rows = defaultdict[Any, int](itertools.count().__next__)
        positions = np.fromiter(map(rows.__getitem__, items), np.int64, len(items))
        return np.fromiter(rows, x.dtype, len(rows)), positions
    found, numbers = distinct(x)
    first = np.empty(len(found), np.int64)
    first[numbers[::-1]] = np.arange(len(x))[::-1]  # the last one counts
    order = np.argsort(first)
    places = np.empty_like(first)
    places[order] = np.arange(len(first))
    return x[first[order]], places[numbers]
