"""Lists of lists: residuals that nested loops save for their gradients."""

from __future__ import annotations

from typing import Any

from ...ir.value_types import ListType
from ...kernels.persistent_array import PersistentArray
from ..arrays.ranges import range as numbers
from ..framework.op import Array, Input, Name, op
from .list_gradients import OneElement, array_picked, array_sum, common_element, padded
from .tensor_list import list_new, list_size


@op
def list_keep(array: Array, inner: Array, name: Name = None) -> ListType:
    """Append the list `inner` to a list of lists.

    >>> from .list_gradients import array_one
    >>> inner = array_one(0, 7.0)
    >>> int(list_size(list_keep(new_list(ListType(inner.spec)), inner)))
    1
    """
    return ListType(common_element(array.spec.element, inner.spec))


list_keep.kernel(lambda array, inner: array.written(len(array.items()), inner))


@list_keep.gradient
def _(dy: Any, y: Any, array: Any, inner: Any) -> Any:
    size = list_size(array)
    return array_picked(dy, numbers(size)), array_sublist(dy, size)


@op
def list_take(array: Array, name: Name = None) -> tuple[ListType, ListType]:
    """Return the list of lists without its last list, and that last list.

    >>> from .list_gradients import array_one
    >>> rest, last = list_take(array_one_list(0, array_one(0, 7.0)))
    >>> int(list_size(rest)), int(list_size(last))
    (0, 1)
    """
    return array.spec, array.spec.element


@list_take.kernel
def _(array: PersistentArray) -> tuple[PersistentArray, PersistentArray]:
    last = array.items()[-1]
    return array.popped(), last


@list_take.gradient
def _(dy: list[Any], y: list[Any], array: Any) -> Any:
    rest, inner = dy
    if inner is None:
        return rest
    last = array_one_list(list_size(array) - 1, inner)
    return last if rest is None else array_sum(rest, last)


@op
def array_one_list(index: Input, inner: Array, name: Name = None) -> ListType:
    """Return the cotangent of a list of lists in which only the list at `index` has a cotangent.

    >>> from .list_gradients import array_one
    >>> int(list_size(array_one_list(2, array_one(1, 7.0))))
    3
    """
    return ListType(inner.spec)


array_one_list.kernel(lambda index, inner: OneElement([*padded([], int(index)), inner]))


@array_one_list.gradient
def _(dy: Any, y: Any, index: Any, inner: Any) -> Any:
    return None, array_sublist(dy, index)


@op
def array_sublist(array: Array, index: Input, name: Name = None) -> ListType:
    """Return the cotangent of the list at `index`.

    >>> from .list_gradients import array_one
    >>> int(list_size(array_sublist(array_one_list(2, array_one(1, 7.0)), 2)))
    2
    """
    spec: ListType = array.spec.element
    return spec


@array_sublist.kernel
def _(array: PersistentArray, index: Any) -> PersistentArray:
    items, position = array.items(), int(index)
    inner = items[position] if position < len(items) else None
    return PersistentArray([]) if inner is None else inner


array_sublist.gradient(lambda dy, y, array, index: (array_one_list(index, dy), None))


@op
def list_of_lists(like: Array, name: Name = None) -> ListType:
    """Return an empty list of lists with the type of `like`.

    >>> from .list_gradients import array_one
    >>> int(list_size(list_of_lists(array_one(1, 7.0))))
    0
    """
    return ListType(like.spec)


list_of_lists.kernel(lambda like: PersistentArray([]))


def new_list(spec: ListType) -> Any:
    """Return an empty list of this type."""
    if isinstance(spec.element, ListType):
        return list_of_lists(new_list(spec.element))
    return list_new(spec.element.dtype, spec.element.shape)
