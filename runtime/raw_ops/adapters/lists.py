"""Adapters of raw operations on lists of tensors, which are TensorArrays here.

A write returns a new list in graphs; in eager code it changes the TensorArray, and returns it.
"""

from __future__ import annotations

import functools
from typing import Any

import agc.runtime as tf
import numpy as np

from ...ops.lists.list_gradients import array_sum
from ...ops.lists.tensor_array import array_read
from ...ops.lists.tensor_list import list_extend, list_pop, list_slice


def _dims(element_shape: Any) -> Any:
    """Return the static shape of elements; None for an unknown rank."""
    known = tf.get_static_value(tf.convert_to_tensor(element_shape, tf.int32))
    if known is None or known.ndim == 0:
        return None
    return [None if size < 0 else int(size) for size in known]


def new_list(size: Any, dtype: Any, element_shape: Any) -> Any:
    """Return a list of elements that are not written yet; their shape is that of the first if none is given."""
    dims = _dims(element_shape)
    return tf.TensorArray(
        dtype, size, dynamic_size=True, clear_after_read=False, infer_shape=dims is None, element_shape=dims
    )


def list_of_rows(tensor: Any) -> Any:
    """Return the list of the rows of a tensor."""
    tensor = tf.convert_to_tensor(tensor)
    return new_list(tf.shape(tensor)[0], tensor.dtype, _static_dims(tensor.shape[1:])).unstack(tensor)


def split_list(tensor: Any, lengths: Any) -> Any:
    """Return the list of the parts of a tensor, which have these lengths."""
    tensor = tf.convert_to_tensor(tensor)
    parts = tf.TensorArray(tensor.dtype, tf.size(lengths), infer_shape=False, clear_after_read=False)
    return parts.split(tensor, tf.cast(lengths, tf.int32))


def _static_dims(shape: Any) -> Any:
    if shape.rank is None:
        return -1
    return np.array([-1 if size is None else size for size in shape.as_list()], np.int32)


def _known(array: Any, element_shape: Any) -> Any:
    """Return a list as one of elements of this shape, if it is static."""
    dims = _dims(element_shape)
    if dims is None or array.element_shape.is_fully_defined():
        return array
    return tf.TensorArray(array.dtype, dynamic_size=True, element_shape=dims, flow=array._reachable())


def list_item(array: Any, index: Any, element_shape: Any) -> Any:
    """Return an element; its shape is known if `element_shape` is. An index that is out of range is invalid."""
    known = _known(array, element_shape)
    return array_read(known._reachable(), index, known.dtype, known._shape())


def stacked(array: Any, element_shape: Any) -> Any:
    """Return all elements as the rows of a tensor."""
    return _known(array, element_shape).stack()


def popped(array: Any, element_shape: Any) -> tuple[Any, Any]:
    """Return the list without its last element, and the element."""
    rest, last = list_pop(array._reachable(), -1)
    dims = _dims(element_shape)
    is_known = dims is None or last.shape.is_fully_defined()
    return array.of_any_size(rest), last if is_known else tf.ensure_shape(last, dims)


def joined_lists(one: Any, other: Any) -> Any:
    """Return the list of the elements of both."""
    return one.of_any_size(list_extend(one._reachable(), other._reachable()))


def list_parts(array: Any) -> tuple[Any, Any]:
    """Return all elements along their first axis, and their sizes along it, which must be known to be equal."""
    size = array.element_shape[0] if array.element_shape.rank else None
    if size is None:
        raise tf.errors.UnimplementedError("TensorListConcatV2 needs elements of a known first dimension")
    return array.concat(), tf.fill([array.size()], tf.constant(size, tf.int64))


def element_shape(array: Any, dtype: Any) -> Any:
    """Return the shape of all elements, -1 for unknown sizes."""
    found = array.element_shape
    return tf.constant(-1 if found.rank is None else [-1 if n is None else n for n in found.as_list()], dtype)


def resized_list(array: Any, size: Any) -> Any:
    """Return the list with so many elements: the first ones, or elements that are not written yet after them."""
    now = array.size()
    kept = list_slice(array._reachable(), 0, tf.minimum(size, now), 1)
    shape = array.element_shape
    more = new_list(tf.maximum(size - now, 0), array.dtype, _static_dims(shape))
    return array.of_any_size(list_extend(kept, more._reachable()))


def add_n(inputs: Any) -> Any:
    """Return the sum of tensors, or of the elements of lists at the same places."""
    if not inputs or not all(isinstance(each, tf.TensorArray) for each in inputs):
        return tf.add_n(inputs)
    flows = [each._reachable() for each in inputs]
    return inputs[0].of_any_size(functools.reduce(array_sum, flows))


def scattered_list(tensor: Any, indices: Any, count: Any) -> Any:
    """Return a list with the rows of a tensor at these indices."""
    tensor = tf.convert_to_tensor(tensor)
    size = tf.maximum(tf.cast(count, tf.int32), tf.reduce_max(indices) + 1)
    return new_list(size, tensor.dtype, _static_dims(tensor.shape[1:])).scatter(indices, tensor)
