"""Gradients of some rows only: what optimizers compute with IndexedSlices.

Where a step is zero in the other rows it changes those rows alone; sums with whole tensors are whole. Rows that come
twice are added up last, as in Keras: what is squared or clipped is each by itself.

>>> v = tf.Variable([[1.0], [2.0], [3.0]])
>>> take_away(v, Rows(tf.constant([[1.0], [1.0]]), tf.constant([2, 2])) * 0.5)
>>> v.numpy().tolist()
[[1.0], [2.0], [2.0]]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc import runtime as tf


class Rows(tf.IndexedSlices):
    """IndexedSlices that can be computed with: by scalars, and by tensors of the whole shape."""

    def each(self, function: Callable[[Any], Any]) -> Rows:
        """A function of the elements that gives zero for zero."""
        return Rows(function(self.values), self.indices, self.dense_shape)

    def _own(self, other: Any) -> Any:
        """What there is in these rows."""
        other = tf.convert_to_tensor(other, self.dtype)
        return other if other.shape.rank == 0 else tf.gather(other, self.indices)

    def __mul__(self, other: Any) -> Rows:
        return self.each(lambda values: values * self._own(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Rows:
        return self.each(lambda values: values / self._own(other))

    def __add__(self, other: Any) -> Any:
        return tf.tensor_scatter_nd_add(other, self.indices[:, None], self.values)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -tf.convert_to_tensor(other)

    def __rsub__(self, other: Any) -> Any:
        return tf.tensor_scatter_nd_sub(other, self.indices[:, None], self.values)


def as_gradient(gradient: Any) -> Any:
    """What a step is made of: a tensor, or rows."""
    if isinstance(gradient, tf.IndexedSlices):
        return Rows(gradient.values, gradient.indices, gradient.dense_shape)
    return tf.convert_to_tensor(gradient)


def each(function: Callable[[Any], Any], gradient: Any) -> Any:
    """A function of the elements of a gradient, which gives zero for zero."""
    return gradient.each(function) if isinstance(gradient, Rows) else function(gradient)


def elements(gradient: Any) -> Any:
    """The elements that may be other than zero."""
    return gradient.values if isinstance(gradient, Rows) else gradient


def take_away(variable: Any, step: Any) -> None:
    """Subtract a step from a variable."""
    if isinstance(step, Rows):
        variable.scatter_sub(step)
    else:
        variable.assign_sub(step)


def put_in(variable: Any, step: Any) -> None:
    """Add a step to a variable."""
    if isinstance(step, Rows):
        variable.scatter_add(step)
    else:
        variable.assign_add(step)
