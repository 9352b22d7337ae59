"""Combine rows at positions that may repeat: the kernel of scatters, segments and the gradients of gathers.

    combine_rows(np.add, result, positions, rows)      result[positions[i]] += rows[i]     i = 0, 1, …
    add_weighted(result, positions, rows, sources, weights)
                                  result[:, positions[i]] += weights[i] * rows[:, sources[i]]
    are_within(indices, size)     0 <= indices[i] < size for all i

An optional extension computes it, in the order of the positions; without it, NumPy sorts the rows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from .orders import stable_order
from .thread_pool import run_all

try:
    from . import _native_rows as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None
try:
    from . import _native_arrays as native_arrays  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native_arrays = None

Array = Any

_COMMUTATIVE = (np.add, np.multiply, np.maximum, np.minimum)


def combine_rows(ufunc: np.ufunc, result: Array, positions: Array, rows: Array) -> None:
    """Compute `ufunc.at(result, positions, rows)`; `positions` are indices of the first axis, in any shape.

    >>> total = np.zeros(3)
    >>> combine_rows(np.add, total, np.array([2, 0, 2]), np.array([1.0, 5.0, 2.0]))
    >>> total.tolist()
    [5.0, 0.0, 3.0]
    """
    if ufunc is np.subtract:
        ufunc, rows = np.add, np.negative(rows)
    if native is not None and native.combine(ufunc.__name__, result, positions, rows):
        return
    is_plain = np.shape(rows) == (*np.shape(positions), *result.shape[1:]) and rows.dtype == result.dtype
    if not (is_plain and rows.size and ufunc in _COMMUTATIVE):
        ufunc.at(result, positions, rows)
        return
    flat, places = rows.reshape(-1, *result.shape[1:]), positions.reshape(-1)
    order = stable_order(places)
    ordered = places[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    changed = ordered[begins]
    result[changed] = ufunc(result[changed], ufunc.reduceat(flat[order], begins, 0, rows.dtype))


def combine_along(ufunc: np.ufunc, result: Array, axis: int, positions: Array, rows: Array) -> None:
    """Compute `combine_rows` on another axis; the first axes of `positions` are batch axes if it has more than one.

    >>> total = np.zeros((2, 2))
    >>> combine_along(np.add, total, 1, np.array([1, 1]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> total.tolist()
    [[0.0, 3.0], [0.0, 7.0]]
    """
    before, size, after = math.prod(result.shape[:axis]), result.shape[axis], result.shape[axis + 1 :]
    count = positions.shape[-1]
    batch = math.prod(positions.shape[:-1])
    starts = np.arange(0, before * size, max(size, 1)).reshape(batch, -1, 1)
    places = starts + positions.reshape(batch, 1, count).astype(np.int64, copy=False)
    combine_rows(ufunc, result.reshape(before * size, *after), places, rows.reshape(*places.shape, *after))


def are_within(indices: Array, size: int) -> bool:
    """Return whether all integers of an array are in [0, size).

    >>> are_within(np.array([0, 2]), 3), are_within(np.array([0, -1]), 3)
    (True, False)
    """
    found = None if native is None else native.are_within(indices, size)
    if found is None:
        unsigned = indices.view(f"u{indices.dtype.itemsize}")  # negative numbers are large ones
        return not indices.size or bool(np.maximum.reduce(unsigned, None) < size)
    return found  # type: ignore[no-any-return]


_PARTS, _LARGE = 8, 1 << 16


def add_weighted(result: Array, positions: Array, rows: Array, sources: Array, weights: Array) -> None:
    """Add weighted rows of the second axis of three; threads share the first axis, or the last one.

    >>> total = np.zeros((1, 2, 1))
    >>> add_weighted(total, np.array([1, 1]), np.array([[[1.0], [2.0]]]), np.array([0, 1]), np.array([10.0, 1.0]))
    >>> total.ravel().tolist()
    [0.0, 12.0]
    """

    def add(part: tuple[slice, ...]) -> None:
        if native is None or not native.add_weighted(result[part], positions, rows[part], sources, weights):
            combine_along(np.add, result[part], 1, positions, rows[part][:, sources] * weights[:, None])

    axis = 0 if len(result) > 1 else 2
    size = result.shape[axis]
    step = (
        max(1, -(-size // _PARTS)) if len(weights) * len(result) * result.shape[2] > _LARGE else max(size, 1)
    )
    parts = [(slice(None),) * axis + (slice(start, start + step),) for start in range(0, size, step)]
    run_all(*(functools.partial(add, part) for part in parts))


def row_numbers(
    coordinates: Array, shape: tuple[int, ...], batch: int = 0, what: str = "shape"
) -> tuple[Array, tuple[int, ...]]:
    """Return the rows that coordinates select, and the shape of the array with the axes merged that they index.

    The last axis of `coordinates` has those of the axes after the first `batch`, which select from their own rows.
    Raise InvalidArgumentError, which names `what` the shape is, if they are outside of it.

    >>> row_numbers(np.array([[1, 0], [0, 2]]), (2, 3, 4))
    (array([3, 2]), (6, 4))
    """
    depth = batch + coordinates.shape[-1]
    found = None if native_arrays is None else native_arrays.row_numbers(coordinates, shape[batch:depth])
    if found is not None:
        numbers = found
    elif coordinates.size:
        try:
            numbers = np.ravel_multi_index(coordinates.T, shape[batch:depth]).T
        except ValueError as error:
            raise _outside(coordinates, shape[batch:depth], what, shape) from error
    else:
        numbers = np.zeros(coordinates.shape[:-1], np.int64)
    if batch:
        outer = np.arange(math.prod(shape[:batch])) * math.prod(shape[batch:depth])
        numbers += outer.reshape(*shape[:batch], *(1,) * (numbers.ndim - batch))
    return numbers, (math.prod(shape[:depth]), *shape[depth:])


def numbering(shape: tuple[int, ...], depth: int) -> tuple[Callable[[Array], Array], tuple[int, ...]]:
    """Return a function that numbers the rows at coordinates, of which each has `depth`; and the shape of these rows.

    >>> numbers, merged = numbering((2, 3, 4), 2)
    >>> numbers(np.array([[1, 0], [0, 2]])), merged
    (array([3, 2]), (6, 4))
    """
    sizes, merged = shape[:depth], (math.prod(shape[:depth]), *shape[depth:])
    if native_arrays is None:
        return lambda coordinates: row_numbers(coordinates, shape)[0], merged
    in_range = native_arrays.row_numbers

    def numbers(coordinates: Array) -> Array:
        found = in_range(coordinates, sizes)
        return row_numbers(coordinates, shape)[0] if found is None else found

    return numbers, merged


def _outside(coordinates: Array, sizes: tuple[int, ...], what: str, shape: tuple[int, ...]) -> Exception:
    """Return the error that names the first coordinates that are outside of `sizes`."""
    wrong = (coordinates < 0) | (coordinates >= np.array(sizes, np.int64))
    position = tuple(np.argwhere(wrong.any(-1))[0].tolist())
    at = f"[{','.join(map(str, position))}]" if position else ""
    return errors.InvalidArgumentError(
        f"indices{at} = {coordinates[position].tolist()} does not index into {what} [{','.join(map(str, shape))}]"
    )


def combine_at(ufunc: np.ufunc, result: Array, coordinates: Array, updates: Array, batch: int = 0) -> None:
    """Compute `combine_rows` at coordinates, which are those of `row_numbers`.

    >>> total = np.zeros((2, 2))
    >>> combine_at(np.add, total, np.array([[1, 0], [1, 0]]), np.array([1.0, 2.0]))
    >>> total.tolist()
    [[0.0, 0.0], [3.0, 0.0]]
    """
    numbers, merged = row_numbers(coordinates, result.shape, batch)
    combine_rows(ufunc, result.reshape(merged), numbers, updates)
