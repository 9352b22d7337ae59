"""Select elements by tensors of indices: gather, gather_nd.

indices = [0, 2]         gather(x, indices)            rows 0 and 2 of x
indices = [[0, 2]]       gather_nd(x, indices)         the element x[0, 2]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.export import export
from ...ir import batching
from ...ir.batching import Batch
from ...ir.graph import Constant
from ...ir.traits import CHEAP, PYTHON_INDEX
from ...ir.value_types import TensorType
from ...kernels.rows import are_within, combine_along, combine_at, row_numbers
from ..framework.attribute_parsers import Axis
from ..framework.cached_dispatch import dispatch_with_operands
from ..framework.op import Input, Ints, Name, op
from ..framework.static_values import checked_dims, dims, known_elements, listed
from .shape_ops import shape as shape_of

Array = Any


@export("gather")
@dispatch_with_operands("indices")
def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Return the slices of `params` along `axis` at `indices`.

    With `batch_dims`, the first axes of both are batch axes: each row of indices selects from its own row.
    `validate_indices` has no effect: indices are always checked.

    >>> gather([10, 20, 30], [2, 0])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([30, 10], dtype=int32)>
    """
    return take(params, indices, batch_dims if axis is None else axis, batch_dims, name)


@op(name="gather", traits=CHEAP | PYTHON_INDEX)
def take(params: Input, indices: Input, axis: Axis = 0, batch_dims: int = 0, name: Name = None) -> TensorType:
    """Return the slices of `params` along `axis` at `indices`.

    >>> take([[1, 2, 3], [4, 5, 6]], [2, 1], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[3, 2],
           [6, 5]], dtype=int32)>
    """
    _check_indices(indices)
    if params.shape is None or indices.shape is None:
        return TensorType(params.dtype, None)
    rank = len(params.shape)
    if not -rank <= axis < rank:
        need = axis + 1 if axis >= 0 else -axis
        raise ValueError(f"Shape must be at least rank {need} but is rank {rank}")
    batch = batch_dims if batch_dims >= 0 else batch_dims + len(indices.shape)
    dim = axis % rank
    if batch > dim:
        raise ValueError(f"batch_dims ({batch}) must be less than or equal to axis ({dim})")
    shapes.merge(params.shape[:batch], indices.shape[:batch])
    return TensorType(params.dtype, (*params.shape[:dim], *indices.shape[batch:], *params.shape[dim + 1 :]))


def _check_indices(indices: Any) -> None:
    if not indices.dtype.is_integer:
        raise TypeError(f"indices must be int32 or int64, not {indices.dtype.name}")


