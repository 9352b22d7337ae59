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
    """The form of a list: that of its elements, None if it is not known yet, and how many elements it has room for."""

    element: Any
    most: int


class TracedList:
    """A list: its rows, or None if the form of its elements is unknown, its length, and a bound of that.

    Rows after the last element are zeros.
    """

    __slots__ = ("length", "most", "rows")

    def __init__(self, rows: Any, length: Array, most: int) -> None:
        self.rows = rows
        self.length = length
        self.most = most

    def get(self, index: Array) -> Any:
        """Return the row at an index within the buffer."""
        return jax.tree.map(lambda part: lax.dynamic_index_in_dim(part, index, 0, keepdims=False), self.rows)

    def put(self, index: Array, element: Any, most: int) -> TracedList:
        """Return the list with a row replaced, and with room for `most` elements."""
        form = united(form_of(self), ListForm(form_of(element), most))
        made, new = fitted(self, form), fitted(element, form.element)
        rows = jax.tree.map(
            lambda all, one: lax.dynamic_update_index_in_dim(all, one, index, 0), made.rows, new
        )
        return TracedList(rows, self.length, most)

    def append(self, element: Any) -> TracedList:
        """Return the list with an element more."""
        longer = self.put(self.length, element, self.most + 1)
        return TracedList(longer.rows, self.length + np.int32(1), longer.most)

    def cleared(self, index: Array, length: Array) -> TracedList:
        """Return the list with another length, and zeros in a row after its end."""
        rows = jax.tree.map(lambda part: part.at[index].set(jnp.zeros((), part.dtype)), self.rows)
        return TracedList(rows, length, self.most)

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
    lambda value: ((value.rows, value.length), value.most),
    lambda most, children: TracedList(*children, most),
)


def form_of(value: Any, axes: int = 0) -> Any:
    """Return the form of a value, which has this number of leading axes if it is the rows of a list."""
    if not isinstance(value, TracedList):
        return jax.ShapeDtypeStruct(np.shape(value)[axes:], jnp.result_type(value))
    if value.rows is None:
        return ListForm(None, value.most)
    room = jax.tree.leaves(value.rows)[0].shape[axes]
    return ListForm(form_of(value.rows, axes + 1), max(value.most, room))


def united(one: Any, other: Any) -> Any:
    """Return the form that values of both forms fit."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, ListForm):
        return ListForm(united(one.element, other.element), max(one.most, other.most))
    if one.shape != other.shape:
        raise NotLoweredError(f"the elements of a list have the shapes {one.shape} and {other.shape}")
    return one


def zeros(form: Any, lead: tuple[int, ...] = ()) -> Any:
    """Return zeros of a form, with leading axes of these sizes."""
    if not isinstance(form, ListForm):
        return jnp.zeros((*lead, *form.shape), form.dtype)
    rows = None if form.element is None else zeros(form.element, (*lead, form.most))
    return TracedList(rows, jnp.zeros(lead, np.int32), form.most)


def fitted(value: Any, form: Any, lead: tuple[int, ...] = ()) -> Any:
    """Return a value, with these leading axes, in a form that has at least as much room."""
    if not isinstance(form, ListForm):
        return jnp.asarray(value, form.dtype)
    length = jnp.asarray(value.length, np.int32)
    if form.element is None:
        return TracedList(None, length, form.most)
    if value.rows is None:
        return TracedList(zeros(form.element, (*lead, form.most)), length, form.most)
    room = form_of(value, len(lead)).most
    rows = fitted(value.rows, form.element, (*lead, room))
    axis = len(lead)
    return TracedList(jax.tree.map(lambda part: _lengthened(part, axis, form.most), rows), length, form.most)


def _lengthened(rows: Array, axis: int, size: int) -> Array:
    missing = size - rows.shape[axis]
    return rows if not missing else jnp.pad(rows, [(0, missing * (i == axis)) for i in range(rows.ndim)])


def bounded(value: Any, most: int) -> Any:
    """Return a list with another bound of its length."""
    return TracedList(value.rows, value.length, most)
