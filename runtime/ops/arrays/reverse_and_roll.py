"""Reorder elements along axes: reverse, roll.

x = [1 2 3]     reverse(x, [0])        3 2 1
                roll(x, 1, 0)          3 1 2
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import shapes
from ...core.export import export
from ...core.tensor import EagerTensor
from ...ir import batching
from ...ir.batching import Batch
from ...ir.graph import Constant
from ...ir.traits import CHEAP
from ...ir.value_types import TensorType
from ..framework.op import Input, Ints, Name, op
from ..framework.static_values import (
    as_tuple,
    integers,
    unread_integers,
)

Array = Any


@export("reverse")
@op(traits=CHEAP)
def reverse(tensor: Input, axis: Ints, name: Name = None) -> TensorType:
    """Reverse `tensor` along the axes in the vector `axis`.

    >>> reverse([1, 2, 3], [0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 2, 1], dtype=int32)>
    """
    reversed_dims = integers(axis)
    if tensor.shape and reversed_dims is not None:
        rank, seen = len(tensor.shape), set()
        for i, dim in enumerate(each for each in reversed_dims if each is not None):
            if not -rank <= dim < rank:
                raise ValueError(f"'axis'[{i}] = {dim} is out of valid range [0, {rank - 1}")
            if dim % rank in seen:
                raise ValueError(f"axis {dim % rank} specified more than once.")
            seen.add(dim % rank)
    return TensorType(tensor.dtype, tensor.shape)


reverse.kernel(lambda tensor, axis: np.flip(tensor, as_tuple(axis)) if tensor.ndim else tensor)


@reverse.specialize
def _(inputs: list[Any]) -> Any:
    """Return the index that reverses constant axes."""
    tensor, axis = inputs
    if type(axis) is not Constant or not tensor.shape:
        return None
    reversed_axes = {dim % len(tensor.shape) for dim in as_tuple(axis.value)}
    index = tuple(slice(None, None, -1 if dim in reversed_axes else None) for dim in range(len(tensor.shape)))
    return lambda tensor, axis: tensor[index]


reverse.gradient(lambda dy, y, tensor, axis: (reverse(dy, axis), None))


@reverse.batching
def _(batch: Batch) -> Any:
    tensor, axes = batch.arguments
    if not isinstance(axes.tensor, EagerTensor):
        return None
    return batch.call(
        tensor.tensor, [batching.next_axis(axis) for axis in axes.tensor.numpy().ravel().tolist()]
    )


@export("roll")
@op
def roll(input: Input, shift: Ints, axis: Ints, name: Name = None) -> TensorType:
    """Shift the elements of `input` by `shift` along `axis`, with wrap-around.

    >>> roll([1, 2, 3, 4], 1, 0)
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([4, 1, 2, 3], dtype=int32)>
    """
    unread_integers(shift)  # raises unless it is a vector of integers
    unread_integers(axis)
    if not shapes.compatible(shift.shape, axis.shape):
        raise ValueError(
            f"shift and axis must have the same size: {shapes.show(shift.shape)}, {shapes.show(axis.shape)}"
        )
    return TensorType(input.dtype, input.shape)


@roll.kernel
def _(input: Array, shift: Array, axis: Array) -> Array:
    axes = as_tuple(axis)
    for dim in axes:
        if not -input.ndim <= dim < input.ndim:
            raise ValueError(f"axis {dim} is out of range")
    if shift.shape != axis.shape:
        raise ValueError(f"shift and axis must have the same size: {shift.shape}, {axis.shape}")
    return np.roll(input, as_tuple(shift), axes)


roll.gradient(lambda dy, y, input, shift, axis: (roll(dy, -shift, axis), None, None))
