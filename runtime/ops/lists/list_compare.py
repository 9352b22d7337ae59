"""Operations that compare or repeat whole lists of traced length.

    xs == ys          list_equal xs, ys       lists of different lengths differ
    xs.count(v)       list_count xs, v
    xs.index(v)       list_index xs, v        ValueError if there is none
    xs * n            list_repeat xs, n

See tensor_list.py for the other operations on lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...ir.value_types import ListType, TensorType
from ...kernels.persistent_array import PersistentArray
from ..framework.op import Array, Input, Name, op


class ListValueError(errors.InvalidArgumentError, ValueError):
    """A value is not in a list; it is Python's ValueError as well."""


def _refuse_others(array: Any, value: Any) -> None:
    element = array.spec.element
    if element.dtype is not value.dtype:
        raise TypeError(f"the list's elements are {element.dtype.name}, and this is {value.dtype.name}")
    if any(shape not in ((), None) for shape in (element.shape, _dims(value))):
        raise TypeError(f"elements of shape {element.shape} are compared element by element, not as a whole")


def _dims(value: Any) -> Any:
    return getattr(value.shape, "sizes", value.shape)


@op
def list_equal(one: Array, other: Array, name: Name = None) -> TensorType:
    """Return whether two lists of scalars have the same elements in the same order.

    >>> from .tensor_list import list_append, list_new
    >>> empty = list_new(dtypes.int32, ())
    >>> bool(list_equal(empty, empty)), bool(list_equal(empty, list_append(empty, 7)))
    (True, False)
    """
    _refuse_others(one, other.spec.element)
    return TensorType(dtypes.bool_, ())


@list_equal.kernel
def _(one: PersistentArray, other: PersistentArray) -> Any:
    left, right = one.items(), other.items()
    return np.bool_(len(left) == len(right) and all(a == b for a, b in zip(left, right, strict=True)))


@op
def list_count(array: Array, value: Input, name: Name = None) -> TensorType:
    """Count the elements that are equal to `value`, as int32.

    >>> from .tensor_list import list_append, list_new
    >>> int(list_count(list_append(list_new(dtypes.int32, ()), 7), 7))
    1
    """
    _refuse_others(array, value)
    return TensorType(dtypes.int32, ())


list_count.kernel(lambda array, value: np.int32(sum(bool(element == value) for element in array.items())))


@op
def list_index(array: Array, value: Input, name: Name = None) -> TensorType:
    """Return the index of the first element that is equal to `value`, as int32.

    >>> from .tensor_list import list_append, list_new
    >>> int(list_index(list_append(list_new(dtypes.int32, ()), 7), 7))
    0
    """
    _refuse_others(array, value)
    return TensorType(dtypes.int32, ())


@list_index.kernel
def _(array: PersistentArray, value: Any) -> Any:
    for position, element in enumerate(array.items()):
        if element == value:
            return np.int32(position)
    raise ListValueError(f"{value} is not in list")


@op
def list_repeat(array: Array, times: Input, name: Name = None) -> ListType:
    """Repeat the list `times` times.

    >>> from .tensor_list import list_append, list_new, list_size
    >>> int(list_size(list_repeat(list_append(list_new(dtypes.int32, ()), 7), 3)))
    3
    """
    if not times.dtype.is_integer:
        raise TypeError(f"can't multiply sequence by non-int of type '{times.dtype.name}'")
    spec: ListType = array.spec
    return spec


list_repeat.kernel(lambda array, times: PersistentArray(list(array.items()) * int(times)))
