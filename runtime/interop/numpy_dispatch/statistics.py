"""NumPy's averages, extremes, sorting and elementwise choices as operations, with NumPy's parameters and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...ops.arrays import concat_split, reshape
from ...ops.arrays import sort as ordering
from ...ops.arrays.creation import ones_like, zeros_like
from ...ops.arrays.shape_ops import shape as shape_of
from ...ops.arrays.where_ops import where
from ...ops.math import elementwise
from ...ops.math.cast import cast
from ...ops.math.clip import clip_by_value
from ...ops.reduce import scans
from ...ops.reduce.argmax import argmax, argmin
from ...ops.reduce.reductions import count_nonzero, reduce_mean
from ...ops.reduce.variance import reduce_std, reduce_variance
from . import ufuncs
from .registry import FUNCTIONS, as_floats, common, flat_without_axis, instead_of

FUNCTIONS.update({
    np.sum: ufuncs.sum_,
    np.prod: ufuncs.prod,
    np.max: ufuncs.max_,
    np.min: ufuncs.min_,
    np.amax: ufuncs.max_,
    np.amin: ufuncs.min_,
    np.all: ufuncs.all_,
    np.any: ufuncs.any_,
})  # fmt: skip


@instead_of(np.mean)
def mean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    x = as_floats(a) if dtype is None else cast(a, dtype)
    return reduce_mean(x, axis=axis, keepdims=bool(keepdims))


@instead_of(np.var)
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False
) -> Any:
    x = as_floats(a) if dtype is None else cast(a, dtype)
    found = reduce_variance(x, axis=axis, keepdims=bool(keepdims))
    if not ddof:
        return found
    count = cast(ufuncs.sum_(ones_like(x, dtypes.int64), axis, keepdims=keepdims), found.dtype)
    return found * (count / (count - ddof))


@instead_of(np.std)
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False
) -> Any:
    if ddof:
        return elementwise.sqrt(var(a, axis, dtype, None, ddof, keepdims))
    return reduce_std(as_floats(a) if dtype is None else cast(a, dtype), axis=axis, keepdims=bool(keepdims))


@instead_of(np.argmax)
def argmax_(a: Any, axis: Any = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    return argmax(x, dim, output_type=dtypes.int64)


@instead_of(np.argmin)
def argmin_(a: Any, axis: Any = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    return argmin(x, dim, output_type=dtypes.int64)


@instead_of(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    return scans.cumsum(ufuncs.widened(x) if dtype is None else cast(x, dtype), dim)


@instead_of(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    return scans.cumprod(ufuncs.widened(x) if dtype is None else cast(x, dtype), dim)


@instead_of(np.count_nonzero)
def count_nonzero_(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return count_nonzero(a, axis=axis, keepdims=keepdims)


@instead_of(np.sort)
def sort(a: Any, axis: int | None = -1) -> Any:
    x, dim = flat_without_axis(a, axis)
    return ordering.sort(x, axis=dim)


@instead_of(np.argsort)
def argsort(a: Any, axis: int | None = -1, *, stable: bool | None = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    return cast(ordering.argsort(x, axis=dim, stable=True), dtypes.int64)


@instead_of(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    x, y = common((a, v))
    found = ordering.searchsorted(x, reshape.reshape(y, [-1]), side=side, out_type=dtypes.int64)
    return reshape.reshape(found, shape_of(y))


@instead_of(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    x = convert_to_tensor(a)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is None or high is None:
        only = high if low is None else low
        return x if only is None else ufuncs.apply(np.minimum if low is None else np.maximum, (x, only))
    x, low, high = common((x, low, high), weak=True)
    return clip_by_value(x, low, high)


@instead_of(np.where)
def where_(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        coordinates = where(condition)
        return tuple(concat_split.unstack(coordinates, axis=1))
    first, second = common((x, y), weak=True)
    return where(cast(condition, dtypes.bool_), first, second)


@instead_of(np.round, np.around)
def round_(a: Any, decimals: int = 0) -> Any:
    x = convert_to_tensor(a)
    if x.dtype.is_bool or (x.dtype.is_integer and decimals >= 0):
        return x
    if not decimals:
        return elementwise.rint(x)
    scale = 10.0**decimals
    return cast(elementwise.rint(as_floats(x) * scale) / scale, x.dtype)


@instead_of(np.real)
def real(val: Any) -> Any:
    return elementwise.real(val)


@instead_of(np.imag)
def imag(val: Any) -> Any:
    x = convert_to_tensor(val)
    return elementwise.imag(x) if x.dtype.is_complex else zeros_like(x)


@instead_of(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    found = elementwise.angle(as_floats(z))
    return found * (180.0 / np.pi) if deg else found
