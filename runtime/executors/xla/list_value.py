"""Lists and TensorArrays as values that JAX traces: a buffer of rows, and how many of them are elements.

    xs = list_new                                  no rows yet, length 0
    xs = list_append xs, x: float32[2]      ==>    rows: float32[1, 2], length 1
    while … [maximum_iterations=10]                rows: float32[11, 2] before the loop, as an iteration adds one
      xs = list_append xs, y

The rows of a list of lists are those of its elements' rows, and their lengths. The form of a list is what must be equal
in all iterations of a loop, and in all branches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .rule_registry import NotLoweredError

Array = Any


class ListForm(NamedTuple):
    """The form of a list: that of its elements, None if it is not known yet, and how many elements it has room for.

    A list that `is_clean` has zeros after its last element; one that `has_gaps` has removed elements.
    """

    element: Any
    most: int
    is_clean: bool = True
    has_gaps: bool = False


class TracedList:
    """A list: its rows, or None if the form of its elements is unknown, its length, and a bound of that.

    What is popped or removed stays in the rows, as writes between reads make XLA copy all rows: a list that is not
    clean has such rows after its last element, and `gone`, if it is not None, marks those of removed elements.
    """

    __slots__ = ("gone", "is_clean", "length", "most", "rows")

    def __init__(self, rows: Any, length: Array, most: int, is_clean: bool = True, gone: Any = None) -> None:
        self.rows = rows
        self.length = length
        self.most = most
        self.is_clean = is_clean
        self.gone = gone

    def get(self, index: Array) -> Any:
        """Return the row at an index within the buffer."""
        row = jax.tree.map(lambda part: lax.dynamic_index_in_dim(part, index, 0, keepdims=False), self.rows)
        if self.gone is None:
            return row
        is_gone = self.gone[index]
        return jax.tree.map(lambda part: jnp.where(is_gone, part.dtype.type(0), part), row)

    def put(self, index: Array, element: Any, most: int) -> TracedList:
        """Return the list with a row replaced, and with room for `most` elements."""
        form = united(form_of(self), ListForm(form_of(element), most))
        made, new = fitted(self, form), fitted(element, form.element)
        rows = jax.tree.map(
            lambda all, one: lax.dynamic_update_index_in_dim(all, one, index, 0), made.rows, new
        )
        gone = None if made.gone is None else made.gone.at[index].set(False)
        return TracedList(rows, self.length, most, self.is_clean, gone)

    def append(self, element: Any) -> TracedList:
        """Return the list with an element more."""
        longer = self.put(self.length, element, self.most + 1)
        return longer.with_length(self.length + np.int32(1))

    def with_length(self, length: Array, most: int | None = None) -> TracedList:
        """Return the list with another length, and another bound of that."""
        bound = self.most if most is None else most
        return TracedList(self.rows, length, bound, self.is_clean, self.gone)

    def shorter(self) -> TracedList:
        """Return the list without its last element."""
        return TracedList(self.rows, jnp.maximum(self.length - np.int32(1), 0), self.most, False, self.gone)

    def without(self, indices: Array) -> TracedList:
        """Return the list with elements removed, which become zeros."""
        gone = jnp.zeros(form_of(self).most, bool) if self.gone is None else self.gone
        return TracedList(
            self.rows, self.length, self.most, self.is_clean, gone.at[indices].set(True, mode="drop")
        )

    def prefix(self, count: int) -> Any:
        """Return the first rows, as many as `count`, which is at most the room."""
        return jax.tree.map(lambda part: part[:count], self.rows)


class OneRow:
    """The cotangent of a list in which only the element at `index` has a cotangent; the index is traced."""

    __slots__ = ("element", "index")

    def __init__(self, index: Array, element: Any) -> None:
        self.index = index
        self.element = element


jax.tree_util.register_pytree_node(
    TracedList,
    lambda value: ((value.rows, value.length, value.gone), (value.most, value.is_clean)),
    lambda fixed, children: TracedList(*children[:2], *fixed, children[2]),
)


def form_of(value: Any, axes: int = 0) -> Any:
    """Return the form of a value, which has this number of leading axes if it is the rows of a list."""
    if isinstance(value, OneRow):
        raise NotLoweredError(
            "the cotangent of a list has no room that is known when the program is compiled"
        )
    if not isinstance(value, TracedList):
        return jax.ShapeDtypeStruct(np.shape(value)[axes:], jnp.result_type(value))
    facts = value.is_clean, value.gone is not None
    if value.rows is None:
        return ListForm(None, value.most, *facts)
    room = jax.tree.leaves(value.rows)[0].shape[axes]
    return ListForm(form_of(value.rows, axes + 1), max(value.most, room), *facts)


def united(one: Any, other: Any) -> Any:
    """Return the form that values of both forms fit."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, ListForm):
        return ListForm(
            united(one.element, other.element),
            max(one.most, other.most),
            one.is_clean and other.is_clean,
            one.has_gaps or other.has_gaps,
        )
    if one.shape != other.shape:
        raise NotLoweredError(f"the elements of a list have the shapes {one.shape} and {other.shape}")
    return one


def zeros(form: Any, lead: tuple[int, ...] = ()) -> Any:
    """Return zeros of a form, with leading axes of these sizes."""
    if not isinstance(form, ListForm):
        return jnp.zeros((*lead, *form.shape), form.dtype)
    whole = (*lead, form.most)
    rows = None if form.element is None else zeros(form.element, whole)
    gone = jnp.zeros(whole, bool) if form.has_gaps else None
    return TracedList(rows, jnp.zeros(lead, np.int32), form.most, form.is_clean, gone)


def fitted(value: Any, form: Any, lead: tuple[int, ...] = ()) -> Any:
    """Return a value, with these leading axes, in a form that has at least as much room."""
    if not isinstance(form, ListForm):
        return jnp.asarray(value, form.dtype)
    rows, gone, axis = value.rows, value.gone, len(lead)
    if form.element is not None and rows is not None:
        room = form_of(value, axis).most
        whole = fitted(rows, form.element, (*lead, room))
        rows = jax.tree.map(lambda part: _lengthened(part, axis, form.most), whole)
    elif form.element is not None:
        rows = zeros(form.element, (*lead, form.most))
    if form.has_gaps:
        gone = jnp.zeros((*lead, 0), bool) if gone is None else gone
        gone = _lengthened(gone, axis, form.most)
    return TracedList(rows, jnp.asarray(value.length, np.int32), form.most, form.is_clean, gone)


def _lengthened(rows: Array, axis: int, size: int) -> Array:
    missing = size - rows.shape[axis]
    return rows if not missing else jnp.pad(rows, [(0, missing * (i == axis)) for i in range(rows.ndim)])


def cleaned(array: TracedList, lead: tuple[int, ...] = ()) -> TracedList:
    """Return a list, with these leading axes, with zeros in the place of all that are no elements."""
    if (array.is_clean and array.gone is None) or array.rows is None:
        return array
    inside = jnp.arange(form_of(array, len(lead)).most) < jnp.asarray(array.length)[..., None]
    if array.gone is not None:
        inside &= ~array.gone

    def kept(part: Array) -> Array:
        mask = inside.reshape(*inside.shape, *(1,) * (part.ndim - inside.ndim))
        return jnp.where(mask, part, part.dtype.type(0))

    return TracedList(jax.tree.map(kept, array.rows), array.length, array.most)
