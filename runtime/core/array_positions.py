"""Positions in eager TensorArrays: integers that are in range, as tensors that operations take.

    ta.read(3)       size 5      →      3 as a tensor
                     size 2      →      OutOfRangeError, as in eager code of TensorFlow

In graphs, the operations check their indices: they raise InvalidArgumentError, as TensorFlow's do.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import errors
from .tensor import EagerArray, EagerTensor


def read_position(array: EagerArray, index: Any) -> Any:
    """Return the index of an element, or as it is if it is no integer of rank 0, which the operation refuses."""
    at = index if type(index) is int else _integer(index)
    if at is None:
        return index
    size = len(array._array.items())
    if 0 <= at < size:
        return _number(at) if at is index else index
    if at < 0:
        raise errors.OutOfRangeError(f"Reading from negative indices (index {at}) is not allowed.")
    raise errors.OutOfRangeError(f"Tried to read from index {at} but array size is: {size}")


def write_position(array: EagerArray, index: Any, is_dynamic: bool) -> Any:
    """Return the index of an element that is written, as `read_position` does; a dynamic array grows."""
    at = index if type(index) is int else _integer(index)
    if at is None:
        return index
    size = len(array._array.items())
    if at >= 0 and (at < size or is_dynamic):
        return _number(at) if at is index else index
    if at < 0:
        raise errors.OutOfRangeError(f"Writing to negative indices (index {at}) is not allowed.")
    raise errors.OutOfRangeError(
        f"Tried to write to index {at} but array is not resizeable and size is: {size}"
    )


def _integer(index: Any) -> int | None:
    """Return an integer of rank 0 that is not Python's own; None for other values."""
    array = getattr(index, "_array", index)
    is_integer = isinstance(array, (np.ndarray, np.integer)) and array.ndim == 0 and array.dtype.kind in "iu"
    return int(array) if is_integer else None


@functools.lru_cache(1024)
def _number(index: int) -> EagerTensor:
    """Return an integer as a tensor, since each number would be a call of its own to keep."""
    return EagerTensor(np.array(index, np.int32 if index < 2**31 else np.int64))
