"""Coordinate matrices of sparse tensors: one row for each stored element, one column for each axis.

    [[0, 1], [2, 0]]        elements at [0, 1] and at [2, 0]

These operations compute integers only. Values, and their gradients, are moved with `gather` and `scatter_nd`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...ir.value_types import TensorType
from ...kernels.orders import distinct_rows, row_order
from ..framework.op import Ints, Name, op
from ..framework.static_values import integers, listed

Array = Any


def _matrix(indices: Any, what: str) -> tuple[int | None, int | None]:
    """Return the two dimensions of a matrix of coordinates; ValueError for another rank."""
    if indices.shape is None:
        return None, None
    if len(indices.shape) != 2:
        raise ValueError(f"{what}: the coordinates must be a matrix, but have shape {listed(indices.shape)}")
    return indices.shape  # type: ignore[no-any-return]


@op
def checked_coordinates(
    indices: Ints, dense_shape: Ints, in_order: bool = True, name: Name = None
) -> TensorType:
    """Return `indices`, checked to be within `dense_shape`, and to be sorted without repetitions.

    Raises InvalidArgumentError with the first row that violates this. `in_order=False` leaves the order
    unchecked.

    >>> checked_coordinates([[0, 1], [2, 0]], [3, 2]).numpy().tolist()
    [[0, 1], [2, 0]]
    """
    count, rank = _matrix(indices, "checked_coordinates")
    sizes = integers(dense_shape)
    if rank is None and sizes is not None:
        rank = len(sizes)
    return TensorType(indices.dtype, (count, rank))


@checked_coordinates.kernel
def _(indices: Array, dense_shape: Array, in_order: bool) -> Array:
    outside = (indices < 0) | (indices >= dense_shape)
    if np.logical_or.reduce(outside, None):
        at = int(outside.any(axis=1).argmax())
        sizes = ",".join(map(str, dense_shape.tolist()))
        raise ValueError(f"indices[{at}] = {_row(indices[at])} is out of bounds: need 0 <= index < [{sizes}]")
    if not in_order:
        return indices
    order = _compared(indices[:-1], indices[1:])
    if (order <= 0).any():
        at = int((order <= 0).argmax()) + 1
        if order[at - 1] == 0:
            raise ValueError(f"indices[{at}] = {_row(indices[at])} is repeated")
        raise ValueError(
            f"indices[{at}] = {_row(indices[at])} is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n"
        )
    return indices


def _row(row: Array) -> str:
    return f"[{','.join(map(str, row.tolist()))}]"


def _compared(before: Array, after: Array) -> Array:
    """Compare pairs of rows: positive where the second comes later, 0 where both are equal."""
    found: Any = np.zeros(len(before), np.int64)
    for column in range(before.shape[1]):
        found = np.where(found == 0, after[:, column] - before[:, column], found)
    return found


@op
def coordinate_order(indices: Ints, name: Name = None) -> TensorType:
    """Return the stable order that sorts the rows lexicographically, as in a dense tensor.

    >>> coordinate_order([[1, 0], [0, 5], [0, 2]]).numpy().tolist()
    [2, 1, 0]
    """
    return TensorType(dtypes.int64, (_matrix(indices, "coordinate_order")[0],))


coordinate_order.kernel(lambda indices: row_order(indices).astype(np.int64))


@op
def distinct_coordinates(indices: Ints, name: Name = None) -> tuple[TensorType, TensorType]:
    """Return the distinct rows in sorted order, and for each row its index among them.

    >>> [result.numpy().tolist() for result in distinct_coordinates([[1, 0], [0, 5], [1, 0]])]
    [[[0, 5], [1, 0]], [1, 0, 1]]
    """
    count, rank = _matrix(indices, "distinct_coordinates")
    return TensorType(indices.dtype, (None, rank)), TensorType(dtypes.int64, (count,))


distinct_coordinates.kernel(distinct_rows)


@op
def reshaped_coordinates(
    indices: Ints, shape: Ints, new_shape: Ints, name: Name = None
) -> tuple[TensorType, TensorType]:
    """Return the coordinates of the same elements in another shape, and that shape; one of its sizes may be -1.

    Raises InvalidArgumentError if it does not have as many elements.

    >>> [result.numpy().tolist() for result in reshaped_coordinates([[0, 2], [1, 1]], [2, 3], [3, -1])]
    [[[1, 0], [2, 0]], [3, 2]]
    """
    count, _ = _matrix(indices, "reshaped_coordinates")
    wanted = integers(new_shape)
    rank = None if wanted is None else len(wanted)
    return TensorType(dtypes.int64, (count, rank)), TensorType(dtypes.int64, (rank,))


@reshaped_coordinates.kernel
def _(indices: Array, shape: Array, new_shape: Array) -> tuple[Array, Array]:
    sizes = new_shape.astype(np.int64)
    total = int(np.prod(shape, dtype=np.int64))
    unknown = np.flatnonzero(sizes == -1)
    if len(unknown) > 1:
        raise ValueError(f"only one output dimension may be -1, not both {unknown[0]} and {unknown[1]}")
    if len(unknown):
        others = int(np.prod(sizes[sizes != -1]))
        if others <= 0 or total % others:
            raise ValueError(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape requires a "
                f"multiple of {others}. input_shape={_row(shape)} output_shape={_row(sizes)}"
            )
        sizes[unknown] = total // others
    if int(np.prod(sizes)) != total:
        raise ValueError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{int(np.prod(sizes))}. input_shape={_row(shape)} output_shape={_row(sizes)}"
        )
    linear = indices.astype(np.int64) @ _strides(shape)
    inner = _strides(sizes)
    return linear[:, None] // np.maximum(inner, 1) % np.maximum(sizes, 1), sizes


def _strides(shape: Array) -> Array:
    """Return the number of elements between adjacent indices of each axis."""
    return np.concatenate([np.cumprod(shape[:0:-1], dtype=np.int64)[::-1], [1]])[: len(shape)].astype(
        np.int64
    )


@op
def coordinates_of_all_rows(
    indices: Ints, dense_shape: Ints, name: Name = None
) -> tuple[TensorType, TensorType, TensorType]:
    """Add a coordinate at the beginning of each row of the dense tensor that has no element.

    Returns the sorted coordinates, the previous index of each (new ones are numbered after the old ones), and
    a mask of the rows that were empty.

    >>> [result.numpy().tolist() for result in coordinates_of_all_rows([[0, 1], [2, 0]], [3, 2])]
    [[[0, 1], [1, 0], [2, 0]], [0, 2, 1], [False, True, False]]
    """
    _, rank = _matrix(indices, "coordinates_of_all_rows")
    sizes = integers(dense_shape)
    rows = sizes[0] if sizes else None
    return (
        TensorType(indices.dtype, (None, rank)),
        TensorType(dtypes.int64, (None,)),
        TensorType(dtypes.bool_, (rows,)),
    )


@coordinates_of_all_rows.kernel
def _(indices: Array, dense_shape: Array) -> tuple[Array, Array, Array]:
    rows = int(dense_shape[0])
    outside = (indices[:, 0] < 0) | (indices[:, 0] >= rows)
    if outside.any():
        at = int(outside.argmax())
        raise ValueError(f"indices({at}, 0) is invalid: {indices[at, 0]} >= {rows}")
    is_empty = np.bincount(indices[:, 0], minlength=rows) == 0
    added = np.zeros((int(is_empty.sum()), indices.shape[1]), indices.dtype)
    added[:, 0] = np.flatnonzero(is_empty)
    every = np.concatenate([indices, added])
    order = row_order(every[:, :1])
    return every[order], np.minimum(order, len(indices)), is_empty
