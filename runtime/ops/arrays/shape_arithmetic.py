"""Compute with shapes: of several tensors, of broadcasts, and paddings for block division.

>>> broadcast_static_shape(shapes.TensorShape([1, 3]), shapes.TensorShape([2, 1]))
TensorShape([2, 3])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor, integers_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.builder import current
from ...ir.value_types import TensorType
from ..framework.op import Name, Same, op
from ..framework.op_families import Array, DTypes, require_dtype
from ..framework.static_values import integers, listed
from ..math.arithmetic import add, floormod
from ..math.cast import identity
from .concat_split import stack
from .creation import zeros
from .shape_ops import shape

_SIZES: DTypes = frozenset({dtypes.int32, dtypes.int64})


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: shapes.TensorShape, shape_y: shapes.TensorShape) -> shapes.TensorShape:
    """Return the shape that tensors of these shapes broadcast to; ValueError if they do not broadcast.

    >>> broadcast_static_shape(shapes.TensorShape([None, 3]), shapes.TensorShape([3]))
    TensorShape([None, 3])
    """
    return shapes.TensorShape(shapes.broadcast(shapes.as_dims(shape_x), shapes.as_dims(shape_y)))


@op(name="broadcast_dynamic_shape")
def broadcast_sizes(shape_x: Same, shape_y: Same, name: Name = None) -> TensorType:
    """Return the shape that tensors of these shapes, vectors of integers, broadcast to.

    >>> broadcast_sizes([1, 3], [2, 1]).numpy().tolist()
    [2, 3]
    """
    require_dtype(shape_x, _SIZES, "broadcast_dynamic_shape")
    sizes = integers(shape_x), integers(shape_y)
    ranks = [None if known is None else len(known) for known in sizes]
    if None in ranks:
        return TensorType(shape_x.dtype, (None,))
    return TensorType(shape_x.dtype, (max(ranks),))  # type: ignore[type-var]


@broadcast_sizes.kernel
def _(shape_x: Array, shape_y: Array) -> Array:
    x, y = np.ravel(shape_x), np.ravel(shape_y)
    rank = max(len(x), len(y))
    wide_x, wide_y = (np.concatenate([np.ones(rank - len(part), part.dtype), part]) for part in (x, y))
    if np.any((wide_x != wide_y) & (wide_x != 1) & (wide_y != 1)):
        raise ValueError(f"Incompatible shapes: {listed(x)} vs. {listed(y)}")
    return np.where(wide_x == 1, wide_y, wide_x)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """Return the shape that tensors of these shapes broadcast to, as a vector of integers.

    >>> broadcast_dynamic_shape([1, 3], [2, 1]).numpy().tolist()
    [2, 3]
    >>> broadcast_dynamic_shape([], [2]).numpy().tolist()
    [2]
    """
    if not (hasattr(shape_x, "dtype") or hasattr(shape_y, "dtype")):
        shape_x = integers_to_tensor(shape_x)
    return broadcast_sizes(shape_x, shape_y)  # type: ignore[no-any-return]


@export("shape_n")
def shape_n(input: Sequence[Any], out_type: Any = dtypes.int32, name: Name = None) -> list[Tensor]:
    """Return the shape of each of several tensors.

    >>> [sizes.numpy().tolist() for sizes in shape_n([[1, 2], [[3]]])]
    [[2], [1, 1]]
    """
    return [shape(value, out_type, name) for value in input]


@export("parallel_stack")
def parallel_stack(values: Sequence[Any], name: Name = None) -> Tensor:
    """Stack tensors of static shapes along the first axis; only in a graph, as in TensorFlow.

    >>> parallel_stack([[1, 2]])
    Traceback (most recent call last):
        ...
    RuntimeError: tf.parallel_stack() is not compatible with eager execution.
    """
    if current() is None:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    tensors = [convert_to_tensor(value) for value in values]
    for tensor in tensors:
        if not tensor.shape.is_fully_defined():
            raise ValueError(
                f"parallel_stack: all shapes must be fully defined, not {tensor.shape}: use tf.stack"
            )
    return stack(tensors, name=name)  # type: ignore[no-any-return]


@export("guarantee_const")
def guarantee_const(input: TensorLike, name: Name = None) -> Tensor:
    """Return `input`: a promise that it does not change, which has no effect.

    >>> guarantee_const([1]).numpy().tolist()
    [1]
    """
    return identity(input, name)  # type: ignore[no-any-return]


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: Name = None,
) -> tuple[Tensor, Tensor]:
    """Return the paddings that make an input divisible into blocks, and the crops that undo them.

    Args:
        input_shape: the sizes of the axes that blocks divide.
        block_shape: the sizes of the blocks.
        base_paddings: the minimal padding, (before, after) for each axis.

    >>> paddings, crops = required_space_to_batch_paddings([5, 6], [2, 3])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[0, 1], [0, 0]], [[0, 1], [0, 0]])
    """
    sizes = convert_to_tensor(input_shape, dtypes.int32)
    blocks = convert_to_tensor(block_shape, dtypes.int32)
    base = zeros([*blocks.shape, 2], dtypes.int32) if base_paddings is None else base_paddings
    paddings = convert_to_tensor(base, dtypes.int32)
    before, after = paddings[:, 0], paddings[:, 1]
    whole = sizes + before + after
    missing = floormod(blocks - floormod(whole, blocks), blocks)
    padded = stack([before, add(after, missing)], axis=1)
    return padded, stack([before * 0, missing], axis=1)
