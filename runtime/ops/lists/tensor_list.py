"""Operations of lists with traced lengths; indices have the meaning of those of Python's lists.

xs.append(v)      list_append xs, v
xs[-1]            list_get xs, -1
xs.pop()          list_pop xs, -1         gives the shorter list and the element

A list is an immutable value, like the state of a TensorArray: each operation returns a new one. `append`, and
`pop` of the last element, cost O(1). Elements have one dtype. If their shapes differ, the static element
shape is the most specific one that covers all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import FRESH_LIST, READS_LIST, SIZE_QUERY
from ...ir.value_types import ListType, TensorType
from ...kernels.persistent_array import PersistentArray
from ..framework.attribute_parsers import Dims, DType
from ..framework.op import Array, Input, Name, op


class ListIndexError(errors.InvalidArgumentError, IndexError):
    """An index out of a list's range; it is Python's IndexError as well."""


@op(traits=FRESH_LIST)
def list_new(dtype: DType, element_shape: Dims, name: Name = None) -> ListType:
    """Create an empty list.

    >>> int(list_size(list_new(dtypes.int32, ())))
    0
    """
    return ListType(TensorType(dtype, element_shape))


list_new.kernel(lambda dtype, element_shape: PersistentArray([]))


def _widened(array: Any, value: Any) -> ListType:
    """Return the type of the list with `value` added."""
    element = array.spec.element
    if value.dtype is not element.dtype:
        raise TypeError(f"the list's elements are {element.dtype.name}, but a new one is {value.dtype.name}")
    return ListType(element.with_shape(shapes.generalize(element.shape, value.shape)))


def _append_in_place(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def append(array: Any, value: Any) -> Any:
        array.items().append(value)
        return array

    return append


@op(in_place=_append_in_place)
def list_append(array: Array, value: Input, name: Name = None) -> ListType:
    """Append `value` to the list.

    >>> int(list_get(list_append(list_new(dtypes.int32, ()), 7), -1))
    7
    """
    return _widened(array, value)


list_append.kernel(lambda array, value: array.written(len(array.items()), value))


@op
def list_extend(array: Array, other: Array, name: Name = None) -> ListType:
    """Append the elements of another list.

    >>> xs = list_append(list_new(dtypes.int32, ()), 7)
    >>> int(list_size(list_extend(xs, xs)))
    2
    """
    return _widened(array, other.spec.element)


list_extend.kernel(lambda array, other: PersistentArray([*array.items(), *other.items()]))


@op
def list_extend_rows(array: Array, rows: Input, name: Name = None) -> ListType:
    """Append the rows of a tensor.

    >>> int(list_size(list_extend_rows(list_new(dtypes.int32, ()), [1, 2, 3])))
    3
    """
    if rows.shape == ():
        raise TypeError("a scalar tensor has no rows to extend a list by")
    return _widened(array, TensorType(rows.dtype, None if rows.shape is None else rows.shape[1:]))


list_extend_rows.kernel(lambda array, rows: PersistentArray([*array.items(), *rows]))


@op
def list_insert(array: Array, index: Input, value: Input, name: Name = None) -> ListType:
    """Insert `value` before the element at `index`.

    >>> xs = list_append(list_new(dtypes.int32, ()), 7)
    >>> int(list_get(list_insert(xs, 0, 5), 0))
    5
    """
    return _widened(array, value)


@list_insert.kernel
def _(array: PersistentArray, index: Any, value: Any) -> PersistentArray:
    items = list(array.items())
    items.insert(int(index), value)
    return PersistentArray(items)


def _set_in_place(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def set_item(array: Any, index: Any, value: Any) -> Any:
        items = array.items()
        if -len(items) <= index < len(items):
            items[index] = value
            return array
        return kernel(array, index, value)

    return set_item


@op(in_place=_set_in_place)
def list_set(array: Array, index: Input, value: Input, name: Name = None) -> ListType:
    """Replace the element at `index` by `value`.

    >>> xs = list_append(list_new(dtypes.int32, ()), 7)
    >>> int(list_get(list_set(xs, 0, 5), 0)), int(list_get(xs, 0))
    (5, 7)
    """
    return _widened(array, value)


@list_set.kernel
def _(array: PersistentArray, index: Any, value: Any) -> PersistentArray:
    return array.written(_checked_index(array, index, "list assignment index out of range"), value)


@op(traits=READS_LIST)
def list_get(array: Array, index: Input, name: Name = None) -> TensorType:
    """Return the element at `index`.

    >>> int(list_get(list_append(list_new(dtypes.int32, ()), 7), 0))
    7
    """
    element: TensorType = array.spec.element
    return element


list_get.kernel(lambda array, index: array.items()[_checked_index(array, index, "list index out of range")])


def _pop_in_place(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def pop(array: Any, index: Any) -> Any:
        items = array.items()
        if items and (index == -1 or index == len(items) - 1):
            return array, items.pop()
        return kernel(array, index)

    return pop


@op(in_place=_pop_in_place)
def list_pop(array: Array, index: Input, name: Name = None) -> tuple[ListType, TensorType]:
    """Return the list without the element at `index`, and that element.

    >>> xs, x = list_pop(list_append(list_new(dtypes.int32, ()), 7), -1)
    >>> int(list_size(xs)), int(x)
    (0, 7)
    """
    return array.spec, array.spec.element


@list_pop.kernel
def _(array: PersistentArray, index: Any) -> tuple[PersistentArray, Any]:
    items = array.items()
    if not items:
        raise ListIndexError("pop from empty list")
    position = _checked_index(array, index, "pop index out of range")
    element = items[position]
    if position == len(items) - 1:
        return array.popped(), element
    return PersistentArray([*items[:position], *items[position + 1 :]]), element


@op
def list_slice(array: Array, start: Input, stop: Input, step: Input, name: Name = None) -> ListType:
    """Return the part `[start:stop:step]` of a list.

    >>> xs = list_extend_rows(list_new(dtypes.int32, ()), [1, 2, 3])
    >>> int(list_size(list_slice(xs, 1, 9, 1)))
    2
    """
    spec: ListType = array.spec
    return spec


@list_slice.kernel
def _(array: PersistentArray, start: Any, stop: Any, step: Any) -> PersistentArray:
    return PersistentArray(array.items()[int(start) : int(stop) : int(step)])


@op
def list_reverse(array: Array, name: Name = None) -> ListType:
    """Reverse the list.

    >>> xs = list_extend_rows(list_new(dtypes.int32, ()), [1, 2, 3])
    >>> int(list_get(list_reverse(xs), 0))
    3
    """
    spec: ListType = array.spec
    return spec


list_reverse.kernel(lambda array: PersistentArray(array.items()[::-1]))


@op(traits=READS_LIST | SIZE_QUERY)
def list_size(array: Array, name: Name = None) -> TensorType:
    """Return the number of elements, as int32.

    >>> int(list_size(list_extend_rows(list_new(dtypes.int32, ()), [1, 2, 3])))
    3
    """
    return TensorType(dtypes.int32, ())


list_size.kernel(lambda array: np.int32(len(array.items())))


def _checked_index(array: PersistentArray, index: Any, complaint: str) -> int:
    size = len(array.items())
    position = int(index)
    if not -size <= position < size:
        raise ListIndexError(complaint)
    return position % size
