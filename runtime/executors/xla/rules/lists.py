"""Rules of lists and TensorArrays. Reads and writes beyond an end are failed checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....functionalize.list_lengths import SizedSpec
from ....ir.value_types import ListType, TensorType
from ....ops.lists.accumulator_list import ROWS
from ..list_value import ListForm, OneRow, TracedList, cleaned, fitted, form_of, united, zeros
from ..rule_registry import NotLoweredError, lowers
from ..symbolic_sizes import extent
from .gather_scatter import checked
from .indexing import replaced_at
from .padding import known

Array = Any


def element_form(spec: Any) -> Any:
    """Return the form of elements of a type; None if their shape is unknown."""
    if isinstance(spec, ListType) or spec.shape is None or None in spec.shape:
        return None
    return jax.ShapeDtypeStruct(spec.shape, spec.dtype.numpy_dtype)


def empty(spec: Any, size: int = 0) -> TracedList:
    """Return a list of this type with `size` elements that are zeros."""
    assert isinstance(spec, ListType)
    made: TracedList = zeros(ListForm(element_form(spec.element), size))
    return TracedList(made.rows, jnp.int32(size), size)


@lowers("array_new")
def _(site: Any, size: Array) -> TracedList:
    spec = site.operation.outputs[0].spec
    if isinstance(size, jax.Array):
        raise NotLoweredError("the size of a TensorArray must be known when the program is compiled")
    return empty(spec, np.asarray(size).item())


@lowers("list_new", "list_of_lists")
def _(site: Any, *_: Any) -> TracedList:
    return empty(site.operation.outputs[0].spec)


@lowers("array_write")
def _(site: Any, array: TracedList, index: Array, value: Array) -> TracedList:
    index = jnp.asarray(index).astype(np.int32)
    if isinstance(site.operation.inputs[0].spec, SizedSpec) or not isinstance(array.most, int):
        site.demand((index >= 0) & (index < array.length))
        return array.put(index, value, array.most)
    site.demand(
        (index >= 0) & (index <= array.length)
    )  # the plan leaves gaps, or says that the array cannot grow
    longer = array.put(index, value, array.most + 1)
    return longer.with_length(jnp.maximum(array.length, index + 1))


@lowers("array_read")
def _(site: Any, array: TracedList, index: Array) -> Array:
    index = jnp.asarray(index).astype(np.int32)
    site.demand((index >= 0) & (index < array.length))
    return _row(site, array, index)


def _row(site: Any, array: TracedList, index: Array) -> Any:
    """Return the element at an index that a check covers."""
    if array.rows is None or form_of(array).most == 0:
        spec = site.operation.outputs[-1].spec
        return empty(spec) if isinstance(spec, ListType) else jnp.zeros(spec.shape, spec.dtype.numpy_dtype)
    return array.get(index)


@lowers("array_size", "list_size")
def _(site: Any, array: TracedList) -> Array:
    return array.length


@lowers("array_stack")
def _(site: Any, array: TracedList) -> Array:
    sizes = site.operation.outputs[0].shape
    count = form_of(array).most if sizes is None or sizes[0] is None else sizes[0]
    site.demand(jnp.asarray(array.length) == extent(count))
    return _stacked(site, array, count)


def _stacked(site: Any, array: TracedList, count: int) -> Array:
    if array.rows is None:
        return jnp.zeros(site.shape, site.dtype)
    return fitted(array, united(form_of(array), ListForm(None, count))).prefix(count)


@lowers("array_gather")
def _(site: Any, array: TracedList, indices: Array) -> Array:
    site.demand((indices >= 0) & (indices < array.length))
    if array.rows is None or 0 in site.shape:
        return jnp.zeros(site.shape, site.dtype)
    return jnp.take(array.rows, indices, 0, mode="clip")


@lowers("array_concat")
def _(site: Any, array: TracedList) -> Array:
    rows = _stacked(site, array, form_of(array).most)
    return jnp.reshape(rows, site.shape)


@lowers("array_unstack")
def _(site: Any, array: TracedList, value: Array) -> TracedList:
    count = value.shape[0]
    if isinstance(site.operation.inputs[0].spec, SizedSpec):
        site.demand(count <= array.length)
    rest = fitted(cleaned(array), united(form_of(array), ListForm(form_of(value, 1), count)))
    rows = jnp.asarray(rest.rows).at[:count].set(value)
    return TracedList(rows, jnp.maximum(array.length, np.int32(count)), max(array.most, count))


@lowers("array_scatter")
def _(site: Any, array: TracedList, indices: Array, value: Array) -> TracedList:
    array = cleaned(array)
    made = fitted(array, united(form_of(array), ListForm(form_of(value, 1), 0)))
    places = checked(site, indices, form_of(made).most)
    site.demand(places < array.length)
    return TracedList(made.rows.at[places].set(value), array.length, array.most)


@lowers("array_split")
def _(site: Any, array: TracedList, value: Array, lengths: Array) -> TracedList:
    spec = site.operation.outputs[0].spec
    if not isinstance(spec, SizedSpec):
        raise NotLoweredError("its parts must have the same length")
    rows = jnp.reshape(value, (spec.size, *spec.element.shape))
    site.demand(jnp.asarray(array.length) == spec.size)
    return TracedList(rows, jnp.int32(spec.size), spec.size)


# Python's lists


@lowers("list_append", "list_keep")
def _(site: Any, array: TracedList, value: Any) -> TracedList:
    return array.append(value)


@lowers("list_extend_rows")
def _(site: Any, array: TracedList, rows: Array) -> TracedList:
    for number in range(rows.shape[0]):
        array = array.append(rows[number])
    return array


def _place(site: Any, array: TracedList, index: Array) -> Array:
    """Demand that an index, which may count from the end, is that of an element; return it from the start."""
    wide = jnp.asarray(index).astype(np.int32)
    site.demand((wide >= -array.length) & (wide < array.length))
    return jnp.where(wide < 0, wide + array.length, wide)


@lowers("list_get")
def _(site: Any, array: TracedList, index: Array) -> Any:
    return _row(site, array, _place(site, array, index))


@lowers("list_set")
def _(site: Any, array: TracedList, index: Array, value: Array) -> TracedList:
    return array.put(_place(site, array, index), value, array.most)


@lowers("list_pop", "list_take")
def _(site: Any, array: TracedList, index: Array = -1) -> list[Any]:
    place = _place(site, array, index)
    popped = _row(site, array, place)
    if not isinstance(index, jax.Array) and int(index) == -1:
        return [array.shorter(), popped]
    count = form_of(array).most
    order = jnp.arange(count) + (jnp.arange(count) >= place)
    return [_in_order(array, order, array.length, array.most).shorter(), popped]


@lowers("list_reverse")
def _(site: Any, array: TracedList) -> TracedList:
    if array.rows is None:
        return array
    order = jnp.clip(array.length - 1 - jnp.arange(form_of(array).most), 0)
    return _in_order(array, order, array.length, array.most)


def _in_order(array: TracedList, order: Array, length: Array, most: int) -> TracedList:
    """Return the list of as many elements as `length`, those at these places."""
    rows = jax.tree.map(lambda part: jnp.take(part, order, 0, mode="clip"), array.rows)
    return TracedList(rows, length, most, is_clean=False)


@lowers("list_slice")
def _(site: Any, array: TracedList, start: Array, stop: Array, step: Array) -> TracedList:
    if array.rows is None:
        return array
    start, stop, step, length = (jnp.asarray(x).astype(np.int64) for x in (start, stop, step, array.length))
    site.demand(step != 0)
    step, least = jnp.where(step == 0, 1, step), jnp.where(step < 0, -1, 0)
    start, stop = (
        jnp.clip(jnp.where(end < 0, end + length, end), least, length + least) for end in (start, stop)
    )
    count = jnp.maximum((stop - start + step - jnp.sign(step)) // step, 0)
    most = form_of(array).most
    return _in_order(array, start + step * jnp.arange(most), count.astype(np.int32), most)


@lowers("list_insert")
def _(site: Any, array: TracedList, index: Array, value: Any) -> TracedList:
    wide, most = jnp.asarray(index).astype(np.int32), array.most + 1
    place = jnp.clip(jnp.where(wide < 0, wide + array.length, wide), 0, array.length)
    after = jnp.arange(max(form_of(array).most, most))
    moved = (
        array if array.rows is None else _in_order(array, after - (after > place), array.length, array.most)
    )
    return moved.put(place, value, most).with_length(array.length + np.int32(1))


@lowers("list_extend")
def _(site: Any, array: TracedList, other: TracedList) -> TracedList:
    form = united(form_of(array), form_of(other)._replace(most=array.most + other.most))
    both = [fitted(each, form) for each in (array, other)]
    place = jnp.arange(form.most)

    def joined(one: Array, two: Array) -> Array:
        is_first = (place < array.length).reshape(-1, *(1,) * (one.ndim - 1))
        return jnp.where(is_first, one, jnp.take(two, place - array.length, 0, mode="clip"))

    rows = jax.tree.map(joined, both[0].rows, both[1].rows)
    return TracedList(rows, array.length + other.length, array.most + other.most, is_clean=False)


@lowers("list_repeat")
def _(site: Any, array: TracedList, times: Array) -> TracedList:
    count = max(int(known(times, "number of repetitions")), 0)
    if array.rows is None:
        return array
    order = jnp.arange(array.most * count) % jnp.maximum(array.length, 1)
    return _in_order(array, order, array.length * np.int32(count), array.most * count)


def _are_equal(array: TracedList, value: Array) -> Array:
    """Return which rows are elements that are equal to `value`."""
    if array.rows is None:
        return jnp.zeros(1, bool)
    return (jnp.arange(form_of(array).most) < array.length) & (array.rows == value)


@lowers("list_count")
def _(site: Any, array: TracedList, value: Array) -> Array:
    return jnp.sum(_are_equal(array, value))


@lowers("list_index")
def _(site: Any, array: TracedList, value: Array) -> Array:
    found = _are_equal(array, value)
    site.demand(jnp.any(found))
    return jnp.argmax(found) if found.size else jnp.int32(0)


@lowers("list_equal")
def _(site: Any, one: TracedList, other: TracedList) -> Array:
    form = united(form_of(one), form_of(other))
    if form.element is None:
        return jnp.equal(one.length, other.length)
    equal = _are_equal(fitted(one, form), fitted(other, form).rows)
    return (one.length == other.length) & (jnp.sum(equal) == one.length)


# Cotangents of lists: missing elements count as zeros.


@lowers("array_one", "array_one_list")
def _(site: Any, index: Array, value: Any) -> TracedList | OneRow:
    if isinstance(index, jax.Array):
        return OneRow(index.astype(np.int32), value)
    size = int(index) + 1
    return empty(site.operation.outputs[0].spec, size).put(np.int32(size - 1), value, size)


@lowers("array_of_rows")
def _(site: Any, rows: Array) -> TracedList:
    return TracedList(jnp.asarray(rows), jnp.int32(rows.shape[0]), rows.shape[0])


@lowers("array_item")
def _(site: Any, array: TracedList, index: Array, shape: Array) -> Array:
    nothing = jnp.zeros(site.shape, site.dtype)
    if isinstance(array, OneRow):
        return jnp.where(index == array.index, array.element, nothing)
    if array.rows is None or form_of(array).most == 0:
        return nothing
    index = jnp.asarray(index).astype(np.int32)
    return jnp.where((index >= 0) & (index < array.length), array.get(index), nothing)


@lowers("array_sublist")
def _(site: Any, array: TracedList, index: Array) -> TracedList:
    if array.rows is None or form_of(array).most == 0:
        return empty(site.operation.outputs[0].spec)
    inner = array.get(jnp.asarray(index).astype(np.int32))
    is_there = index < array.length
    length = jnp.where(is_there, inner.length, 0)
    return TracedList(inner.rows, length, inner.most, is_clean=False, gone=inner.gone)


@lowers("array_rows")
def _(site: Any, array: TracedList, shape: Array) -> Array:
    if isinstance(array, OneRow):
        return jnp.zeros(site.shape, site.dtype).at[array.index].set(array.element, mode="drop")
    return _stacked(site, cleaned(array), site.shape[0])


@lowers("array_sum")
def _(site: Any, one: Any, other: Any) -> Any:
    if isinstance(one, OneRow):
        one, other = other, one
    if not isinstance(other, OneRow):
        return _sum(one, other, ())
    if isinstance(one, OneRow):
        raise NotLoweredError(
            "the cotangent of a list has no room that is known when the program is compiled"
        )
    if one.gone is not None:
        one = cleaned(one)
    form = united(form_of(one), ListForm(form_of(other.element), one.most + 1))
    made, element = fitted(one, form), fitted(other.element, form.element)
    site.demand((other.index < form.most) if one.is_clean else (other.index <= one.length))
    rows = jax.tree.map(lambda all, row: all.at[other.index].add(row), made.rows, element)
    most = one.most + 1 if form.most > one.most else one.most
    return TracedList(rows, jnp.maximum(one.length, other.index + 1), most, one.is_clean)


def _sum(one: Any, other: Any, lead: tuple[int, ...]) -> Any:
    """Add two cotangents, with these leading axes."""
    if not isinstance(one, TracedList):
        return one + other
    form = united(form_of(one, len(lead)), form_of(other, len(lead)))
    both = [cleaned(fitted(each, form, lead), lead) for each in (one, other)]
    rows = None if form.element is None else _sum(both[0].rows, both[1].rows, (*lead, form.most))
    return TracedList(rows, jnp.maximum(one.length, other.length), max(one.most, other.most))


@lowers("array_without")
def _(site: Any, array: TracedList, indices: Array) -> TracedList:
    return array if array.rows is None else array.without(jnp.reshape(jnp.asarray(indices), -1))


@lowers("array_picked")
def _(site: Any, array: TracedList, places: Array) -> TracedList:
    count = places.shape[0]
    if array.rows is None:
        return TracedList(None, jnp.int32(count), count)
    array = cleaned(array)
    inside = (places >= 0) & (places < array.length)
    chosen = jnp.where(inside, places, form_of(array).most)
    rows = jax.tree.map(lambda part: jnp.take(part, chosen, 0, mode="fill", fill_value=0), array.rows)
    return TracedList(rows, jnp.int32(count), count)


@lowers("array_add")
def _(site: Any, array: TracedList, value: Array, parts: Sequence[Array], shape: Array) -> TracedList:
    spec = site.operation.outputs[0].spec.element
    assert isinstance(spec, TensorType) and spec.shape is not None
    made = fitted(array, united(form_of(array), ListForm(element_form(spec), 1)))
    total = jnp.where(array.length > 0, made.rows[0], spec.dtype.numpy_dtype.type(0))
    if site.attrs["key"] == ROWS:
        indices = jnp.asarray(parts[0]).reshape(-1)
        places = checked(site, indices, int(spec.shape[0] or 0))
        rows = jnp.reshape(value, (places.shape[0], *spec.shape[1:]))
        total = total.at[places].add(rows)
    else:
        total = replaced_at(site, total, value, parts, "add")
    return TracedList(made.rows.at[0].set(total), jnp.int32(1), max(array.most, 1))


__all__ = ["element_form", "empty"]
