"""Sums, means and extremes along axes; `all` and `any`.

>>> sum(cast([100, 100], dtypes.int8))
<tf.Tensor: shape=(), dtype=int32, numpy=200>
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.arrays import concat_split, shape_ops
from ...ops.arrays.creation import fill
from ...ops.arrays.gather_ops import gather
from ...ops.math import elementwise
from ...ops.math.cast import cast
from ...ops.reduce import reductions, scans
from .data_types import ANY, FLOATING, NUMERIC, REAL, REAL_FLOATING, axis_of, rank_of, read_dtype, tensor_of
from .manipulation import axes_of

Axis = int | tuple[int, ...] | None


def _accumulated(x: Tensor, dtype: Any) -> Tensor:
    """Return `x` in the given dtype; by default, small integers are widened to int32 or uint32 for sums."""
    if dtype is not None:
        return cast(x, read_dtype(dtype))
    if x.dtype.is_integer and x.dtype.size < 4:
        return cast(x, dtypes.uint32 if x.dtype.is_unsigned else dtypes.int32)
    return x


def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the sum of the elements."""
    tensor = _accumulated(tensor_of(x, NUMERIC, "sum"), dtype)
    return reductions.reduce_sum(tensor, axes_of(axis, tensor, "sum"), keepdims)


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the product of the elements."""
    tensor = _accumulated(tensor_of(x, NUMERIC, "prod"), dtype)
    return reductions.reduce_prod(tensor, axes_of(axis, tensor, "prod"), keepdims)


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the largest element, NaN if there is one; for an empty array, the smallest number of the dtype."""
    tensor = tensor_of(x, REAL, "max")
    return reductions.reduce_max(tensor, axes_of(axis, tensor, "max"), keepdims)


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the smallest element, NaN if there is one; for an empty array, the largest number of the dtype."""
    tensor = tensor_of(x, REAL, "min")
    return reductions.reduce_min(tensor, axes_of(axis, tensor, "min"), keepdims)


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the sum divided by the number of elements."""
    tensor = tensor_of(x, FLOATING, "mean")
    return reductions.reduce_mean(tensor, axes_of(axis, tensor, "mean"), keepdims)


def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return the sum of the squared distances from the mean, divided by the number of elements less `correction`."""
    tensor = tensor_of(x, REAL_FLOATING, "var")
    axes = axes_of(axis, tensor, "var")
    distances = tensor - reductions.reduce_mean(tensor, axes, True)
    number = reductions.reduce_prod(gather(shape_ops.shape(tensor), cast(axes, dtypes.int32)))
    return reductions.reduce_sum(distances * distances, axes, keepdims) / (
        cast(number, tensor.dtype) - correction
    )


def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return the square root of the variance."""
    return elementwise.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Return the sums of the elements up to each along an axis; with `include_initial`, after a 0."""
    return _running(scans.cumsum, x, axis, dtype, 0 if include_initial else None, "cumulative_sum")


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Return the products of the elements up to each along an axis; with `include_initial`, after a 1."""
    return _running(scans.cumprod, x, axis, dtype, 1 if include_initial else None, "cumulative_prod")


def _running(scan: Any, x: Any, axis: int | None, dtype: Any, start: int | None, function: str) -> Tensor:
    tensor = _accumulated(tensor_of(x, NUMERIC, function), dtype)
    rank = rank_of(tensor, function)
    if rank == 0 or (axis is None and rank != 1):
        raise ValueError(f"{function} needs an axis, and has none for an array of {rank} dimensions")
    dim = axis_of(axis or 0, rank, function)
    found = scan(tensor, dim)
    return found if start is None else concat_split.concat([_first(tensor, dim, start), found], dim)


def _first(x: Tensor, axis: int, number: int) -> Tensor:
    """Return an array of size 1 along the axis, filled with one number."""
    sizes: list[Any] = list(concat_split.unstack(shape_ops.shape(x), rank_of(x, "a running sum")))
    sizes[axis] = 1
    return fill(sizes, cast(number, x.dtype))


def _truth(x: Tensor) -> Tensor:
    return x if x.dtype is dtypes.bool_ else cast(x, dtypes.bool_)


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether all elements are true, or not zero."""
    tensor = _truth(tensor_of(x, ANY, "all"))
    return reductions.reduce_all(tensor, axes_of(axis, tensor, "all"), keepdims)


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether one element is true, or not zero."""
    tensor = _truth(tensor_of(x, ANY, "any"))
    return reductions.reduce_any(tensor, axes_of(axis, tensor, "any"), keepdims)