@take.elements
def _(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    elements, places = known_elements(params), known_elements(indices)
    if not elements or places is None or any(i is None or not 0 <= i < len(elements) for i in places):
        return None
    return tuple(elements[i] for i in places if i is not None)


@take.kernel
def _(params: Array, indices: Array, axis: int, batch_dims: int) -> Array:
    size = params.shape[axis]
    if not batch_dims and type(indices) is np.ndarray and indices.ndim and are_within(indices, size):
        return params.take(indices, axis)
    if np.ndim(indices) == 0:
        if not 0 <= indices < size:
            raise errors.InvalidArgumentError(f"indices = {indices} is not in [0, {size})")
        return params.take(int(indices), axis) if axis else params[int(indices), ...]
    _check_range(indices, size)
    batch = batch_dims if batch_dims >= 0 else batch_dims + indices.ndim
    return (
        _take_in_batches(params, indices, axis % params.ndim, batch) if batch else params.take(indices, axis)
    )


@take.specialize
def _(inputs: list[Any], axis: int, batch_dims: int) -> Any:
    """Return the index for a constant position along an axis of known size."""
    params, indices = inputs
    if type(indices) is not Constant or indices.shape or not shapes.is_static(params.shape):
        return None
    dim, position = axis % len(params.shape), int(indices.value)
    if not 0 <= position < params.shape[dim]:
        return None
    index = (*[slice(None)] * dim, position, ...)
    return lambda params, indices: params[index]


@take.batching
def _(batch: Batch) -> Any:
    params, indices = batch.arguments
    axis, batch_dims = batch.attrs["axis"], batch.attrs["batch_dims"]
    given = (params.tensor, indices.tensor)
    if params.has_rows and indices.has_rows:
        return batch.call(*given, axis=batching.next_axis(axis), batch_dims=batching.next_axis(batch_dims))
    if batch_dims:
        return None
    if params.has_rows:
        return batch.call(*given, axis=batching.next_axis(axis))
    return batch.call(*given) if axis == 0 else None


@op
def put_back(
    rows: Input, indices: Input, shape: Ints, axis: Axis, batch_dims: int, name: Name = None
) -> TensorType:
    """Scatter-add slices into zeros of this shape: the transpose of `gather`.

    >>> put_back([1, 2, 4], [2, 0, 2], [3], 0, 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([2, 0, 5], dtype=int32)>
    """
    _check_indices(indices)
    return TensorType(rows.dtype, dims(shape))


@put_back.kernel
def _(rows: Array, indices: Array, shape: Array, axis: int, batch_dims: int) -> Array:
    result = np.zeros(checked_dims(shape), rows.dtype)
    indices = np.asarray(indices)
    dim, batch = axis % result.ndim, batch_dims if batch_dims >= 0 else batch_dims + indices.ndim
    _check_range(indices, result.shape[dim])  # NumPy would count negative ones from the end
    positions = indices.reshape(*indices.shape[:batch], math.prod(indices.shape[batch:]))
    combine_along(np.add, result, dim, positions, np.asarray(rows))
    return result


@put_back.gradient
def _(dy: Any, y: Any, rows: Any, indices: Any, shape: Any, axis: int, batch_dims: int) -> Any:
    return take(dy, indices, axis, batch_dims), None, None


def _check_range(indices: Array, size: int) -> None:
    if not are_within(indices, size):
        position = tuple(np.argwhere((indices < 0) | (indices >= size))[0].tolist())
        raise errors.InvalidArgumentError(
            f"indices{listed(position)} = {indices[position]} is not in [0, {size})"
        )


def _take_in_batches(params: Array, indices: Array, axis: int, batch: int) -> Array:
    """Compute `take` with batch axes: row b of the indices selects from row b of `params`."""
    shapes.merge(params.shape[:batch], indices.shape[:batch])
    rows = batch_index(indices.shape[:batch], indices.ndim - batch)
    found = np.moveaxis(params, axis, batch)[(*rows, indices)]  # batch, indices' own axes, the rest of params
    count = indices.ndim - batch
    return np.moveaxis(found, range(batch, batch + count), range(axis, axis + count))


def batch_index(shape: tuple[int, ...], inner: int) -> list[Array]:
    """Return index arrays of the batch axes, which broadcast with indices that have `inner` axes of their own."""
    rank = len(shape) + inner
    return [
        np.arange(size).reshape(*(-1 if j == i else 1 for j in range(rank))) for i, size in enumerate(shape)
    ]


@export("gather_nd")
@op
def gather_nd(params: Input, indices: Input, batch_dims: int = 0, name: Name = None) -> TensorType:
    """Return the elements or slices of `params` at `indices`; the last axis of `indices` holds coordinates.

    >>> gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    _check_coordinates(indices)
    if params.shape is None or indices.shape is None or indices.shape[-1] is None:
        return TensorType(params.dtype, None)
    _check_depth(indices.shape[-1], batch_dims, len(params.shape))
    return TensorType(params.dtype, (*indices.shape[:-1], *params.shape[indices.shape[-1] + batch_dims :]))


def _check_depth(depth: int, batch_dims: int, rank: int) -> None:
    if depth + batch_dims > rank:
        raise ValueError(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {rank}")


def _check_coordinates(indices: Any) -> None:
    _check_indices(indices)
    if indices.shape == ():
        raise ValueError("indices must be at least a vector")


@gather_nd.kernel
def _(params: Array, indices: Array, batch_dims: int) -> Array:
    _check_depth(indices.shape[-1], batch_dims, params.ndim)
    numbers, merged = row_numbers(indices, params.shape, batch_dims, "param shape")
    return params.reshape(merged).take(numbers, 0)


@gather_nd.gradient
def _(dy: Any, y: Any, params: Any, indices: Any, batch_dims: int) -> Any:
    return put_back_nd(dy, indices, shape_of(params), batch_dims), None


@op
def put_back_nd(
    updates: Input, indices: Input, shape: Ints, batch_dims: int, name: Name = None
) -> TensorType:
    """Scatter-add elements or slices into zeros of this shape: the transpose of `gather_nd`.

    >>> put_back_nd([1, 2], [[0, 1], [0, 1]], [1, 2], 0)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[0, 3]], dtype=int32)>
    """
    _check_coordinates(indices)
    return TensorType(updates.dtype, dims(shape))


@put_back_nd.kernel
def _(updates: Array, indices: Array, shape: Array, batch_dims: int) -> Array:
    result = np.zeros(checked_dims(shape), updates.dtype)
    combine_at(np.add, result, indices, updates, batch_dims)
    return result


@put_back_nd.gradient
def _(dy: Any, y: Any, updates: Any, indices: Any, shape: Any, batch_dims: int) -> Any:
    return gather_nd(dy, indices, batch_dims), None, None


@op
def take_along(x: Input, indices: Input, axis: Axis, name: Name = None) -> TensorType:
    """Select elements along one axis: each row of indices selects from its own row.

    >>> take_along([[1, 2], [3, 4]], [[1, 0], [0, 0]], 1).numpy().tolist()
    [[2, 1], [3, 3]]
    """
    _check_indices(indices)
    if x.shape is not None:
        shapes.normal_axis(axis, len(x.shape))
    return TensorType(x.dtype, indices.shape)


@take_along.kernel
def _(x: Array, indices: Array, axis: int) -> Array:
    size = x.shape[axis]
    if (
        indices.dtype.kind == "u" and indices.size and indices.max() >= size
    ):  # NumPy wraps it to a negative one
        raise IndexError(f"index {indices.max()} is out of bounds for axis {axis} with size {size}")
    return np.take_along_axis(x, indices, axis)


@take_along.gradient
def _(dy: Any, y: Any, x: Any, indices: Any, axis: int) -> Any:
    return put_along(dy, indices, shape_of(x), axis), None


@op
def put_along(values: Input, indices: Input, shape: Ints, axis: Axis, name: Name = None) -> TensorType:
    """Scatter-add values into zeros of this shape: the transpose of `take_along`.

    >>> put_along([[5, 7]], [[1, 1]], [1, 3], 1).numpy().tolist()
    [[0, 12, 0]]
    """
    _check_indices(indices)
    return TensorType(values.dtype, dims(shape))


@put_along.kernel
def _(values: Array, indices: Array, shape: Array, axis: int) -> Array:
    result = np.zeros(checked_dims(shape), values.dtype)
    if indices.shape != values.shape or indices.ndim != result.ndim:
        raise ValueError(f"put_along: {indices.shape} indices for {values.shape} values in {result.shape}")
    dim = axis % result.ndim
    _check_range(indices, result.shape[dim])
    index = list(np.indices(indices.shape, sparse=True))
    index[dim] = indices
    np.add.at(result, tuple(index), values)
    return result


put_along.gradient(lambda dy, y, values, indices, shape, axis: (take_along(dy, indices, axis), None, None))
