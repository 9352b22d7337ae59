"""Helpers for string kernels: apply Python functions to each element.

>>> each(bytes.upper, np.array([b"a", b"b"], object)).tolist()
[b'A', b'B']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Array = Any


def each(function: Callable[..., Any], *arrays: Array, dtype: Any = object) -> Array:
    """Return the array of `function`'s results on corresponding elements, with broadcasting."""
    if all(getattr(array, "ndim", None) == 0 for array in arrays):
        found = np.empty((), dtype)
        found[()] = function(*(array.item() for array in arrays))
        return found
    operands = np.broadcast_arrays(*arrays) if len(arrays) > 1 else [np.asarray(arrays[0], _kept(arrays[0]))]
    columns = [operand.ravel().tolist() for operand in operands]
    return filled(map(function, *columns), operands[0].shape, dtype)


def in_batch(function: Callable[[list[bytes]], Any], array: Array, dtype: Any = object) -> Array:
    """Return the array of the results of `function`, which takes the list of all elements."""
    strings = np.asarray(array, object)
    return filled(function(strings.ravel().tolist()), strings.shape, dtype)


def filled(items: Iterable[Any], shape: tuple[int, ...], dtype: Any = object) -> Array:
    """Return an array of this shape with the given elements."""
    return np.fromiter(items, dtype, math.prod(shape)).reshape(shape)


def _kept(value: Any) -> Any:
    return object if isinstance(value, (bytes, str)) else None
