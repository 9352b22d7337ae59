"""TensorArrays and lists, as TensorFlow's lists of tensors (variants)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir.value_types import ListType
from ....storage.tensor_protos import parsed
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, refuse, writes
from .indexing import put_back_item
from .shapes import cast, part, shape_of, sliced

direct("array_size=TensorListLength list_size=TensorListLength")

ANY = -1
"""The shape of elements that may have any shape."""

refuse("array_lengths", "TensorFlow has no operation for the sizes of a list's elements")


def dtype_of(array: NodeResult) -> str:
    """Return the dtype of a list's elements."""
    return _dtype(array.spec)


def _dtype(spec: Any) -> str:
    return "variant" if isinstance(spec.element, ListType) else spec.element.dtype.name


def known(shape: Any) -> Any:
    """Return a shape of elements as TensorFlow's operations take it."""
    return ANY if shape is None else np.array([-1 if size is None else size for size in shape], np.int32)


def element_shape(array: NodeResult) -> Any:
    """Return the shape of a list's elements, as far as it is known."""
    element = array.spec.element
    return np.zeros(0, np.int32) if isinstance(element, ListType) else known(element.shape)


def own_type(to: Body) -> str:
    """Return the dtype of the elements of the list that is made."""
    return _dtype(to.outputs[0])


def place(to: Body, array: NodeResult, index: NodeResult) -> Any:
    """Return an index of a list, which may count from the end, from the beginning."""
    index = cast(to, index, "int32")
    return to.SelectV2(to.Less(index, 0), to.AddV2(index, to.TensorListLength(array)), index)


def resized(to: Body, array: NodeResult, size: NodeResult) -> Any:
    """Return a list of at least this size."""
    return to.TensorListResize(array, to.Maximum(to.TensorListLength(array), size))


def size_for(to: Body, places: NodeResult) -> Any:
    """Return the size of the shortest list that has these places."""
    return to.AddV2(to.Max(to.ConcatV2([places, [-1]], 0), [0]), 1)


def gathered(to: Body, array: NodeResult, places: NodeResult) -> Any:
    """Return a list of the elements at these indices, which have one shape."""
    rows = to.TensorListGather(array, places, element_shape(array), element_dtype=dtype_of(array))
    return to.TensorListFromTensor(rows, ANY)


def stacked(to: Body, array: NodeResult) -> Any:
    """Return the elements, which have one shape, as rows."""
    return to.TensorListStack(array, element_shape(array), element_dtype=dtype_of(array))


@writes("array_new")
def _(to: Body, size: NodeResult, dtype: Any, element_shape: Any, dynamic: bool) -> Any:
    return to.TensorListReserve(known(element_shape), cast(to, size, "int32"), element_dtype=dtype)


@writes("list_new")
def _(to: Body, dtype: Any, element_shape: Any) -> Any:
    return to.EmptyTensorList(ANY, -1, element_dtype=dtype)


@writes("list_of_lists")
def _(to: Body, like: NodeResult) -> Any:
    return to.EmptyTensorList(ANY, -1, element_dtype="variant")


@writes("array_write")
def _(to: Body, array: NodeResult, index: NodeResult, value: NodeResult, infer_shape: bool) -> Any:
    return to.TensorListSetItem(
        array, cast(to, index, "int32"), value, resize_if_index_out_of_bounds=to.lists_grow
    )


@writes("array_read")
def _(to: Body, array: NodeResult, index: NodeResult, dtype: Any, element_shape: Any) -> Any:
    return to.TensorListGetItem(array, cast(to, index, "int32"), known(element_shape), element_dtype=dtype)


@writes("array_stack")
def _(to: Body, array: NodeResult, dtype: Any, element_shape: Any, size: int | None) -> Any:
    return to.TensorListStack(array, known(element_shape), element_dtype=dtype)


@writes("array_concat")
def _(to: Body, array: NodeResult, dtype: Any, element_shape: Any, size: int | None) -> Any:
    return to.TensorListConcatV2(array, known(element_shape), np.zeros(0, np.int64), element_dtype=dtype)[0]


@writes("array_gather")
def _(to: Body, array: NodeResult, indices: NodeResult, dtype: Any, element_shape: Any) -> Any:
    return to.TensorListGather(array, cast(to, indices, "int32"), known(element_shape), element_dtype=dtype)


@writes("array_unstack")
def _(to: Body, array: NodeResult, value: NodeResult) -> Any:
    """Write all rows; a new list has nothing else to keep."""
    rows = part(to, to.Shape(value), 0)
    if array.node.op == "TensorListReserve":
        return to.TensorListResize(
            to.TensorListFromTensor(value, ANY), to.Maximum(to.TensorListLength(array), rows)
        )
    whole = resized(to, array, rows) if to.lists_grow else array
    return to.TensorListScatterIntoExistingList(whole, value, to.Range(0, rows, 1))


