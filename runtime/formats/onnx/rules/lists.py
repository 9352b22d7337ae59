"""TensorArrays and lists. In ONNX a list is the stack of its elements; one without elements may have sizes of 0.

write a, i, x      ScatterND            read a, i     Gather
append xs, x       Concat               stack a       the stack itself
pop xs             Slice, Gather        size xs       Shape

All elements have one shape. Loops that only append give scan outputs instead (loops.py).
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ..onnx_types import END, InexpressibleError
from ..registry import exports
from .creation import counting
from .indexing import element_numbers, select


def _new(e: Any, operation: Any, rows: Any) -> Any:
    spec = operation.outputs[0].spec.element
    shape = spec.shape if spec.shape is not None and None not in spec.shape else None
    shape = shape if shape is not None else e.elements.get(operation.outputs[0], spec.shape)
    if shape is None:
        raise InexpressibleError(
            "the rank of the elements is not known: give the TensorArray an element_shape"
        )
    dims = [0 if size is None else size for size in shape]
    found = e.zeros(e.concat([rows, e.ints(*dims)]) if dims else rows, spec.dtype)
    found.is_unwritten = True
    found.shape = (None, *shape)
    return found


@exports("array_new")
def _(e: Any, operation: Any, size: Any) -> Any:
    return _new(e, operation, e.reshape(e.index(size), [1]))


@exports("list_new")
def _(e: Any, operation: Any) -> Any:
    return _new(e, operation, e.ints(0))


def _rows(e: Any, array: Any) -> Any:
    """Return the number of elements, as a vector of one number."""
    return e("Shape", array, dtype=dtypes.int64, shape=(1,), start=0, end=1)


def _dims(e: Any, array: Any) -> Any:
    """Return the shape of the elements; None for scalars."""
    return e("Shape", array, dtype=dtypes.int64, start=1) if array.rank > 1 else None


def grown(e: Any, array: Any, rows: Any, dims: Any) -> Any:
    """Return a list padded with zeros: to a number of elements (None: its own), each of the shape `dims`."""
    is_static = array.shape is not None and None not in array.shape[1:]
    if rows is None and is_static:
        return array
    shape = e("Shape", array, dtype=dtypes.int64, shape=(array.rank,))
    wanted = _rows(e, array) if rows is None else rows
    if array.rank > 1:
        wanted = e.concat([wanted, dims])
    missing = e("Max", wanted - shape, e.ints(0))
    padded = e("Pad", array, e.concat([e.ints(*[0] * array.rank), missing]), e.const(0, array.dtype))
    padded.shape = array.shape
    return padded


def _fitted(e: Any, array: Any, value: Any) -> Any:
    """Return a list whose elements have the shape of `value`."""
    return grown(e, array, None, e.shape_of(value))


def appended(e: Any, first: Any, rows: Any, keeps_size: bool) -> Any:
    """Return the list that a loop has written or appended to, from the stack of its new elements."""
    dims = _dims(e, rows)
    if keeps_size:
        return grown(e, rows, _rows(e, first), dims)
    if first.is_unwritten:
        return rows
    return e("Concat", grown(e, first, None, dims), rows, axis=0)


@exports("array_write")
def _(e: Any, operation: Any, array: Any, index: Any, value: Any) -> Any:
    at = e.reshape(e.index(index), [1, 1])
    rows = e("Max", _rows(e, array), e.reshape(at, [1]) + 1) if e.lists_grow else None
    wide = grown(e, array, rows, e.shape_of(value))
    return e("ScatterND", wide, at, e.unsqueeze(value, 0))


@exports("array_read", "list_get")
def _(e: Any, operation: Any, array: Any, index: Any) -> Any:
    return e("Gather", array, index, axis=0)


@exports("array_stack", "array_of_rows")
def _(e: Any, operation: Any, array: Any) -> Any:
    return array


@exports("array_concat")
def _(e: Any, operation: Any, array: Any) -> Any:
    if array.rank < 2:
        raise InexpressibleError("elements without axes are concatenated")
    rest = [e.size_of(array, i) for i in range(2, array.rank)]
    return e.reshape(array, e.concat([e.ints(-1), *rest]))


@exports("array_gather")
def _(e: Any, operation: Any, array: Any, indices: Any) -> Any:
    return e("Gather", array, indices, axis=0)


@exports("array_unstack")
def _(e: Any, operation: Any, array: Any, value: Any) -> Any:
    count = _rows(e, value)
    dims = _dims(e, value)
    if array.is_unwritten:
        return grown(e, value, _rows(e, array), dims)
    wide = grown(e, array, None, dims)
    return e("Concat", value, e("Slice", wide, count, e.ints(END), e.ints(0)), axis=0)


@exports("array_split")
def _(e: Any, operation: Any, array: Any, value: Any, lengths: Any) -> Any:
    if lengths.value is None or len({*lengths.value.tolist()}) != 1:
        raise InexpressibleError("parts of different lengths")
    rest = [e.size_of(value, i) for i in range(1, value.rank)]
    return e.reshape(value, e.concat([e.ints(len(lengths.value), int(lengths.value[0])), *rest]))


@exports("array_scatter")
def _(e: Any, operation: Any, array: Any, indices: Any, value: Any) -> Any:
    dims = _dims(e, value)
    rows = None
    if e.lists_grow:
        rows = e("Max", _rows(e, array), e("ReduceMax", e.index(indices), keepdims=1) + 1)
    return e("ScatterND", grown(e, array, rows, dims), e.unsqueeze(e.index(indices), 1), value)


@exports("array_size", "list_size")
def _(e: Any, operation: Any, array: Any) -> Any:
    return e.cast(e.squeeze(_rows(e, array), 0), dtypes.int32)


@exports("list_append")
def _(e: Any, operation: Any, array: Any, value: Any) -> Any:
    row = e.unsqueeze(value, 0)
    return row if array.is_unwritten else e("Concat", _fitted(e, array, value), row, axis=0)


@exports("list_extend")
def _(e: Any, operation: Any, array: Any, other: Any) -> Any:
    return other if array.is_unwritten else e("Concat", array, other, axis=0)


@exports("list_extend_rows")
def _(e: Any, operation: Any, array: Any, rows: Any) -> Any:
    if array.is_unwritten:
        return e("Identity", rows)
    dims = _dims(e, rows)
    return e("Concat", grown(e, array, None, dims), rows, axis=0)


def _cut(e: Any, array: Any, start: Any, end: Any) -> Any:
    return e("Slice", array, start, end, e.ints(0))


@exports("list_pop")
def _(e: Any, operation: Any, array: Any, index: Any) -> Any:
    taken = e("Gather", array, index, axis=0)
    if index.value is not None and int(index.value) == -1:
        return [_cut(e, array, e.ints(0), e.ints(-1)), taken]
    at = e("Mod", e.reshape(e.index(index), [1]), _rows(e, array))
    rest = e("Concat", _cut(e, array, e.ints(0), at), _cut(e, array, at + 1, e.ints(END)), axis=0)
    return [rest, taken]


@exports("list_set")
def _(e: Any, operation: Any, array: Any, index: Any, value: Any) -> Any:
    return e("ScatterND", array, e.reshape(e.index(index), [1, 1]), e.unsqueeze(value, 0))


@exports("list_insert")
def _(e: Any, operation: Any, array: Any, index: Any, value: Any) -> Any:
    count = _rows(e, array)
    at = e.reshape(e.index(index), [1])
    at = e("Min", e("Max", e.where(at < 0, at + count, at), e.ints(0)), count)
    wide = _fitted(e, array, value)
    return e(
        "Concat", _cut(e, wide, e.ints(0), at), e.unsqueeze(value, 0), _cut(e, wide, at, e.ints(END)), axis=0
    )


@exports("list_slice")
def _(e: Any, operation: Any, array: Any, start: Any, stop: Any, step: Any) -> Any:
    if step.value is None or int(step.value) < 1:
        raise InexpressibleError("a list is cut with a step that is not a positive constant")
    bounds = [e.reshape(e.index(each), [1]) for each in (start, stop, step)]
    return e("Slice", array, bounds[0], bounds[1], e.ints(0), bounds[2])


@exports("list_reverse")
def _(e: Any, operation: Any, array: Any) -> Any:
    return e("Slice", array, e.ints(-1), e.ints(-END), e.ints(0), e.ints(-1))


# Cotangents of lists: an element that is missing, or after the end, is zero.


@exports("array_one")
def _(e: Any, operation: Any, index: Any, value: Any) -> Any:
    row = e.unsqueeze(value, 0)
    before = e.concat([e.reshape(e.index(index), [1]), e.ints(*[0] * (2 * row.rank - 1))])
    return e("Pad", row, before, e.const(0, row.dtype))


def _with_zero(e: Any, array: Any, dims: Any) -> Any:
    """Return a list with one more element, of zeros."""
    return grown(e, array, _rows(e, array) + 1, dims)


def _shape_ints(e: Any, shape: Any, start: int) -> Any:
    return e.slice(e.index(shape), start, END) if shape.shape[0] > start else None


@exports("array_item")
def _(e: Any, operation: Any, array: Any, index: Any, shape: Any) -> Any:
    wide = _with_zero(e, array, e.index(shape) if shape.shape[0] else None)
    count = e.squeeze(_rows(e, array), 0)
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
    places = counting(e, e.squeeze(_rows(e, array), 0))
    is_gone = e.unsqueeze(places, 1).equals(e.reshape(e.index(indices), [1, -1]))
    gone = e("ReduceMax", e.cast(is_gone, dtypes.int32), e.ints(1), keepdims=0) > 0
    gone.shape = (None,)
    mask = e.unsqueeze(gone, *range(1, array.rank)) if array.rank > 1 else gone
    return e.where(mask, e.const(0, array.dtype), array)


@exports("array_picked")
def _(e: Any, operation: Any, array: Any, places: Any) -> Any:
    dims = _dims(e, array)
    count = e.squeeze(_rows(e, array), 0)
    at = e.index(places)
    return e("Gather", _with_zero(e, array, dims), e.where(at < 0, count, e("Min", at, count)), axis=0)


@exports("array_spread")
def _(e: Any, operation: Any, array: Any, places: Any) -> Any:
    count = e("ReduceMax", e.index(places), keepdims=1) + 1
    dims = _dims(e, array)
    rows = e("Min", _rows(e, array), _rows(e, places))
    at = _cut(e, e.index(places), e.ints(0), rows)
    zeros = e.zeros(count if dims is None else e.concat([count, dims]), array.dtype)
    return e(
        "ScatterND", zeros, e("Unsqueeze", at, e.ints(1)), _cut(e, array, e.ints(0), rows), reduction="add"
    )


@exports("array_rows")
def _(e: Any, operation: Any, array: Any, shape: Any) -> Any:
    rows = e.slice(e.index(shape), 0, 1)
    wide = grown(e, array, rows, _shape_ints(e, shape, 1))
    return _cut(e, wide, e.ints(0), rows)


@exports("array_lengths")
def _(e: Any, operation: Any, array: Any) -> Any:
    length = e("Shape", array, dtype=dtypes.int64, start=1, end=2)
    return e.cast(e.expand(length, _rows(e, array)), dtypes.int32)


@exports("array_of_parts")
def _(e: Any, operation: Any, whole: Any, lengths: Any) -> Any:
    """Split evenly: elements of a list have one shape here, so their parts have, too."""
    rest = [e.size_of(whole, i) for i in range(1, whole.rank)]
    count = _rows(e, lengths)
    return e.reshape(whole, e.concat([count, e.size_of(whole, 0) / count, *rest]))


@exports("array_whole")
def _(e: Any, operation: Any, array: Any, lengths: Any, shape: Any) -> Any:
    count = _rows(e, lengths)
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
