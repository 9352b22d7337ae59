"""Elements by index: gather and its transposes, masks, and the places of true elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import InexpressibleError
from ..registry import exports
from .indexing import element_numbers
from .joining import rows_of_repeats


@exports("gather")
def taken(e: Any, operation: Any, x: Any, indices: Any) -> Any:
    axis, batch = operation.attrs["axis"] % x.rank, operation.attrs["batch_dims"]
    batch = batch if batch >= 0 else batch + indices.rank
    if not batch:
        return e("Gather", x, indices if indices.dtype.size >= 4 else e.index(indices), axis=axis)
    order = [*range(batch), axis, *[i for i in range(batch, x.rank) if i != axis]]
    places = e.unsqueeze(e.index(indices), indices.rank)
    rows = e("GatherND", e.transpose(x, order), places, batch_dims=batch)
    between, count = axis - batch, indices.rank - batch
    if not between:
        return rows
    total = x.rank - 1 + count
    moved = [*range(batch), *range(batch + count, batch + count + between), *range(batch, batch + count)]
    return e.transpose(rows, [*moved, *range(len(moved), total)])


@exports("put_back")
def _(e: Any, operation: Any, rows: Any, indices: Any, shape: Any) -> Any:
    rank, batch = shape.shape[0], operation.attrs["batch_dims"]
    axis = operation.attrs["axis"] % rank
    if batch:
        return _put_back(e, operation, rows, indices, shape, taken)
    count = indices.rank
    order = [axis, *[i for i in range(rank) if i != axis]]
    zeros = e.zeros(e("Gather", e.index(shape), e.ints(*order)), rows.dtype)
    first = [*range(axis, axis + count), *range(axis), *range(axis + count, rank - 1 + count)]
    places = e.unsqueeze(e.index(indices), count)
    added = e("ScatterND", zeros, places, e.transpose(rows, first), reduction="add")
    return e.transpose(added, np.argsort(order).tolist())


def _put_back(e: Any, operation: Any, rows: Any, indices: Any, shape: Any, take: Any) -> Any:
    """Add rows at the places from which `take` takes them, which it shows on the numbers of the elements."""
    sizes = e.index(shape)
    places = take(e, operation, element_numbers(e, sizes, shape.shape[0]), indices)
    zeros = e.zeros(e("ReduceProd", sizes, keepdims=1), rows.dtype)
    flat = [e.reshape(each, [-1]) for each in (places, rows)]
    return e.reshape(e("ScatterElements", zeros, *flat, axis=0, reduction="add"), sizes)


@exports("gather_nd")
def taken_nd(e: Any, operation: Any, x: Any, indices: Any) -> Any:
    if indices.shape is not None and indices.shape[-1] == 0:
        raise InexpressibleError("indices without numbers")
    return e("GatherND", x, e.index(indices), batch_dims=operation.attrs["batch_dims"])


@exports("put_back_nd")
def _(e: Any, operation: Any, updates: Any, indices: Any, shape: Any) -> Any:
    if operation.attrs["batch_dims"]:
        return _put_back(e, operation, updates, indices, shape, taken_nd)
    return e("ScatterND", e.zeros(shape, updates.dtype), e.index(indices), updates, reduction="add")


@exports("take_along")
def _(e: Any, operation: Any, x: Any, indices: Any) -> Any:
    axis = operation.attrs["axis"] % x.rank
    sizes = [e.size_of(indices if i == axis else x, i) for i in range(x.rank)]
    shape = e.concat(sizes)
    if x.shape is not None and indices.shape is not None and None not in (*x.shape, *indices.shape):
        both = [max(a, b) for a, b in zip(x.shape, indices.shape, strict=True)]
        wide = [size if i != axis else x.shape[axis] for i, size in enumerate(both)]
        both[axis] = indices.shape[axis]
        x, shape = e.expand(x, e.ints(*wide)), e.ints(*both)
    return e("GatherElements", x, e.expand(e.index(indices), shape), axis=axis)


@exports("put_along")
def _(e: Any, operation: Any, values: Any, indices: Any, shape: Any) -> Any:
    axis = operation.attrs["axis"]
    zeros = e.zeros(shape, values.dtype)
    return e("ScatterElements", zeros, e.index(indices), values, axis=axis, reduction="add")


def is_true(e: Any, x: Any) -> Any:
    """Return which elements are not zero, as Booleans."""
    return x if x.dtype.is_bool else ~x.equals(e.const(b"" if x.dtype.kind == "S" else 0, x.dtype))


@exports("true_indices")
def _(e: Any, operation: Any, condition: Any) -> Any:
    if not condition.rank:
        raise InexpressibleError("the places of a number without axes")
    found = e("NonZero", is_true(e, condition), dtype=dtypes.int64, shape=(condition.rank, None))
    return e.transpose(found, [1, 0])


@exports("boolean_mask")
def _(e: Any, operation: Any, x: Any, mask: Any) -> Any:
    axis, count = operation.attrs["axis"] % x.rank, mask.rank
    if count > 1:
        sizes = [e.size_of(x, i) for i in range(x.rank)]
        x = e.reshape(x, e.concat([*sizes[:axis], e.ints(-1), *sizes[axis + count :]]))
        mask = e.reshape(mask, [-1])
    return e("Compress", x, mask, axis=axis)


@exports("put_back_masked")
def _(e: Any, operation: Any, rows: Any, mask: Any, shape: Any) -> Any:
    axis, rank = operation.attrs["axis"], shape.shape[0]
    if axis:
        raise InexpressibleError("the gradient of a mask that does not begin at the first axis")
    places = e.transpose(e("NonZero", mask, dtype=dtypes.int64, shape=(mask.rank, None)), [1, 0])
    return e("ScatterND", e.zeros(shape, rows.dtype), places, rows) if rank else rows


@exports("sum_repeated")
def _(e: Any, operation: Any, x: Any, repeats: Any, shape: Any) -> Any:
    axis = operation.attrs["axis"]
    rank = shape.shape[0]
    if axis is None or not rank:
        flat = e.zeros(e("ReduceProd", e.index(shape), keepdims=1), x.dtype)
        flat.shape, axis = (None,), 0
    else:
        axis %= rank
        order = [axis, *[i for i in range(rank) if i != axis]]
        flat = e.zeros(e("Gather", e.index(shape), e.ints(*order)), x.dtype)
        flat.shape = (None,) * rank
        x = e.transpose(x, order)
    numbers = rows_of_repeats(e, flat, repeats, 0)
    added = e("ScatterND", flat, e.unsqueeze(numbers, 1), x, reduction="add")
    if operation.attrs["axis"] is not None and rank:
        added = e.transpose(added, np.argsort(order).tolist())
    return e.reshape(added, e.index(shape))
