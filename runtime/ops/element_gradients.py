"""Gradients of the operations on TensorArrays and lists.

The gradient of a list is a list, of the gradients of its elements. One that is missing, or lies beyond the end, counts
as zero: so a gradient can be made without knowing how long the list is.

    y = array_read a, i           da = array_one i, dy                    only element i has a gradient
    b = array_write a, i, v       dv = array_item db, i, shape of v
                                  da = array_without db, i
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, shapes
from ..ir.specs import ArraySpec, Spec
from .arithmetic import floormod
from .arithmetic import maximum as larger
from .arithmetic import minimum as smaller
from .attributes import DType
from .casting import cast
from .comparison import less
from .declare import Array, Input, Ints, Name, op
from .elements import (
    Elements,
    array_concat,
    array_gather,
    array_read,
    array_split,
    array_stack,
    array_unstack,
    array_write,
)
from .extents import shape as shape_of
from .indexing import getitem
from .joining import join
from .list_questions import list_repeat
from .lists import (
    list_append,
    list_extend,
    list_extend_rows,
    list_get,
    list_insert,
    list_new,
    list_pop,
    list_reverse,
    list_set,
    list_size,
    list_slice,
)
from .ranges import range as numbers
from .selecting import choose
from .shaping import reshape
from .static import as_tuple, checked_dims, dims
from .tiling import reverse, tile


class _One(Elements):
    """A gradient of which only the last element is there."""

    __slots__ = ()


def _padded(items: list[Any], size: int) -> list[Any]:
    missing: list[Any] = [None] * (size - len(items))
    return [*items, *missing]


@op
def array_one(index: Input, value: Input, name: Name = None) -> ArraySpec:
    """The gradient of a list of which only the element at `index` has one.

    >>> array_rows(array_one(1, 7.0), (2,), dtypes.float32).numpy().tolist()
    [0.0, 7.0]
    """
    return ArraySpec(Spec(value.dtype, value.shape))


@array_one.kernel
def _(index: Any, value: Any) -> Elements:
    return _One([*_padded([], int(index)), value])


@array_one.gradient
def _(dy: Any, y: Any, index: Any, value: Any) -> Any:
    return None, array_item(dy, index, shape_of(value), value.dtype)


@op
def array_item(array: Array, index: Input, shape: Ints, dtype: DType, name: Name = None) -> Spec:
    """The gradient of the element at `index`, whose shape is given.

    >>> array_item(array_one(1, 7.0), 5, (2,), dtypes.float32).numpy().tolist()
    [0.0, 0.0]
    """
    return Spec(dtype, dims(shape))


@array_item.kernel
def _(array: Elements, index: Any, shape: Any, dtype: dtypes.DType) -> Any:
    items, place = array.items(), int(index)
    item = items[place] if 0 <= place < len(items) else None
    return np.zeros(checked_dims(shape), dtype.numpy) if item is None else item


@array_item.gradient
def _(dy: Any, y: Any, array: Any, index: Any, shape: Any, dtype: dtypes.DType) -> Any:
    return array_one(index, dy), None, None


@op
def array_sum(one: Array, other: Array, name: Name = None) -> ArraySpec:
    """The sum of two gradients of a list.

    >>> both = array_sum(array_one(1, 7.0), array_one(1, 2.0))
    >>> array_rows(both, (2,), dtypes.float32).numpy().tolist()
    [0.0, 9.0]
    """
    total: ArraySpec = _common(one.spec, other.spec)
    return total


def _common(one: Any, other: Any) -> Any:
    if isinstance(one, ArraySpec):
        return ArraySpec(_common(one.element, other.element))
    return one.with_shape(shapes.generalise(one.shape, other.shape))


@array_sum.kernel
def _(one: Elements, other: Elements) -> Elements:
    total: Elements = _sum(one, other)
    return total


def _sum(one: Any, other: Any) -> Any:
    """The sum of two gradients: of elements, or of lists of them; None is zero."""
    if one is None or other is None:
        return other if one is None else one
    if not isinstance(one, Elements):
        return one + other
    if type(one) is _One and type(other) is not _One:
        one, other = other, one
    items, more = one.items(), other.items()
    if type(other) is _One and len(items) >= len(more):
        place = len(more) - 1
        return one.written(place, _sum(items[place], more[place]))
    size = max(len(items), len(more))
    return Elements([_sum(*pair) for pair in zip(_padded(items, size), _padded(more, size), strict=True)])


@array_sum.gradient
def _(dy: Any, y: Any, one: Any, other: Any) -> Any:
    return dy, dy


@op
def array_without(array: Array, indices: Input, name: Name = None) -> ArraySpec:
    """The gradient without that of some elements: those were replaced.

    >>> array_rows(array_without(array_of_rows([5.0, 7.0]), 0), (2,), dtypes.float32).numpy().tolist()
    [0.0, 7.0]
    """
    spec: ArraySpec = array.spec
    return spec


@array_without.kernel
def _(array: Elements, indices: Any) -> Elements:
    places = as_tuple(np.asarray(indices))
    if len(places) == 1 and places[0] < len(array.items()):
        return array.written(places[0], None)
    gone = set(places)
    return Elements([None if i in gone else item for i, item in enumerate(array.items())])


@array_without.gradient
def _(dy: Any, y: Any, array: Any, indices: Any) -> Any:
    return array_without(dy, indices), None


@op
def array_picked(array: Array, places: Input, name: Name = None) -> ArraySpec:
    """The gradients of the elements at these places, in this order.

    >>> array_rows(array_picked(array_of_rows([5.0, 7.0]), [1, 0]), (2,), dtypes.float32).numpy().tolist()
    [7.0, 5.0]
    """
    spec: ArraySpec = array.spec
    return spec


@array_picked.kernel
def _(array: Elements, places: Any) -> Elements:
    items = array.items()
    return Elements([items[i] if 0 <= i < len(items) else None for i in as_tuple(places)])


@array_picked.gradient
def _(dy: Any, y: Any, array: Any, places: Any) -> Any:
    return array_spread(dy, places), None


@op
def array_spread(array: Array, places: Input, name: Name = None) -> ArraySpec:
    """The opposite of `array_picked`: gradients added up at these places.

    >>> array_rows(array_spread(array_of_rows([5.0, 7.0]), [1, 1]), (2,), dtypes.float32).numpy().tolist()
    [0.0, 12.0]
    """
    spec: ArraySpec = array.spec
    return spec


@array_spread.kernel
def _(array: Elements, places: Any) -> Elements:
    wanted = as_tuple(places)
    result: list[Any] = [None] * (max(wanted, default=-1) + 1)
    for place, item in zip(wanted, array.items(), strict=False):
        if item is not None:
            result[place] = _sum(result[place], item)
    return Elements(result)


@array_spread.gradient
def _(dy: Any, y: Any, array: Any, places: Any) -> Any:
    return array_picked(dy, places), None


@op
def array_of_rows(rows: Input, name: Name = None) -> ArraySpec:
    """The gradients of elements, from that of the tensor of which they are the rows.

    >>> array_item(array_of_rows([5.0, 7.0]), 1, (), dtypes.float32).numpy()
    np.float32(7.0)
    """
    return ArraySpec(Spec(rows.dtype, None if rows.shape is None else rows.shape[1:]))


@array_of_rows.kernel
def _(rows: Any) -> Elements:
    return Elements(list(rows))


@array_of_rows.gradient
def _(dy: Any, y: Any, rows: Any) -> Any:
    return array_rows(dy, shape_of(rows), rows.dtype)


@op
def array_rows(array: Array, shape: Ints, dtype: DType, name: Name = None) -> Spec:
    """The gradient of a tensor of this shape, from those of its rows.

    >>> array_rows(array_one(1, 7.0), (3,), dtypes.float32).numpy().tolist()
    [0.0, 7.0, 0.0]
    """
    return Spec(dtype, dims(shape))


@array_rows.kernel
def _(array: Elements, shape: Any, dtype: dtypes.DType) -> Any:
    result = np.zeros(checked_dims(shape), dtype.numpy)
    for place, item in enumerate(array.items()[: len(result)]):
        if item is not None:
            result[place] = item
    return result


@array_rows.gradient
def _(dy: Any, y: Any, array: Any, shape: Any, dtype: dtypes.DType) -> Any:
    return array_of_rows(dy), None


@op
def array_lengths(array: Array, name: Name = None) -> Spec:
    """The sizes of the elements' first axes, int32; 0 for one that was never written.

    >>> array_lengths(array_one(1, [7.0, 8.0])).numpy().tolist()
    [0, 2]
    """
    return Spec(dtypes.int32, (None,))


@array_lengths.kernel
def _(array: Elements) -> Any:
    return np.array([0 if item is None else len(item) for item in array.items()], np.int32)


@op
def array_of_parts(whole: Input, lengths: Ints, name: Name = None) -> ArraySpec:
    """The gradients of elements, from that of the tensor that they make up, one behind the other.

    >>> array_lengths(array_of_parts([5.0, 7.0, 9.0], [1, 2])).numpy().tolist()
    [1, 2]
    """
    return ArraySpec(Spec(whole.dtype, None if whole.shape is None else (None, *whole.shape[1:])))


@array_of_parts.kernel
def _(whole: Any, lengths: Any) -> Elements:
    return Elements(np.split(whole, np.cumsum(lengths)[:-1]) if len(lengths) else [])


@array_of_parts.gradient
def _(dy: Any, y: Any, whole: Any, lengths: Any) -> Any:
    return array_whole(dy, lengths, shape_of(whole), whole.dtype), None


@op
def array_whole(array: Array, lengths: Ints, shape: Ints, dtype: DType, name: Name = None) -> Spec:
    """The gradient of a tensor of this shape, from those of the parts that it is made up of.

    >>> array_whole(array_one(1, [7.0, 9.0]), [1, 2], (3,), dtypes.float32).numpy().tolist()
    [0.0, 7.0, 9.0]
    """
    return Spec(dtype, dims(shape))


@array_whole.kernel
def _(array: Elements, lengths: Any, shape: Any, dtype: dtypes.DType) -> Any:
    result = np.zeros(checked_dims(shape), dtype.numpy)
    ends = np.cumsum(lengths)
    for item, start, end in zip(array.items(), ends - lengths, ends, strict=False):
        if item is not None:
            result[start:end] = item
    return result


@array_whole.gradient
def _(dy: Any, y: Any, array: Any, lengths: Any, shape: Any, dtype: dtypes.DType) -> Any:
    return array_of_parts(dy, lengths), None, None


# ------------------------------------------------------------------ TensorArrays


@array_write.gradient
def _(dy: Any, y: Any, array: Any, index: Any, value: Any, infer_shape: bool) -> Any:
    item = array_item(dy, index, shape_of(value), value.dtype)  # before there is a newer version of the list
    return array_without(dy, index), None, item


@array_split.gradient
def _(dy: Any, y: Any, array: Any, value: Any, lengths: Any) -> Any:
    return None, array_whole(dy, lengths, shape_of(value), value.dtype), None


@array_read.gradient
def _(dy: Any, y: Any, array: Any, index: Any, dtype: Any, element_shape: Any) -> Any:
    return array_one(index, dy), None


@array_stack.gradient
def _(dy: Any, y: Any, array: Any, dtype: Any, element_shape: Any) -> Any:
    return array_of_rows(dy)


@array_concat.gradient
def _(dy: Any, y: Any, array: Any, dtype: Any, element_shape: Any) -> Any:
    return array_of_parts(dy, array_lengths(array))


@array_gather.gradient
def _(dy: Any, y: Any, array: Any, indices: Any, dtype: Any, element_shape: Any) -> Any:
    return array_spread(array_of_rows(dy), indices), None


@array_unstack.gradient
def _(dy: Any, y: Any, array: Any, value: Any) -> Any:
    rows = numbers(shape_of(value)[0])
    whole = array_rows(array_picked(dy, rows), shape_of(value), value.dtype)
    return array_without(dy, rows), whole


# ------------------------------------------------------------------ lists


def _place(index: Any, size: Any) -> Any:
    """An index that may count from the end, from the start."""
    return floormod(cast(index, size.dtype), size)


def _all_but(place: Any, size: Any) -> Any:
    return join([numbers(place), numbers(place + 1, size)], 0)


@list_append.gradient
def _(dy: Any, y: Any, array: Any, value: Any) -> Any:
    size = list_size(array)
    return array_picked(dy, numbers(size)), array_item(dy, size, shape_of(value), value.dtype)


@list_extend.gradient
def _(dy: Any, y: Any, array: Any, other: Any) -> Any:
    size = list_size(array)
    end = size + list_size(other)
    return array_picked(dy, numbers(size)), array_picked(dy, numbers(size, end))


@list_extend_rows.gradient
def _(dy: Any, y: Any, array: Any, rows: Any) -> Any:
    size = list_size(array)
    added = array_picked(dy, numbers(size, size + shape_of(rows)[0]))
    return array_picked(dy, numbers(size)), array_rows(added, shape_of(rows), rows.dtype)


@list_insert.gradient
def _(dy: Any, y: Any, array: Any, index: Any, value: Any) -> Any:
    size = list_size(array)
    index = cast(index, size.dtype)
    place = smaller(larger(choose(less(index, 0), index + size, index), 0), size)
    return (
        array_picked(dy, _all_but(place, size + 1)),
        None,
        array_item(dy, place, shape_of(value), value.dtype),
    )


@list_set.gradient
def _(dy: Any, y: Any, array: Any, index: Any, value: Any) -> Any:
    place = _place(index, list_size(array))
    return array_without(dy, place), None, array_item(dy, place, shape_of(value), value.dtype)


@list_get.gradient
def _(dy: Any, y: Any, array: Any, index: Any) -> Any:
    return array_one(_place(index, list_size(array)), dy), None


@list_pop.gradient
def _(dy: list[Any], y: list[Any], array: Any, index: Any) -> Any:
    rest, element = dy
    size = list_size(array)
    place = _place(index, size)
    grads = []
    if rest is not None:
        grads.append(array_spread(rest, _all_but(place, size)))
    if element is not None:
        grads.append(array_one(place, element))
    return array_sum(*grads) if len(grads) == 2 else grads[0], None


@list_slice.gradient
def _(dy: Any, y: Any, array: Any, start: Any, stop: Any, step: Any) -> Any:
    return array_spread(dy, getitem(numbers(list_size(array)), slice(start, stop, step))), None, None, None


@list_reverse.gradient
def _(dy: Any, y: Any, array: Any) -> Any:
    return array_spread(dy, reverse(numbers(list_size(array)), [0]))


@list_repeat.gradient
def _(dy: Any, y: Any, array: Any, times: Any) -> Any:
    return array_spread(dy, tile(numbers(list_size(array)), reshape(larger(times, 0), [1]))), None


# ------------------------------------------------------------------ lists of lists


@op
def list_keep(array: Array, inner: Array, name: Name = None) -> ArraySpec:
    """The list of lists with another list at its end.

    >>> inner = list_append(list_new(dtypes.float32, ()), 7.0)
    >>> int(list_size(list_keep(new_list(ArraySpec(inner.spec)), inner)))
    1
    """
    return ArraySpec(_common(array.spec.element, inner.spec))


@list_keep.kernel
def _(array: Elements, inner: Elements) -> Elements:
    return array.written(len(array.items()), inner)


@list_keep.gradient
def _(dy: Any, y: Any, array: Any, inner: Any) -> Any:
    size = list_size(array)
    return array_picked(dy, numbers(size)), array_sublist(dy, size)


@op
def list_take(array: Array, name: Name = None) -> tuple[ArraySpec, ArraySpec]:
    """The list of lists without its last list, and that.

    >>> rest, last = list_take(array_one_list(0, list_append(list_new(dtypes.float32, ()), 7.0)))
    >>> int(list_size(rest)), int(list_size(last))
    (0, 1)
    """
    return array.spec, array.spec.element


@list_take.kernel
def _(array: Elements) -> tuple[Elements, Elements]:
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
def array_one_list(index: Input, inner: Array, name: Name = None) -> ArraySpec:
    """The gradient of a list of lists of which only the list at `index` has one.

    >>> int(list_size(array_one_list(2, array_one(1, 7.0))))
    3
    """
    return ArraySpec(inner.spec)


@array_one_list.kernel
def _(index: Any, inner: Elements) -> Elements:
    return _One([*_padded([], int(index)), inner])


@array_one_list.gradient
def _(dy: Any, y: Any, index: Any, inner: Any) -> Any:
    return None, array_sublist(dy, index)


@op
def array_sublist(array: Array, index: Input, name: Name = None) -> ArraySpec:
    """The gradient of the list at `index`.

    >>> int(list_size(array_sublist(array_one_list(2, array_one(1, 7.0)), 2)))
    2
    """
    spec: ArraySpec = array.spec.element
    return spec


@array_sublist.kernel
def _(array: Elements, index: Any) -> Elements:
    items, place = array.items(), int(index)
    inner = items[place] if place < len(items) else None
    return Elements([]) if inner is None else inner


@array_sublist.gradient
def _(dy: Any, y: Any, array: Any, index: Any) -> Any:
    return array_one_list(index, dy), None


@op
def list_of_lists(like: Array, name: Name = None) -> ArraySpec:
    """An empty list, of lists such as `like`.

    >>> int(list_size(list_of_lists(array_one(1, 7.0))))
    0
    """
    return ArraySpec(like.spec)


@list_of_lists.kernel
def _(like: Elements) -> Elements:
    return Elements([])


def new_list(spec: ArraySpec) -> Any:
    """An empty list of this kind."""
    if isinstance(spec.element, ArraySpec):
        return list_of_lists(new_list(spec.element))
    return list_new(spec.element.dtype, spec.element.shape)
