"""Operations that take the shape of their result, with a `DynamicRaggedShape`: `tf.zeros`, `tf.reshape` and others.

tf.zeros(shape of [[1, 2], [3]])    ==>    zeros in the shape of the flat values, in the rows 0 2 3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..ops.arrays import creation, reshape
from .broadcasting import with_common_rows
from .dynamic_shape import DynamicRaggedShape
from .tensor import RaggedTensor


def in_rows(flat_values: Any, shape: DynamicRaggedShape) -> Any:
    """Return a tensor of this shape with these flat values: a dense one if the shape has no row partitions."""
    result = flat_values
    for partition in reversed(shape.row_partitions):
        result = RaggedTensor(result, partition, internal=True)
    return result


def zeros(shape: DynamicRaggedShape, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """Return zeros in a ragged shape.

    >>> zeros(DynamicRaggedShape.from_lengths([2, (2, 1)]), dtypes.int32)
    <tf.RaggedTensor [[0, 0], [0]]>
    """
    return in_rows(creation.zeros(shape.inner_shape, dtype), shape)


def ones(shape: DynamicRaggedShape, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """Return ones in a ragged shape."""
    return in_rows(creation.ones(shape.inner_shape, dtype), shape)


def fill(dims: DynamicRaggedShape, value: Any, name: str | None = None) -> Any:
    """Repeat a scalar in a ragged shape."""
    return in_rows(creation.fill(dims.inner_shape, value), dims)


def reshaped(tensor: Any, shape: DynamicRaggedShape, name: str | None = None) -> Any:
    """Return the elements of a dense or ragged tensor in the rows of a shape."""
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
    return in_rows(reshape.reshape(flat, shape.inner_shape), shape)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Broadcast a dense or ragged tensor to a shape. Raises InvalidArgumentError or ValueError if it does not fit.

    >>> broadcast_to([[7], [8]], DynamicRaggedShape.from_lengths([2, (2, 1)]))
    <tf.RaggedTensor [[7, 7], [8]]>
    """
    if not isinstance(shape, DynamicRaggedShape):
        shape = DynamicRaggedShape([], shape)
    value = input if isinstance(input, RaggedTensor) else convert_to_tensor(input)
    if None not in (value.shape.rank, shape.rank) and value.shape.rank > shape.rank:
        raise ValueError(f"a tensor of rank {value.shape.rank} cannot be broadcast to rank {shape.rank}")
    if not shape.row_partitions:
        if isinstance(value, RaggedTensor):
            raise ValueError(f"the ragged tensor {value} cannot be broadcast to the uniform shape {shape}")
        return reshape.broadcast_to(value, shape.inner_shape)
    if isinstance(value, RaggedTensor):
        value = value.with_row_splits_dtype(shape.dtype)
    (_, flat), rows = with_common_rows([zeros(shape, value.dtype), value])
    return rows(reshape.broadcast_to(flat, shape.inner_shape))


OPERATIONS: Mapping[Any, Callable[..., Any]] = {
    creation.zeros: zeros,
    creation.ones: ones,
    creation.fill: fill,
    reshape.reshape: reshaped,
    reshape.broadcast_to: broadcast_to,
}
