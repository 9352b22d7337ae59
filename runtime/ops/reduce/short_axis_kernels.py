"""Kernels for reductions along or before a short last axis, where NumPy's loops are short.

    x : float32[4000, 3]          np.add.reduce(x, -1)          4000 sums of 3 elements
                                  x[:, 0] + x[:, 1] + x[:, 2]   2 sums of 4000 elements

NumPy adds fewer than eight elements in order, so the sums are bitwise equal.

    x : float32[4096, 3]          np.add.reduce(x, 0)           4096 sums of 3 elements
                                  folded(np.add, x, (0,))       32 sums of 384 elements, and 128 of 3

Threads share the rows of large arrays; the parts depend on the shape alone.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...core import shapes
from ...kernels.thread_pool import run_all

Array = np.ndarray[Any, Any]

_add: Any = np.add.reduce
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


_LARGE, _LONG, _NARROW, _WIDE = 1 << 13, 256, 512, 2048
_PARTS, _SHARED = 8, 1 << 18  # the most parts of an array for threads, and the fewest elements of each


def reduced_faster(ufunc: np.ufunc, x: Array, axis: Any, keepdims: bool) -> Array | None:
    """Return a reduction in one of these ways if it is faster than NumPy's loops, else None."""
    if x.size < 4 * _WORTH_IT:
        return None
    if x.size >= _LARGE and not x.flags.c_contiguous:
        return _in_memory_order(ufunc, x, axis, keepdims)
    if is_short(x, axis):
        return along_short(ufunc, x, keepdims)
    return folded(ufunc, x, axis, keepdims) if is_narrow(ufunc, x, axis) else None


ONE_BY_ONE = frozenset("fdbhilqBHILQ")
"""The characters of dtypes whose elements are summed in the dtype itself."""


def sum_of(x: Any, axis: Any, keepdims: bool) -> Any:
    """Return the sum along one or several axes, in the dtype itself."""
    own = x.dtype
    found = reduced_faster(np.add, x, axis, keepdims) if own.char in ONE_BY_ONE else None
    if found is None:
        return _add(x, axis, own, None, keepdims)
    if own.kind == "f":
        found += own.type(0)  # NumPy's initial value: it makes a sum of negative zeros +0.0
    return found


def needs_numpy(shape: tuple[int, ...], axis: Any) -> bool:
    """Return whether NumPy's loops are fastest for all arrays of one shape.

    >>> [needs_numpy(shape, -1) for shape in ((8, 16), (4, 3), (4000, 3), (4000, 16))]
    [True, True, False, False]
    """
    size = math.prod(shape)
    return size < 4 * _WORTH_IT or (size < _LARGE and not is_short(np.broadcast_to(0, shape), axis))


def is_left_to_numpy(shape: shapes.Dims, axis: Any) -> bool:
    """Return whether a shape is known and has elements, and `needs_numpy` for its arrays.

    >>> [is_left_to_numpy(shape, -1) for shape in ((8, 16), (8, 0), (None, 16), None)]
    [True, False, False, False]
    """
    return shape is not None and None not in shape and 0 not in shape and needs_numpy(shape, axis)  # type: ignore[arg-type]


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

    >>> [is_narrow(np.add, np.zeros(shape), 0) for shape in ((9999, 3), (99, 3), (9999,), (9999, 512))]
    [True, False, False, False]
    """
    if x.size < _LARGE or not x.flags.c_contiguous:
        return False
    axes = _sorted(axis, x.ndim)
    if not axes or axes[-1] - axes[0] >= len(axes):
        return False
    inner = math.prod(x.shape[axes[-1] + 1 :])
    is_long = math.prod(x.shape[axes[0] : axes[-1] + 1]) >= _LONG
    return is_long and (1 < inner < _NARROW or (inner == 1 and ufunc is np.multiply))


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
    width = min(_WIDE // inner, rows.shape[1] // 32)
    height = rows.shape[1] // width
    wide = rows[:, : height * width].reshape(len(rows), height, width * inner)
    found = ufunc.reduce(_by_threads(ufunc, wide).reshape(len(rows), width, inner), 1, x.dtype)
    if height * width < rows.shape[1]:
        found = ufunc(found, ufunc.reduce(rows[:, height * width :], 1, x.dtype))
    return found.reshape((*before, *((1,) * len(axes) if keepdims else ()), *after))  # type: ignore[no-any-return]


def _by_threads(ufunc: np.ufunc, x: Array) -> Array:
    """Reduce the second axis, in parts of so many elements that each is worth a thread."""
    number = min(_PARTS, x.size // _SHARED, x.shape[1])
    if number < 2:
        return ufunc.reduce(x, 1, x.dtype)  # type: ignore[no-any-return]
    parts = np.empty((len(x), number, x.shape[2]), x.dtype)
    step = -(-x.shape[1] // number)

    def compute(i: int) -> None:
        ufunc.reduce(x[:, i * step : (i + 1) * step], 1, x.dtype, parts[:, i])

    run_all(*(functools.partial(compute, i) for i in range(number)))
    return ufunc.reduce(parts, 1, x.dtype)  # type: ignore[no-any-return]
