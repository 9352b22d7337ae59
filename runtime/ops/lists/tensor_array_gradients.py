"""Gradient functions of the operations on TensorArrays and lists.

    y = array_read a, i           da = array_one i, dy                    only element i has a gradient
    b = array_write a, i, v       dv = array_item db, i, shape of v
                                  da = array_without db, i

list_gradients.py defines the operations that they use.
"""

from __future__ import annotations

from typing import Any

from ..arrays.concat_split import join
from ..arrays.getitem import getitem
from ..arrays.ranges import range as numbers
from ..arrays.reshape import reshape
from ..arrays.reverse_and_roll import reverse
from ..arrays.shape_ops import shape as shape_of
from ..arrays.tile_and_repeat import tile
from ..arrays.where_ops import choose
from ..math.arithmetic import floormod
from ..math.arithmetic import maximum as larger
from ..math.arithmetic import minimum as smaller
from ..math.cast import cast
from ..math.comparison import less
from .list_compare import list_repeat
from .list_gradients import (
    array_item,
    array_lengths,
    array_of_parts,
    array_of_rows,
    array_one,
    array_picked,
    array_rows,
    array_spread,
    array_sum,
    array_whole,
    array_without,
)
from .tensor_array import (
    array_concat,
    array_gather,
    array_read,
    array_scatter,
    array_split,
    array_stack,
    array_unstack,
    array_write,
)
from .tensor_list import (
    list_append,
    list_extend,
    list_extend_rows,
    list_get,
    list_insert,
    list_pop,
    list_reverse,
    list_set,
    list_size,
    list_slice,
)

# ------------------------------------------------------------------ TensorArrays


@array_write.gradient
def _(dy: Any, y: Any, array: Any, index: Any, value: Any, infer_shape: bool) -> Any:
    item = array_item(dy, index, shape_of(value), value.dtype)  # before the list has a newer version
    return array_without(dy, index), None, item


@array_split.gradient
def _(dy: Any, y: Any, array: Any, value: Any, lengths: Any) -> Any:
    return None, array_whole(dy, lengths, shape_of(value), value.dtype), None


array_read.gradient(lambda dy, y, array, index, dtype, element_shape: (array_one(index, dy), None))


array_stack.gradient(lambda dy, y, array, dtype, element_shape, size: array_of_rows(dy))


@array_concat.gradient
def _(dy: Any, y: Any, array: Any, dtype: Any, element_shape: Any, size: Any) -> Any:
    return array_of_parts(dy, array_lengths(array))


@array_gather.gradient
def _(dy: Any, y: Any, array: Any, indices: Any, dtype: Any, element_shape: Any) -> Any:
    return array_spread(array_of_rows(dy), indices), None


@array_unstack.gradient
def _(dy: Any, y: Any, array: Any, value: Any) -> Any:
    rows = numbers(shape_of(value)[0])
    whole = array_rows(array_picked(dy, rows), shape_of(value), value.dtype)
    return array_without(dy, rows), whole


@array_scatter.gradient
def _(dy: Any, y: Any, array: Any, indices: Any, value: Any) -> Any:
    whole = array_rows(array_picked(dy, indices), shape_of(value), value.dtype)
    return array_without(dy, indices), None, whole


# ------------------------------------------------------------------ lists


def _position(index: Any, size: Any) -> Any:
    """Convert an index that may be negative into a non-negative one."""
    return floormod(cast(index, size.dtype), size)


def _all_but(position: Any, size: Any) -> Any:
    return join([numbers(position), numbers(position + 1, size)], 0)


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
    position = smaller(larger(choose(less(index, 0), index + size, index), 0), size)
    return (
        array_picked(dy, _all_but(position, size + 1)),
        None,
        array_item(dy, position, shape_of(value), value.dtype),
    )


@list_set.gradient
def _(dy: Any, y: Any, array: Any, index: Any, value: Any) -> Any:
    position = _position(index, list_size(array))
    return array_without(dy, position), None, array_item(dy, position, shape_of(value), value.dtype)


list_get.gradient(lambda dy, y, array, index: (array_one(_position(index, list_size(array)), dy), None))


@list_pop.gradient
def _(dy: list[Any], y: list[Any], array: Any, index: Any) -> Any:
    rest, element = dy
    size = list_size(array)
    position = _position(index, size)
    grads = []
    if rest is not None:
        grads.append(array_spread(rest, _all_but(position, size)))
    if element is not None:
        grads.append(array_one(position, element))
    return array_sum(*grads) if len(grads) == 2 else grads[0], None


@list_slice.gradient
def _(dy: Any, y: Any, array: Any, start: Any, stop: Any, step: Any) -> Any:
    return array_spread(dy, getitem(numbers(list_size(array)), slice(start, stop, step))), None, None, None


list_reverse.gradient(lambda dy, y, array: array_spread(dy, reverse(numbers(list_size(array)), [0])))


@list_repeat.gradient
def _(dy: Any, y: Any, array: Any, times: Any) -> Any:
    return array_spread(dy, tile(numbers(list_size(array)), reshape(larger(times, 0), [1]))), None
