"""TensorArrays and lists, as TensorFlow's lists of tensors (variants)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir.value_types import ListType
from ....storage.tensor_protos import parsed
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import direct, refuse, writes
from .shapes import cast, part

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