@writes("array_scatter")
def _(to: Body, array: NodeResult, indices: NodeResult, value: NodeResult) -> Any:
    indices = cast(to, indices, "int32")
    if to.lists_grow:
        array = resized(to, array, size_for(to, indices))
    return to.TensorListScatterIntoExistingList(array, value, indices)


@writes("array_split")
def _(to: Body, array: NodeResult, value: NodeResult, lengths: NodeResult) -> Any:
    return to.TensorListSplit(value, ANY, cast(to, lengths, "int64"))


@writes("list_append", "list_keep")
def _(to: Body, array: NodeResult, value: NodeResult) -> Any:
    return to.TensorListPushBack(array, value, element_dtype=own_type(to))


@writes("list_get")
def _(to: Body, array: NodeResult, index: NodeResult) -> Any:
    return to.TensorListGetItem(
        array, place(to, array, index), element_shape(array), element_dtype=dtype_of(array)
    )


@writes("list_set")
def _(to: Body, array: NodeResult, index: NodeResult, value: NodeResult) -> Any:
    return to.TensorListSetItem(array, place(to, array, index), value)


@writes("list_extend")
def _(to: Body, array: NodeResult, other: NodeResult) -> Any:
    return to.TensorListConcatLists(array, other, element_dtype=own_type(to))


@writes("list_extend_rows")
def _(to: Body, array: NodeResult, rows: NodeResult) -> Any:
    return to.TensorListConcatLists(array, to.TensorListFromTensor(rows, ANY), element_dtype=own_type(to))


@writes("list_pop")
def _(to: Body, array: NodeResult, index: NodeResult) -> Any:
    """Remove the last element; another one is left out of a list of the others, which then have one shape."""
    dtype = dtype_of(array)
    if _constant(index) == -1:
        return to.TensorListPopBack(array, element_shape(array), element_dtype=dtype)
    at = place(to, array, index)
    item = to.TensorListGetItem(array, at, element_shape(array), element_dtype=dtype)
    numbers = to.Range(0, to.Sub(to.TensorListLength(array), 1), 1)
    return [gathered(to, array, to.AddV2(numbers, cast(to, to.GreaterEqual(numbers, at), "int32"))), item]


def _constant(x: NodeResult) -> int | None:
    """Return the value of a constant of one element."""
    if x.node.op != "Const":
        return None
    array = parsed(x.node.attributes["value"])
    return int(array) if array.size == 1 else None


@writes("list_take")
def _(to: Body, array: NodeResult) -> Any:
    return to.TensorListPopBack(array, np.zeros(0, np.int32), element_dtype="variant")


@writes("list_insert")
def _(to: Body, array: NodeResult, index: NodeResult, value: NodeResult) -> Any:
    """Append the element, then put the elements in order."""
    size = to.TensorListLength(array)
    at = to.Minimum(to.Maximum(place(to, array, index), 0), size)
    longer = to.TensorListPushBack(array, value)
    longer.spec = array.spec
    numbers = to.Range(0, to.AddV2(size, 1), 1)
    order = to.Sub(numbers, cast(to, to.Greater(numbers, at), "int32"))
    return gathered(to, longer, to.SelectV2(to.Equal(numbers, at), size, order))


@writes("list_reverse")
def _(to: Body, array: NodeResult) -> Any:
    return gathered(to, array, to.Range(to.Sub(to.TensorListLength(array), 1), -1, -1))


@writes("list_slice")
def _(to: Body, array: NodeResult, start: NodeResult, stop: NodeResult, step: NodeResult) -> Any:
    bounds = [to.Reshape(cast(to, each, "int64"), [1]) for each in (start, stop, step)]
    numbers = to.Range(np.int64(0), cast(to, to.TensorListLength(array), "int64"), np.int64(1))
    return gathered(to, array, cast(to, to.StridedSlice(numbers, *bounds), "int32"))


@writes("list_repeat")
def _(to: Body, array: NodeResult, times: NodeResult) -> Any:
    numbers = to.Range(0, to.TensorListLength(array), 1)
    count = to.Maximum(to.Reshape(cast(to, times, "int32"), [1]), 0)
    return gathered(to, array, to.Tile(numbers, count))


@writes("list_equal")
def _(to: Body, one: NodeResult, other: NodeResult) -> Any:
    """Compare the lengths, and the elements after the other list has got the length of the first."""
    size = to.TensorListLength(one)
    fitted = to.TensorListResize(other, size)
    fitted.spec = other.spec
    same = to.All(to.Equal(stacked(to, one), stacked(to, fitted)), [0])
    return to.LogicalAnd(to.Equal(size, to.TensorListLength(other)), same)


