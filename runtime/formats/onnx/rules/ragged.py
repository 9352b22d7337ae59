"""Row splits of ragged tensors and coordinates of sparse ones. Checks of valid splits are left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import END, InexpressibleError
from ..registry import exports
from .creation import counting
from .joining import repeated_rows


def _sums(e: Any, lengths: Any) -> Any:
    """Return row splits from row lengths."""
    return e.concat([e.ints(0), e("CumSum", e.index(lengths), e.const(0, dtypes.int64))])


def _lengths(e: Any, splits: Any) -> Any:
    splits = e.index(splits)
    after = e("Slice", splits, e.ints(1), e.ints(END))
    found = after - e("Slice", splits, e.ints(0), e.ints(-1))
    found.shape = (None,)
    return found


def _row_numbers(e: Any, splits: Any) -> Any:
    return repeated_rows(e, _lengths(e, splits))


@exports("splits_of_lengths")
def _(e: Any, operation: Any, lengths: Any) -> Any:
    return e.cast(_sums(e, lengths), lengths.dtype)


@exports("rowids_of_splits")
def _(e: Any, operation: Any, splits: Any) -> Any:
    return e.cast(_row_numbers(e, splits), splits.dtype)


@exports("splits_of_rowids")
def _(e: Any, operation: Any, rows: Any, count: Any) -> Any:
    numbers = e.unsqueeze(e.index(rows), 0)
    is_before = numbers < e.unsqueeze(counting(e, e.index(count) + 1), 1)
    return e.cast(e("ReduceSum", e.cast(is_before, dtypes.int64), e.ints(1), keepdims=0), rows.dtype)


@exports("ranges")
def _(e: Any, operation: Any, starts: Any, limits: Any, deltas: Any) -> Any:
    wide = starts if starts.dtype.kind == "f" else e.cast(starts, dtypes.float64)
    steps = (e.cast(limits, wide.dtype) - wide) / e.cast(deltas, wide.dtype)
    counts = e.index(e("Max", e("Ceil", steps), e.const(0, wide.dtype)))
    counts = counts if counts.rank else e.unsqueeze(counts, 0)
    splits = _sums(e, counts)
    splits.shape = (None,)
    row = repeated_rows(e, counts)
    total = e.squeeze(e("Slice", splits, e.ints(-1), e.ints(END)), 0)
    column = counting(e, total) - e("Gather", splits, row)
    shape = e("Shape", counts, dtype=dtypes.int64)
    first, step = (e("Gather", e.expand(x, shape), row) for x in (starts, deltas))
    return [first + e.cast(column, starts.dtype) * step, splits]


@exports("ragged_coordinates")
def _(e: Any, operation: Any, *splits: Any) -> Any:
    total = e("Gather", e.index(splits[-1]), e.const(-1, dtypes.int64))
    at, columns = counting(e, total), []
    for each in reversed(splits):
        row = e("Gather", _row_numbers(e, each), at)
        columns.append(at - e("Gather", e.index(each), row))
        at = row
    return e("Concat", *[e("Unsqueeze", x, e.ints(1)) for x in (at, *reversed(columns))], axis=1)


def _strides(e: Any, shape: Any) -> Any:
    """Return the distance of neighbors along each axis in the flat order."""
    rank = shape.shape[0]
    if rank is None:
        raise InexpressibleError("the rank is not known")
    sizes = e.index(shape)
    parts = [
        e("ReduceProd", e("Slice", sizes, e.ints(i + 1), e.ints(END)), keepdims=1)
        if i + 1 < rank
        else e.ints(1)
        for i in range(rank)
    ]
    return e.concat(parts), parts


def _places(e: Any, indices: Any, shape: Any) -> Any:
    """Return coordinates as numbers in the flat order."""
    strides, _ = _strides(e, shape)
    return e("ReduceSum", e.index(indices) * strides, e.ints(1), keepdims=0)


@exports("reshaped_coordinates")
def _(e: Any, operation: Any, indices: Any, shape: Any, new: Any) -> Any:
    sizes = e.index(new)
    total = e("ReduceProd", e.index(shape), keepdims=1)
    known = e("ReduceProd", e.where(sizes < 0, 1, sizes), keepdims=1)
    sizes = e.where(sizes < 0, total / e("Max", known, e.ints(1)), sizes)
    sizes.shape = new.shape
    flat = _places(e, indices, shape)
    _, strides = _strides(e, sizes)
    columns = []
    for stride in strides:
        columns.append(e("Unsqueeze", flat / stride, e.ints(1)))
        flat = e("Mod", flat, stride)
    found = e("Concat", *columns, axis=1)
    return [e.cast(found, operation.outputs[0].dtype), e.cast(sizes, operation.outputs[1].dtype)]


@exports("coordinate_order", "distinct_coordinates")
def _(e: Any, operation: Any, indices: Any) -> Any:
    """Sort coordinates by their numbers in the flat order of a shape that has them all."""
    rank = indices.shape[1]
    if not rank:
        raise InexpressibleError("the rank is not known")
    whole = e.index(indices)
    bounds = (
        e("ReduceMax", e.concat([whole, e.const(np.zeros((1, rank), np.int64))]), e.ints(0), keepdims=0) + 1
    )
    bounds.shape = (rank,)
    flat = _places(e, whole, bounds)
    flat.shape = (None,)
    if operation.type == "distinct_coordinates":
        values, _, places = e("Unique", flat, outputs=3, sorted=1)
        columns = []
        for stride in _strides(e, bounds)[1]:
            columns.append(e("Unsqueeze", values / stride, e.ints(1)))
            values = e("Mod", values, stride)
        found = [e("Concat", *columns, axis=1), places]
        return [e.cast(ref, out.dtype) for ref, out in zip(found, operation.outputs, strict=True)]
    _, order = e("TopK", flat, e("Shape", flat, dtype=dtypes.int64), outputs=2, largest=0, sorted=1)
    return e.cast(order, operation.outputs[0].dtype)


@exports("coordinates_of_all_rows")
def _(e: Any, operation: Any, indices: Any, shape: Any) -> Any:
    rank = indices.shape[1]
    count = e("Gather", e.index(shape), e.const(0, dtypes.int64))
    rows = e("Slice", e.index(indices), e.ints(0), e.ints(1), e.ints(1))
    every = counting(e, count)
    used = e("ReduceMax", e.cast(rows.equals(every), dtypes.int32), e.ints(0), keepdims=0)
    is_empty = used.equals(0) if indices.shape[0] != 0 else e.zeros(e.reshape(count, [1]), dtypes.bool_, 1)
    is_empty.shape = (None,)
    missing = e("NonZero", is_empty, dtype=dtypes.int64, shape=(1, None))
    added = e("Pad", e.transpose(missing, [1, 0]), e.ints(0, 0, 0, rank - 1))
    joined = e("Concat", e.index(indices), added, axis=0)
    first = e.squeeze(e("Slice", joined, e.ints(0), e.ints(1), e.ints(1)), 1) if rank else joined
    first.shape = (None,)
    _, order = e("TopK", first, e("Shape", first, dtype=dtypes.int64), outputs=2, largest=0, sorted=1)
    size = e("Gather", e("Shape", indices, dtype=dtypes.int64), e.const(0, dtypes.int64))
    found = [e("Gather", joined, order), e("Min", order, size), is_empty]
    return [e.cast(ref, out.dtype) for ref, out in zip(found, operation.outputs, strict=True)]


@exports("unravel_index")
def _(e: Any, operation: Any, indices: Any, dims: Any) -> Any:
    flat, rows = e.index(indices), []
    for stride in _strides(e, dims)[1]:
        by = e.squeeze(stride, 0)
        rows.append(e("Unsqueeze", flat / by, e.ints(0)))
        flat = e("Mod", flat, by)
    return e.cast(e("Concat", *rows, axis=0), operation.outputs[0].dtype)
