"""`slice` and `strided_slice`: parts of a tensor by vectors of indices, which may be traced.

slice(x, begin=[0, 1], size=[2, -1])       x[0:2, 1:]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...ir.graph import Constant
from ...ir.value_types import TensorType
from ..framework.op import Input, Ints, Name, op
from ..framework.static_values import as_tuple, checked_dims, dims, integers, unread_integers
from .getitem import getitem
from .shape_ops import shape as shape_of

Array = Any


@export("slice")
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return `size[i]` elements (-1: all remaining) from `begin[i]` on, along each axis i.

    >>> slice([[1, 2, 3], [4, 5, 6]], [0, 1], [1, -1])
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[2, 3]], dtype=int32)>
    """
    return part(input_, begin, size, name)


@op(name="slice")
def part(input_: Input, begin: Ints, size: Ints, name: Name = None) -> TensorType:
    """Return `size[i]` elements from `begin[i]` on, along each axis i.

    >>> part([1, 2, 3], [1], [1])
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([2], dtype=int32)>
    """
    counts = integers(size)
    starts = integers(begin) if counts and -1 in counts else unread_integers(begin)
    shape = input_.shape
    known = shape or counts or starts
    if starts is None or counts is None or known is None:
        return TensorType(input_.dtype, None if known is None else (None,) * len(known))
    if shape is None:
        shape = (None,) * len(counts)
    _check_lengths(starts, counts, shape)
    return TensorType(input_.dtype, tuple(map(_part_size, starts, counts, shape)))


def _check_lengths(starts: Sequence[Any], counts: Sequence[Any], shape: Sequence[Any]) -> None:
    if not len(starts) == len(counts) == len(shape):
        raise ValueError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(shape)}, "
            f"but got shapes [{len(starts)}] and [{len(counts)}] instead."
        )


def _part_size(start: int | None, count: int | None, size: int | None) -> int | None:
    if count is not None and count < -1:
        raise ValueError(f"Expected sizes of at least -1, but got {count}")
    if count != -1:
        return count
    return None if start is None or size is None else max(size - start, 0)


def _run(axis: int, start: int, count: int, size: int) -> Any:
    """Return `count` elements from `start` on as a Python slice; ValueError if it is out of range."""
    if not 0 <= start <= size:
        raise ValueError(f"Expected begin[{axis}] in [0, {size}], but got {start}")
    if not -1 <= count <= size - start:
        raise ValueError(f"Expected size[{axis}] in [0, {size - start}], but got {count}")
    return np.s_[start : size if count == -1 else start + count]


def _index(begin: Array, size: Array, shape: tuple[int, ...]) -> tuple[Any, ...]:
    starts, counts = as_tuple(begin), as_tuple(size)
    _check_lengths(starts, counts, shape)
    return tuple(map(_run, range(len(starts)), starts, counts, shape))


part.kernel(lambda input_, begin, size: input_[_index(begin, size, input_.shape)])


@part.specialize
def _(inputs: list[Any]) -> Any:
    """Return the index with a constant begin and size."""
    input_, begin, size = inputs
    if not type(begin) is type(size) is Constant or not shapes.is_static(input_.shape):
        return None
    index = _index(begin.value, size.value, input_.shape)
    return lambda input_, begin, size: input_[index]


@part.gradient
def _(dy: Any, y: Any, input_: Any, begin: Any, size: Any) -> Any:
    return put_back_part(dy, begin, shape_of(input_)), None, None


@op
def put_back_part(value: Input, begin: Ints, shape: Ints, name: Name = None) -> TensorType:
    """Scatter `value` into zeros of this shape, from `begin` on: the transpose of `slice`.

    >>> put_back_part([5, 7], [1], [4])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 5, 7, 0], dtype=int32)>
    """
    integers(begin)  # raises unless it is a vector of integers
    return TensorType(value.dtype, dims(shape))


@put_back_part.kernel
def _(value: Array, begin: Array, shape: Array) -> Array:
    result = np.zeros(checked_dims(shape), value.dtype)
    result[tuple(map(_run, range(result.ndim), as_tuple(begin), np.shape(value), result.shape))] = value
    return result


put_back_part.gradient(lambda dy, y, value, begin, shape: (part(dy, begin, shape_of(value)), None, None))


@export("strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: None = None,
    name: str | None = None,
) -> Any:
    """Return `input_[begin[0]:end[0]:strides[0], …]`: Python's slices, as vectors.

    Bit i of a mask concerns item i: an omitted begin or end, an ellipsis, a new axis, or a single index that
    removes the axis. `var` must be None: a slice cannot be assigned to, which raises UnimplementedError.

    >>> strided_slice([1, 2, 3, 4, 5], [0], [4], [2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 3], dtype=int32)>
    """
    if var is not None:
        raise errors.UnimplementedError("strided_slice() does not assign to variables")
    starts, stops = _elements(begin), _elements(end)
    steps = [1] * len(starts) if strides is None else _elements(strides)
    masks = (ellipsis_mask, new_axis_mask, shrink_axis_mask, begin_mask, end_mask)
    axes = enumerate(zip(starts, stops, steps, strict=True))
    key = tuple(_item(bounds, *(mask >> i & 1 for mask in masks)) for i, bounds in axes)
    return getitem(convert_to_tensor(input_), key)


def _elements(vector: Any) -> list[Any]:
    """Return the scalars of a vector; ValueError if their number is not static."""
    if isinstance(vector, (list, tuple)):
        return list(vector)
    tensor = convert_to_tensor(vector)
    if tensor.shape.rank != 1 or tensor.shape[0] is None:
        raise ValueError(f"strided_slice() needs vectors of known length, not {tensor.shape}")
    return [getitem(tensor, i) for i in range(tensor.shape[0])]


def _item(
    bounds: tuple[Any, Any, Any], ellipsis: int, new_axis: int, shrink: int, no_start: int, no_stop: int
) -> Any:
    """Return one item of the key that the vectors and masks describe."""
    if ellipsis:
        return Ellipsis
    if new_axis:
        return None
    start, stop, step = bounds
    if shrink:
        return start
    return np.s_[None if no_start else start : None if no_stop else stop : step]