@writes("list_count")
def _(to: Body, array: NodeResult, value: NodeResult) -> Any:
    return to.Sum(cast(to, to.Equal(stacked(to, array), value), "int32"), [0])


@writes("list_index")
def _(to: Body, array: NodeResult, value: NodeResult) -> Any:
    places = to.Reshape(to.Where(to.Equal(stacked(to, array), value)), [-1])
    to.Assert(to.Greater(to.Size(places), 0), ["the value is not in the list", value])
    return cast(to, part(to, places, 0), "int32")


@writes("array_one", "array_one_list")
def _(to: Body, index: NodeResult, value: NodeResult) -> Any:
    index = cast(to, index, "int32")
    made = to.TensorListReserve(ANY, to.AddV2(index, 1), element_dtype=own_type(to))
    return to.TensorListSetItem(made, index, value)


@writes("array_item")
def _(to: Body, array: NodeResult, index: NodeResult, shape: NodeResult, dtype: Any) -> Any:
    index = cast(to, index, "int32")
    whole = resized(to, array, to.AddV2(index, 1))
    return to.TensorListGetItem(whole, index, cast(to, shape, "int32"), element_dtype=dtype)


@writes("array_sum")
def _(to: Body, one: NodeResult, other: NodeResult) -> Any:
    size = to.Maximum(to.TensorListLength(one), to.TensorListLength(other))
    return to.AddN([to.TensorListResize(one, size), to.TensorListResize(other, size)])


@writes("array_add")
def _(
    to: Body, array: NodeResult, value: NodeResult, parts: list[NodeResult], shape: NodeResult, key: str
) -> Any:
    """Add to the list's only tensor, which is zero if it is missing."""
    whole, sizes = to.TensorListResize(array, 1), cast(to, shape, "int32")
    before = to.TensorListGetItem(whole, 0, sizes, element_dtype=dtype_of(array))
    return to.TensorListSetItem(whole, 0, to.AddV2(before, put_back_item(to, value, shape, parts, key)))


def _zero(to: Body, array: NodeResult) -> Any:
    shape = array.spec.element.shape if not isinstance(array.spec.element, ListType) else None
    if shape is None or None in shape:
        raise RefusedByRuleError("the shape of the list's elements is not static")
    return to.Fill(np.array(shape, np.int32), to.const(0, dtype_of(array)))


@writes("array_without")
def _(to: Body, array: NodeResult, indices: NodeResult) -> Any:
    """Write zeros at the indices."""
    zero = _zero(to, array)
    places = to.Reshape(cast(to, indices, "int32"), [-1])
    whole = resized(to, array, size_for(to, places))
    count = to.Reshape(to.Size(places), [1])
    rows = to.BroadcastTo(zero, to.ConcatV2([count, shape_of(to, zero)], 0))
    return to.TensorListScatterIntoExistingList(whole, rows, places)


@writes("array_picked")
def _(to: Body, array: NodeResult, places: NodeResult) -> Any:
    places = cast(to, places, "int32")
    whole = resized(to, array, size_for(to, places))
    whole.spec = array.spec
    return gathered(to, whole, places)


@writes("array_spread")
def _(to: Body, array: NodeResult, places: NodeResult) -> Any:
    """Sum the rows of each index; missing elements at the end are zero."""
    places = cast(to, places, "int32")
    whole = to.TensorListResize(array, to.Size(places))
    whole.spec = array.spec
    size = size_for(to, places)
    return to.TensorListFromTensor(to.UnsortedSegmentSum(stacked(to, whole), places, size), ANY)


@writes("array_of_rows")
def _(to: Body, rows: NodeResult) -> Any:
    return to.TensorListFromTensor(rows, ANY)


@writes("array_rows")
def _(to: Body, array: NodeResult, shape: NodeResult, dtype: Any) -> Any:
    shape = cast(to, shape, "int32")
    count = part(to, shape, 0)
    return to.TensorListStack(
        to.TensorListResize(array, count), sliced(to, shape, 1, None), element_dtype=dtype
    )


@writes("array_of_parts")
def _(to: Body, whole: NodeResult, lengths: NodeResult) -> Any:
    return to.TensorListSplit(whole, ANY, cast(to, lengths, "int64"))


@writes("array_whole")
def _(to: Body, array: NodeResult, lengths: NodeResult, shape: NodeResult, dtype: Any) -> Any:
    lengths = cast(to, lengths, "int64")
    row = to.ConcatV2([[-1], sliced(to, cast(to, shape, "int32"), 1, None)], 0)
    return to.TensorListConcatV2(
        to.TensorListResize(array, to.Size(lengths)), row, lengths, element_dtype=dtype
    )[0]


@writes("array_sublist")
def _(to: Body, array: NodeResult, index: NodeResult) -> Any:
    raise RefusedByRuleError("a list of lists, at an index that may be missing")
