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


def rows_of(e: Any, array: Any) -> Any:
    """Return the number of elements, as a vector of one number."""
    return e("Shape", array, dtype=dtypes.int64, shape=(1,), start=0, end=1)


def dims_of(e: Any, array: Any) -> Any:
    """Return the shape of the elements; None for scalars."""
    return e("Shape", array, dtype=dtypes.int64, start=1) if array.rank > 1 else None


def grown(e: Any, array: Any, rows: Any, dims: Any) -> Any:
    """Return a list padded with zeros: to a number of elements (None: its own), each of the shape `dims`."""
    is_static = array.shape is not None and None not in array.shape[1:]
    if rows is None and is_static:
        return array
    shape = e("Shape", array, dtype=dtypes.int64, shape=(array.rank,))
    wanted = rows_of(e, array) if rows is None else rows
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
    dims = dims_of(e, rows)
    if keeps_size:
        return grown(e, rows, rows_of(e, first), dims)
    if first.is_unwritten:
        return rows
    return e("Concat", grown(e, first, None, dims), rows, axis=0)


@exports("array_write")
def _(e: Any, operation: Any, array: Any, index: Any, value: Any) -> Any:
    at = e.reshape(e.index(index), [1, 1])
    rows = e("Max", rows_of(e, array), e.reshape(at, [1]) + 1) if e.lists_grow else None
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
    count = rows_of(e, value)
    dims = dims_of(e, value)
    if array.is_unwritten:
        return grown(e, value, rows_of(e, array), dims)
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
    dims = dims_of(e, value)
    rows = None
    if e.lists_grow:
        rows = e("Max", rows_of(e, array), e("ReduceMax", e.index(indices), keepdims=1) + 1)
    return e("ScatterND", grown(e, array, rows, dims), e.unsqueeze(e.index(indices), 1), value)


@exports("array_size", "list_size")
def _(e: Any, operation: Any, array: Any) -> Any:
    return e.cast(e.squeeze(rows_of(e, array), 0), dtypes.int32)


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
    dims = dims_of(e, rows)
    return e("Concat", grown(e, array, None, dims), rows, axis=0)


def cut(e: Any, array: Any, start: Any, end: Any) -> Any:
    """Return some of the elements, in their order."""
    return e("Slice", array, start, end, e.ints(0))


@exports("list_pop")
def _(e: Any, operation: Any, array: Any, index: Any) -> Any:
    taken = e("Gather", array, index, axis=0)
    if index.value is not None and int(index.value) == -1:
        return [cut(e, array, e.ints(0), e.ints(-1)), taken]
    at = e("Mod", e.reshape(e.index(index), [1]), rows_of(e, array))
    rest = e("Concat", cut(e, array, e.ints(0), at), cut(e, array, at + 1, e.ints(END)), axis=0)
    return [rest, taken]


@exports("list_set")
def _(e: Any, operation: Any, array: Any, index: Any, value: Any) -> Any:
    return e("ScatterND", array, e.reshape(e.index(index), [1, 1]), e.unsqueeze(value, 0))


@exports("list_insert")
def _(e: Any, operation: Any, array: Any, index: Any, value: Any) -> Any:
    count = rows_of(e, array)
    at = e.reshape(e.index(index), [1])
    at = e("Min", e("Max", e.where(at < 0, at + count, at), e.ints(0)), count)
    wide = _fitted(e, array, value)
    return e(
        "Concat", cut(e, wide, e.ints(0), at), e.unsqueeze(value, 0), cut(e, wide, at, e.ints(END)), axis=0
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
