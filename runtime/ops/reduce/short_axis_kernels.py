"""Kernels for reductions along or before a short last axis, where NumPy's loops are short.

    x : float32[4000, 3]          np.add.reduce(x, -1)          4000 sums of 3 elements
                                  x[:, 0] + x[:, 1] + x[:, 2]   2 sums of 4000 elements

NumPy adds fewer than eight elements in order, so the sums are bitwise equal.

    x : float32[4096, 3]          np.add.reduce(x, 0)           4096 sums of 3 elements
                                  folded(np.add, x, (0,))       64 sums of 192 elements, and 64 of 3
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_FEW = 8
_WORTH_IT = 32


def is_short(x: Array, axis: Any) -> bool:
    """Return whether `axis`, or the only axis in it, is a short last axis of many rows.

    >>> [is_short(np.zeros(shape), (1,)) for shape in ((4000, 3), (4, 3), (4000, 8), (4000, 3, 3))]
    [True, False, False, False]
    """
    few = x.shape[-1] if x.ndim > 1 else 0
    if not 1 < few < _FEW or x.size < _WORTH_IT * few * few:
        return False
    return axis in (-1, x.ndim - 1) if type(axis) is int else axis in ((-1,), (x.ndim - 1,))


def along_short(combine: Any, x: Array, keepdims: bool) -> Array:
    """Reduce the last axis with a function of two elements.

    >>> along_short(np.add, np.array([[1, 2, 3], [4, 5, 6]]), keepdims=True).tolist()
    [[6], [15]]
    """
    found = combine(x[..., 0], x[..., 1])
    for column in range(2, x.shape[-1]):
        combine(found, x[..., column], out=found)
    return found[..., None] if keepdims else found  # type: ignore[no-any-return]


_LARGE, _WIDE = 1 << 13, 64


def reduced_faster(ufunc: np.ufunc, x: Array, axis: Any, keepdims: bool) -> Array | None:
    """Return a reduction in one of these ways if it is faster than NumPy's loops, else None."""
    if x.size < 4 * _WORTH_IT:
        return None
    if x.size >= _LARGE and not x.flags.c_contiguous:
        return _in_memory_order(ufunc, x, axis, keepdims)
    if is_short(x, axis):
        return along_short(ufunc, x, keepdims)
    return folded(ufunc, x, axis, keepdims) if is_narrow(ufunc, x, axis) else None


def needs_numpy(shape: tuple[int, ...], axis: Any) -> bool:
    """Return whether NumPy's loops are fastest for all arrays of one shape.

    >>> [needs_numpy(shape, -1) for shape in ((8, 16), (4, 3), (4000, 3), (4000, 16))]
    [True, True, False, False]
    """
    size = math.prod(shape)
    return size < 4 * _WORTH_IT or (size < _LARGE and not is_short(np.broadcast_to(0, shape), axis))


def _in_memory_order(ufunc: np.ufunc, x: Array, axis: Any, keepdims: bool) -> Array | None:
    """Return the reduction of a transposed array, computed in the order of memory if that is faster, else None."""
    order = sorted(range(x.ndim), key=lambda i: -x.strides[i])
    straight = x.transpose(order)
    if not straight.flags.c_contiguous:
        return None
    axes = tuple(_sorted(axis, x.ndim))
    found = reduced_faster(ufunc, straight, tuple(order.index(i) for i in axes), keepdims=True)
    if found is None:
        return None
    found = found.transpose(np.argsort(order))
    return found if keepdims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])


def is_narrow(ufunc: np.ufunc, x: Array, axis: Any) -> bool:
    """Return whether `folded` is faster than NumPy: for adjacent axes before few elements, and for long products.

    >>> [is_narrow(np.add, np.zeros(shape), 0) for shape in ((9999, 3), (99, 3), (9999,), (9999, 64))]
    [True, False, False, False]
    """
    if x.size < _LARGE or not x.flags.c_contiguous:
        return False
    axes = _sorted(axis, x.ndim)
    if not axes or axes[-1] - axes[0] >= len(axes):
        return False
    inner = math.prod(x.shape[axes[-1] + 1 :])
    is_long = math.prod(x.shape[axes[0] : axes[-1] + 1]) >= 4 * _WIDE
    return is_long and (1 < inner < _WIDE or (inner == 1 and ufunc is np.multiply))


def _sorted(axis: Any, rank: int) -> list[int]:
    axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    return sorted(one % rank for one in axes)


def folded(ufunc: np.ufunc, x: Array, axis: Any, keepdims: bool) -> Array:
    """Reduce adjacent axes in wide rows of several elements each, and then the elements of the result.

    >>> folded(np.add, np.arange(9999).reshape(3333, 3), 0, keepdims=False).tolist()
    [16658334, 16661667, 16665000]
    """
    axes = _sorted(axis, x.ndim)
    before, after = x.shape[: axes[0]], x.shape[axes[-1] + 1 :]
    inner = math.prod(after)
    rows = x.reshape(math.prod(before), -1, inner)
    width = min(4 * _WIDE // inner, rows.shape[1] // 8)
    height = rows.shape[1] // width
    wide = rows[:, : height * width].reshape(len(rows), height, width * inner)
    found = ufunc.reduce(ufunc.reduce(wide, 1, x.dtype).reshape(len(rows), width, inner), 1, x.dtype)
    if height * width < rows.shape[1]:
        found = ufunc(found, ufunc.reduce(rows[:, height * width :], 1, x.dtype))
    return found.reshape((*before, *((1,) * len(axes) if keepdims else ()), *after))  # type: ignore[no-any-return]
