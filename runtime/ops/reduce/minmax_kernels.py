"""Kernels of the maximum and minimum along axes: as in NumPy, except that -0.0 is always less than 0.0.

largest [0.0, -0.0]    0.0      NumPy returns either, depending on the vectorization

The arguments are those of NumPy's `reduce`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import shapes
from ...kernels.extremes import highest, lowest
from .short_axis_kernels import is_left_to_numpy, reduced_faster

Array = np.ndarray[Any, Any]

_larger: Any = np.maximum.reduce
_smaller: Any = np.minimum.reduce
_both: Any = np.logical_and.reduce
_either: Any = np.logical_or.reduce


def largest(
    x: Array, axis: Any = None, dtype: Any = None, out: Array | None = None, keepdims: bool = False
) -> Any:
    """Return the largest elements, or NaN; the lowest number of the dtype if there are none.

    >>> [str(largest(np.array(x))) for x in ([-0.0, 0.0], [0.0, -0.0], [-1.0, -0.0])]
    ['0.0', '0.0', '-0.0']
    """
    found = reduced_faster(np.maximum, x, axis, keepdims) if out is None and dtype is None else None
    if found is None:
        found = _larger(x, axis, dtype, out, keepdims, None if x.size else lowest(x.dtype))
    return _signed(found, _both, x, axis, out, keepdims)


def smallest(
    x: Array, axis: Any = None, dtype: Any = None, out: Array | None = None, keepdims: bool = False
) -> Any:
    """Return the smallest elements, or NaN; the highest number of the dtype if there are none.

    >>> [str(smallest(np.array(x))) for x in ([-0.0, 0.0], [0.0, -0.0], [1.0, 0.0])]
    ['-0.0', '-0.0', '0.0']
    """
    found = reduced_faster(np.minimum, x, axis, keepdims) if out is None and dtype is None else None
    if found is None:
        found = _smaller(x, axis, dtype, out, keepdims, None if x.size else highest(x.dtype))
    return _signed(found, _either, x, axis, out, keepdims)


def of_one_shape(smallest_or_largest: Any, specs: Sequence[Any], axis: Any, keepdims: bool) -> Any:
    """Return `smallest` or `largest` for arrays of one shape that NumPy's loop reduces best; None for others."""
    (x,) = specs
    if not is_left_to_numpy(x.shape, axis):
        return None
    is_largest = smallest_or_largest is largest
    reduce, are_negative = (_larger, _both) if is_largest else (_smaller, _either)
    if x.dtype.kind != "f":
        return lambda x: reduce(x, axis, None, None, keepdims)
    sizes: Any = shapes.reduced(x.shape, axis, keepdims)
    count = math.prod(sizes)

    def extreme(x: Array) -> Any:
        found = reduce(x, axis, None, None, keepdims)
        if np.count_nonzero(found) == count if sizes else found:
            return found
        return _signed(found, are_negative, x, axis, None, keepdims)

    return extreme


_FEW = 512
"""The number of elements up to which counting takes less time than a reduction."""


def _has_no_zero(found: Any) -> bool:
    if found.ndim and found.size <= _FEW:
        return bool(np.count_nonzero(found) == found.size)
    return bool(found if found.ndim == 0 else _both(found, None))


def _signed(found: Any, are_negative: Any, x: Array, axis: Any, out: Array | None, keepdims: bool) -> Any:
    """Set the sign of zeros in an extreme: negative if `are_negative` of the reduced elements' sign bits is true."""
    if x.dtype.kind != "f" or _has_no_zero(found):
        return found
    zero, is_negative = found.dtype.type(0), are_negative(np.signbit(x), axis, None, None, keepdims)
    right = np.where(found == 0, np.where(is_negative, -zero, zero), found)
    if out is None:
        return right[()]
    np.copyto(out, right)
    return out
