"""Operations used by the gradients of TensorArrays and lists (tensor_array_gradients.py).

The cotangent of a list is a list of the cotangents of its elements. An element that is missing or past the
end counts as zero. So the cotangent can be built before the list's length is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...ir.traits import FRESH_LIST, KEEPS_LENGTH, PYTHON_INDEX, READS_LIST, SIZE_QUERY
from ...ir.value_types import ListType, TensorType
from ...kernels.persistent_array import PersistentArray
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import DType
from ..framework.op import Array, Input, Ints, Name, op
from ..framework.static_values import as_tuple, checked_dims, dims


class OneElement(PersistentArray):
    """A cotangent of which only the last element is not zero."""

    __slots__ = ()


def padded(items: list[Any], size: int) -> list[Any]:
    missing: list[Any] = [None] * (size - len(items))
    return [*items, *missing]


@op
def array_one(index: Input, value: Input, name: Name = None) -> ListType:
    """Return the cotangent of a list in which only the element at `index` has a cotangent.

    >>> array_rows(array_one(1, 7.0), (2,), dtypes.float32).numpy().tolist()
    [0.0, 7.0]
    """
    return ListType(TensorType(value.dtype, value.shape))


array_one.kernel(lambda index, value: OneElement([*padded([], int(index)), value]))


@array_one.gradient
def _(dy: Any, y: Any, index: Any, value: Any) -> Any:
    return None, array_item(dy, index, shape_of(value), value.dtype)


@op(traits=READS_LIST | PYTHON_INDEX)
def array_item(array: Array, index: Input, shape: Ints, dtype: DType, name: Name = None) -> TensorType:
    """Return the cotangent of the element at `index`, whose shape is given.

    >>> array_item(array_one(1, 7.0), 5, (2,), dtypes.float32).numpy().tolist()
    [0.0, 0.0]
    """
    return TensorType(dtype, dims(shape))


@array_item.kernel
def _(array: PersistentArray, index: Any, shape: Any, dtype: dtypes.DType) -> Any:
    items, position = array.items(), int(index)
    item = items[position] if 0 <= position < len(items) else None
    return np.zeros(checked_dims(shape), dtype.numpy_dtype) if item is None else item


array_item.gradient(lambda dy, y, array, index, shape, dtype: (array_one(index, dy), None, None))


@op
def array_sum(one: Array, other: Array, name: Name = None) -> ListType:
    """Add two cotangents of a list.

    >>> both = array_sum(array_one(1, 7.0), array_one(1, 2.0))
    >>> array_rows(both, (2,), dtypes.float32).numpy().tolist()
    [0.0, 9.0]
    """
    total: ListType = common_element(one.spec, other.spec)
    return total


def common_element(one: Any, other: Any) -> Any:
    if one is other:
        return one
    if isinstance(one, ListType):
        return ListType(common_element(one.element, other.element))
    return one.with_shape(shapes.generalize(one.shape, other.shape))


@array_sum.kernel
def _(one: PersistentArray, other: PersistentArray) -> PersistentArray:
    total: PersistentArray = _sum(one, other)
    return total


def _sum(one: Any, other: Any) -> Any:
    """Add two cotangents: of elements, or of lists of elements; None means zero."""
    if one is None or other is None:
        return other if one is None else one
    if not isinstance(one, PersistentArray):
        return one + other
    if type(one) is OneElement and type(other) is not OneElement:
        one, other = other, one
    items, more = one.items(), other.items()
    if type(other) is OneElement and len(items) >= len(more):
        position = len(more) - 1
        return one.written(position, _sum(items[position], more[position]))
    size = max(len(items), len(more))
    return PersistentArray(
        [_sum(*pair) for pair in zip(padded(items, size), padded(more, size), strict=True)]
    )


array_sum.gradient(lambda dy, y, one, other: (dy, dy))


def _remove_in_place(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def remove(array: Any, index: Any) -> Any:
        items = array.items()
        if not getattr(index, "ndim", 0) and 0 <= index < len(items):
            items[index] = None
            return array
        return kernel(array, index)

    return remove


@op(traits=KEEPS_LENGTH | PYTHON_INDEX, in_place=_remove_in_place)
def array_without(array: Array, indices: Input, name: Name = None) -> ListType:
    """Return the cotangent with the elements at `indices` removed, because these elements were replaced.

    >>> array_rows(array_without(array_of_rows([5.0, 7.0]), 0), (2,), dtypes.float32).numpy().tolist()
    [0.0, 7.0]
    """
    spec: ListType = array.spec
    return spec


@array_without.kernel
def _(array: PersistentArray, indices: Any) -> PersistentArray:
    positions = as_tuple(np.asarray(indices))
    if len(positions) == 1 and positions[0] < len(array.items()):
        return array.written(positions[0], None)
    gone = set(positions)
    return PersistentArray([None if i in gone else item for i, item in enumerate(array.items())])


array_without.gradient(lambda dy, y, array, indices: (array_without(dy, indices), None))


@op
def array_picked(array: Array, places: Input, name: Name = None) -> ListType:
    """Return the cotangents of the elements at these indices, in this order.

    >>> array_rows(array_picked(array_of_rows([5.0, 7.0]), [1, 0]), (2,), dtypes.float32).numpy().tolist()
    [7.0, 5.0]
    """
    spec: ListType = array.spec
    return spec


@array_picked.kernel
def _(array: PersistentArray, places: Any) -> PersistentArray:
    items = array.items()
    return PersistentArray([items[i] if 0 <= i < len(items) else None for i in as_tuple(places)])


@array_picked.gradient
def _(dy: Any, y: Any, array: Any, places: Any) -> Any:
    return array_spread(dy, places), None


@op
def array_spread(array: Array, places: Input, name: Name = None) -> ListType:
    """Add cotangents to the elements at these indices: the transpose of `array_picked`.

    >>> array_rows(array_spread(array_of_rows([5.0, 7.0]), [1, 1]), (2,), dtypes.float32).numpy().tolist()
    [0.0, 12.0]
    """
    spec: ListType = array.spec
    return spec


@array_spread.kernel
def _(array: PersistentArray, places: Any) -> PersistentArray:
    wanted = as_tuple(places)
    result: list[Any] = [None] * (max(wanted, default=-1) + 1)
    for position, item in zip(wanted, array.items(), strict=False):
        if item is not None:
            result[position] = _sum(result[position], item)
    return PersistentArray(result)


array_spread.gradient(lambda dy, y, array, places: (array_picked(dy, places), None))


@op(traits=FRESH_LIST)
def array_of_rows(rows: Input, name: Name = None) -> ListType:
    """Split the cotangent of a tensor into those of its rows, as a list.

    >>> array_item(array_of_rows([5.0, 7.0]), 1, (), dtypes.float32).numpy()
    np.float32(7.0)
    """
    return ListType(TensorType(rows.dtype, None if rows.shape is None else rows.shape[1:]))


array_of_rows.kernel(lambda rows: PersistentArray(list(rows)))


@array_of_rows.gradient
def _(dy: Any, y: Any, rows: Any) -> Any:
    return array_rows(dy, shape_of(rows), rows.dtype)


@op(traits=READS_LIST)
def array_rows(array: Array, shape: Ints, dtype: DType, name: Name = None) -> TensorType:
    """Stack the cotangents of rows into that of a tensor of this shape.

    >>> array_rows(array_one(1, 7.0), (3,), dtypes.float32).numpy().tolist()
    [0.0, 7.0, 0.0]
    """
    return TensorType(dtype, dims(shape))


@array_rows.kernel
def _(array: PersistentArray, shape: Any, dtype: dtypes.DType) -> Any:
    result = np.zeros(checked_dims(shape), dtype.numpy_dtype)
    for position, item in enumerate(array.items()[: len(result)]):
        if item is not None:
            result[position] = item
    return result


array_rows.gradient(lambda dy, y, array, shape, dtype: (array_of_rows(dy), None))


@op(traits=SIZE_QUERY)
def array_lengths(array: Array, name: Name = None) -> TensorType:
    """Return the sizes of the elements' first axes, as int32; 0 for an element that was never written.

    >>> array_lengths(array_one(1, [7.0, 8.0])).numpy().tolist()
    [0, 2]
    """
    return TensorType(dtypes.int32, (None,))


@array_lengths.kernel
def _(array: PersistentArray) -> Any:
    return np.array([0 if item is None else len(item) for item in array.items()], np.int32)


@op
def array_of_parts(whole: Input, lengths: Ints, name: Name = None) -> ListType:
    """Split the cotangent of concatenated elements into a list of theirs.

    >>> array_lengths(array_of_parts([5.0, 7.0, 9.0], [1, 2])).numpy().tolist()
    [1, 2]
    """
    return ListType(TensorType(whole.dtype, None if whole.shape is None else (None, *whole.shape[1:])))


@array_of_parts.kernel
def _(whole: Any, lengths: Any) -> PersistentArray:
    return PersistentArray(np.split(whole, np.cumsum(lengths)[:-1]) if len(lengths) else [])


@array_of_parts.gradient
def _(dy: Any, y: Any, whole: Any, lengths: Any) -> Any:
    return array_whole(dy, lengths, shape_of(whole), whole.dtype), None


@op
def array_whole(array: Array, lengths: Ints, shape: Ints, dtype: DType, name: Name = None) -> TensorType:
    """Concatenate the cotangents of elements into that of a tensor of this shape.

    >>> array_whole(array_one(1, [7.0, 9.0]), [1, 2], (3,), dtypes.float32).numpy().tolist()
    [0.0, 7.0, 9.0]
    """
    return TensorType(dtype, dims(shape))


@array_whole.kernel
def _(array: PersistentArray, lengths: Any, shape: Any, dtype: dtypes.DType) -> Any:
    result = np.zeros(checked_dims(shape), dtype.numpy_dtype)
    ends = np.cumsum(lengths)
    for item, start, end in zip(array.items(), ends - lengths, ends, strict=False):
        if item is not None:
            result[start:end] = item
    return result


array_whole.gradient(lambda dy, y, array, lengths, shape, dtype: (array_of_parts(dy, lengths), None, None))
