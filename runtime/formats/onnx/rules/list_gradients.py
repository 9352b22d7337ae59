"""Gradients of TensorArrays and lists: an element that is missing, or after the end, is zero."""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ..onnx_types import END
from ..registry import exports
from .creation import counting
from .indexing import element_numbers, select
from .lists import cut, dims_of, grown, rows_of


@exports("array_one")
def _(e: Any, operation: Any, index: Any, value: Any) -> Any:
    row = e.unsqueeze(value, 0)
    before = e.concat([e.reshape(e.index(index), [1]), e.ints(*[0] * (2 * row.rank - 1))])
    return e("Pad", row, before, e.const(0, row.dtype))


def _with_zero(e: Any, array: Any, dims: Any) -> Any:
    """Return a list with one more element, of zeros."""
    return grown(e, array, rows_of(e, array) + 1, dims)


def _inner_sizes(e: Any, shape: Any) -> Any:
    return e.slice(e.index(shape), 1, END) if shape.shape[0] > 1 else None


@exports("array_item")
def _(e: Any, operation: Any, array: Any, index: Any, shape: Any) -> Any:
    wide = _with_zero(e, array, e.index(shape) if shape.shape[0] else None)
    count = e.squeeze(rows_of(e, array), 0)
    at = e.index(index)
    return e("Gather", wide, e.where(at < 0, count, e("Min", at, count)), axis=0)


@exports("array_sum")
def _(e: Any, operation: Any, one: Any, other: Any) -> Any:
    shapes = [e("Shape", x, dtype=dtypes.int64, shape=(x.rank,)) for x in (one, other)]
    whole = e("Max", *shapes)
    rows, dims = e.slice(whole, 0, 1), e.slice(whole, 1, END) if one.rank > 1 else None
    return grown(e, one, rows, dims) + grown(e, other, rows, dims)


@exports("array_without")
def _(e: Any, operation: Any, array: Any, indices: Any) -> Any:
    places = counting(e, e.squeeze(rows_of(e, array), 0))
    is_gone = e.unsqueeze(places, 1).equals(e.reshape(e.index(indices), [1, -1]))
    gone = e("ReduceMax", e.cast(is_gone, dtypes.int32), e.ints(1), keepdims=0) > 0
    gone.shape = (None,)
    mask = e.unsqueeze(gone, *range(1, array.rank)) if array.rank > 1 else gone
    return e.where(mask, e.const(0, array.dtype), array)


@exports("array_picked")
def _(e: Any, operation: Any, array: Any, places: Any) -> Any:
    dims = dims_of(e, array)
    count = e.squeeze(rows_of(e, array), 0)
    at = e.index(places)
    return e("Gather", _with_zero(e, array, dims), e.where(at < 0, count, e("Min", at, count)), axis=0)


@exports("array_spread")
def _(e: Any, operation: Any, array: Any, places: Any) -> Any:
    count = e("ReduceMax", e.index(places), keepdims=1) + 1
    dims = dims_of(e, array)
    rows = e("Min", rows_of(e, array), rows_of(e, places))
    at = cut(e, e.index(places), e.ints(0), rows)
    zeros = e.zeros(count if dims is None else e.concat([count, dims]), array.dtype)
    return e(
        "ScatterND", zeros, e("Unsqueeze", at, e.ints(1)), cut(e, array, e.ints(0), rows), reduction="add"
    )


@exports("array_rows")
def _(e: Any, operation: Any, array: Any, shape: Any) -> Any:
    rows = e.slice(e.index(shape), 0, 1)
    wide = grown(e, array, rows, _inner_sizes(e, shape))
    return cut(e, wide, e.ints(0), rows)


@exports("array_lengths")
def _(e: Any, operation: Any, array: Any) -> Any:
    length = e("Shape", array, dtype=dtypes.int64, start=1, end=2)
    return e.cast(e.expand(length, rows_of(e, array)), dtypes.int32)


@exports("array_of_parts")
def _(e: Any, operation: Any, whole: Any, lengths: Any) -> Any:
    """Split evenly: elements of a list have one shape here, so their parts have, too."""
    rest = [e.size_of(whole, i) for i in range(1, whole.rank)]
    count = rows_of(e, lengths)
    return e.reshape(whole, e.concat([count, e.size_of(whole, 0) / count, *rest]))


@exports("array_whole")
def _(e: Any, operation: Any, array: Any, lengths: Any, shape: Any) -> Any:
    count = rows_of(e, lengths)
    whole = e.index(shape)
    dims = e.concat([e.slice(whole, 0, 1) / count, e.slice(whole, 1, END)])
    return e.reshape(grown(e, array, count, dims), whole)


@exports("array_add")
def _(e: Any, operation: Any, array: Any, value: Any, *rest: Any) -> Any:
    *parts, shape = rest
    sizes = e.index(shape)
    rank = shape.shape[0]
    wide = grown(e, array, e.ints(1), sizes if rank else None)
    key = operation.attrs["key"]
    if key == "rows":
        at = e.unsqueeze(e.index(parts[0]), parts[0].rank)
        return e.unsqueeze(e("ScatterND", e.squeeze(wide, 0), at, value, reduction="add"), 0)
    numbers = element_numbers(e, sizes, rank)
    places = select(e, numbers, key, parts)
    spread = e.expand(value, e("Shape", places, dtype=dtypes.int64))
    flat = e(
        "ScatterElements", e.reshape(wide, [-1]), e.reshape(places, [-1]), e.reshape(spread, [-1]), axis=0,
        reduction="add",
    )  # fmt: skip
    return e.reshape(flat, e.concat([e.ints(1), sizes]))
