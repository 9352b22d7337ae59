"""Lists that mix Python and NumPy numbers: facts that `numpy.array` does not keep.

>>> first([[np.float32(1.5)], [2]]), are_whole([1, 2**63]), are_whole([1, 2.0])
(np.float32(1.5), True, False)
>>> np.array([1, 2**63]).dtype, whole([1, 2**63]).dtype
(dtype('float64'), dtype('uint64'))
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in nested lists."""
    if not isinstance(value, (list, tuple)):
        yield value
        return
    for item in value:
        yield from leaves(item)


def first(value: Any) -> Any:
    """Return the first number or array of a list; None for an empty one."""
    return next(leaves(value), None)


def are_whole(value: Any) -> bool:
    """Return whether all numbers are integers."""
    return all(map(_is_whole, leaves(value)))


def _is_whole(leaf: Any) -> bool:
    return isinstance(leaf, int) or (isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "iu")


def whole(value: Any) -> np.ndarray[Any, Any]:
    """Return integers that NumPy would convert to floats; objects if no dtype holds them all."""
    array = np.array(value, object)
    for dtype in (np.int64, np.uint64):
        with contextlib.suppress(OverflowError):
            return array.astype(dtype)
    return array
