"""Searching, sorting, indexing and set functions.

>>> unique_counts(asarray([3, 1, 3])).counts
<tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.arrays import concat_split, gather_ops, reshape, shape_ops, where_ops
from ...ops.arrays import sort as ordering
from ...ops.arrays.creation import ones, ones_like
from ...ops.math import comparison
from ...ops.math.cast import cast
from ...ops.reduce import argmax as arg_extremes
from ...ops.reduce import reductions, scans
from ...ops.reduce.segments import segment_sum
from ..numpy_dispatch import joining, nan_sums
from .creation import asarray
from .data_types import ANY, INTEGRAL, NUMERIC, REAL, axis_of, rank_of, tensor_of
from .manipulation import flat
from .promotion import as_dtype, result_type, together


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the first largest element along an axis, or in the flattened array."""
    return _extreme(x, axis, keepdims, "argmax")


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the first smallest element along an axis, or in the flattened array."""
    return _extreme(x, axis, keepdims, "argmin")


def _extreme(x: Any, axis: int | None, keepdims: bool, function: str) -> Tensor:
    tensor = tensor_of(x, REAL, function)
    find = arg_extremes.argmax if function == "argmax" else arg_extremes.argmin
    rank = rank_of(tensor, function)
    if axis is None:
        found = find(flat(tensor), 0, output_type=dtypes.int64)
        return reshape.reshape(found, [1] * rank) if keepdims else found
    dim = axis_of(axis, rank, function)
    found = find(tensor, dim, output_type=dtypes.int64)
    return reshape.expand_dims(found, dim) if keepdims else found


def nonzero(x: Any, /) -> tuple[Tensor, ...]:
    """Return the indices of the elements that are not zero, one array for each dimension."""
    tensor = tensor_of(x, ANY, "nonzero")
    if rank_of(tensor, "nonzero") == 0:
        raise ValueError("nonzero takes arrays of one dimension or more")
    return tuple(concat_split.unstack(where_ops.where(tensor), axis=1))


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the number of elements that are not zero."""
    return reductions.count_nonzero(tensor_of(x, ANY, "count_nonzero"), axis=axis, keepdims=keepdims)


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    """Return elements of `x1` where the condition is true, of `x2` elsewhere."""
    first, second = together((x1, x2), ANY, "where")
    return where_ops.where(tensor_of(condition, (dtypes.bool_,), "where"), first, second)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Return the indices before which `x2` would be inserted in the sorted vector `x1`.

    With `side="left"` that is before equal elements, with `side="right"` after them.
    """
    row, wanted = together((x1, x2), REAL, "searchsorted")
    row = row if sorter is None else gather_ops.gather(row, sorter)
    found = ordering.searchsorted(row, flat(wanted), side=side, out_type=dtypes.int64)
    return reshape.reshape(found, shape_ops.shape(wanted))


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at some indices along an axis; the axis is optional for an array of one dimension."""
    tensor, numbers = asarray(x), tensor_of(indices, INTEGRAL, "take")
    rank = rank_of(tensor, "take")
    if axis is None and rank != 1:
        raise ValueError(f"take needs an axis for an array of {rank} dimensions")
    dim = axis_of(axis or 0, rank, "take")
    return gather_ops.gather(tensor, _from_front(numbers, tensor, dim), axis=dim)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Tensor:
    """Return for each vector along an axis the elements at the indices in the same vector of `indices`."""
    tensor, numbers = asarray(x), tensor_of(indices, INTEGRAL, "take_along_axis")
    dim = axis_of(axis, rank_of(tensor, "take_along_axis"), "take_along_axis")
    return joining.taken_along(tensor, numbers, dim)


def _from_front(indices: Tensor, x: Tensor, axis: int) -> Tensor:
    """Return the indices with negative ones converted to count from the front."""
    numbers = cast(indices, dtypes.int64)
    return where_ops.where(numbers < 0, numbers + shape_ops.shape(x, dtypes.int64)[axis], numbers)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the elements sorted along an axis."""
    tensor = tensor_of(x, REAL, "sort")
    dim = axis_of(axis, rank_of(tensor, "sort"), "sort")
    return ordering.sort(tensor, dim, "DESCENDING" if descending else "ASCENDING")


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the indices that sort the elements along an axis; the sort is stable."""
    tensor = tensor_of(x, REAL, "argsort")
    dim = axis_of(axis, rank_of(tensor, "argsort"), "argsort")
    found = ordering.argsort(tensor, dim, "DESCENDING" if descending else "ASCENDING", stable=True)
    return cast(found, dtypes.int64)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Return for each element of `x1` whether it is an element of `x2`."""
    dtype = result_type(x1, x2)
    elements, test = (as_dtype(each, dtype) for each in (x1, x2))
    order = ordering.sort(flat(test))
    first, second = (
        ordering.searchsorted(order, flat(elements), side=side, out_type=dtypes.int64)
        for side in ("left", "right")
    )
    found = comparison.logical_and(first < second, flat(comparison.equal(elements, elements)))
    found = reshape.reshape(found, shape_ops.shape(elements))
    return comparison.logical_not(found) if invert else found


def unique_all(x: Any, /) -> UniqueAll:
    """Return the sorted unique elements, their first indices, the index of each element among them, and counts.

    Every NaN is different from all others.
    """
    tensor = tensor_of(x, ANY, "unique_all")
    row = flat(tensor)
    order = cast(ordering.argsort(row, stable=True), dtypes.int64)
    ordered = gather_ops.gather(row, order)
    begins = concat_split.concat([ones_like(ordered[:1], dtypes.bool_), ordered[1:] != ordered[:-1]], 0)
    number = scans.cumsum(cast(begins, dtypes.int64), 0) - 1
    counts = segment_sum(ones(shape_ops.shape(row), dtypes.int64), number)
    inverse = gather_ops.gather(number, ordering.argsort(order, stable=True))
    return UniqueAll(
        where_ops.boolean_mask(ordered, begins),
        where_ops.boolean_mask(order, begins),
        reshape.reshape(inverse, shape_ops.shape(tensor)),
        counts,
    )


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the sorted unique elements and their counts."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the sorted unique elements, and the index of the unique element for each element."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Tensor:
    """Return the sorted unique elements."""
    return unique_all(x).values


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """Return the `n`th differences of adjacent elements along an axis."""
    tensor = tensor_of(x, NUMERIC, "diff")
    dim = axis_of(axis, rank_of(tensor, "diff"), "diff")
    parts = [each for each in (prepend, tensor, append) if each is not None]
    whole = concat_split.concat(together(tuple(parts), NUMERIC, "diff"), dim)
    return nan_sums.diff(whole, n, dim)
