"""Put arrays next to each other along an axis, or along a new one: the kernels of concatenations and stacks.

    joining(0)(x, y)      x: [2, 3], y: [4, 3]   →   [6, 3]
    stacking(0)(x, y)     x: [2, 3], y: [2, 3]   →   [2, 2, 3]

An optional extension copies contiguous arrays of numbers, in a third of the time for small ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

try:
    from . import _native_arrays as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None

Array = Any


def joining(axis: int) -> Callable[..., Array]:
    """Return a function that concatenates the arrays that it is given along `axis`.

    >>> joining(-1)(np.ones((2, 1)), np.zeros((2, 2))).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if native is not None:
        return functools.partial(native.join, np.concatenate, axis)
    return lambda *arrays: np.concatenate(arrays, axis)


def stacking(axis: int) -> Callable[..., Array]:
    """Return a function that stacks the arrays of one shape that it is given, along a new axis.

    >>> stacking(1)(np.array([1, 2]), np.array([3, 4])).tolist()
    [[1, 3], [2, 4]]
    """
    if native is not None:
        return functools.partial(native.stack, _stacked, axis)
    return lambda *arrays: _stacked(arrays, axis)


def concatenated(arrays: Sequence[Array], axis: int) -> Array:
    """Return `joining(axis)(*arrays)`."""
    return joining(axis)(*arrays)


def stacked(arrays: Sequence[Array], axis: int) -> Array:
    """Return `stacking(axis)(*arrays)`."""
    return stacking(axis)(*arrays)


def _stacked(arrays: Sequence[Array], axis: int) -> Array:
    first = arrays[0]
    if axis == 0 and first.dtype.kind in "biufc":
        return np.array(arrays)
    # Else an assignment to rows[i] would repeat elements.
    if any(np.shape(array) != np.shape(first) for array in arrays):
        raise ValueError("all input arrays must have the same shape")
    if axis != 0:
        own = (slice(None),) * (axis if axis > 0 else np.ndim(first) + 1 + axis)
        return np.concatenate([array[(*own, None)] for array in arrays], axis)
    rows = np.empty((len(arrays), *np.shape(first)), first.dtype)
    for i, array in enumerate(arrays):
        rows[i, ...] = array  # an array of objects would hold the array itself in rows[i]
    return rows
