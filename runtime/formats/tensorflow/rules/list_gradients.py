"""Gradients of TensorArrays and lists: an element that is missing, or after the end, is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir.value_types import ListType
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, writes
from .indexing import put_back_item
from .lists import ANY, dtype_of, gathered, own_type, resized, size_for, stacked
from .shapes import cast, part, shape_of, sliced


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
