"""Distribute rows over several tensors, and merge them again.

>>> even, odd = dynamic_partition([10, 11, 12], [0, 1, 0], 2)
>>> even.numpy().tolist(), odd.numpy().tolist()
([10, 12], [11])
>>> dynamic_stitch([[0, 2], [1]], [even, odd]).numpy().tolist()
[10, 11, 12]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Results
from ..framework.op import Input, Ints, Name, Tensors, op
from ..framework.op_families import Array
from .creation import zeros_like
from .gather_ops import gather
from .ranges import range as count_up
from .reshape import reshape
from .shape_ops import shape as shape_of
from .shape_ops import size


@export("dynamic_partition")
@op
def dynamic_partition(
    data: Input, partitions: Ints, num_partitions: Results, name: Name = None
) -> tuple[TensorType, ...]:
    """Split the rows of `data` into `num_partitions` tensors, by the numbers in `partitions`.

    Args:
        partitions: integers; `data.shape` must start with its shape.

    Raises InvalidArgumentError for a number that is not in [0, num_partitions).

    >>> [part.numpy().tolist() for part in dynamic_partition([[1, 2], [3, 4]], [[0, 1], [1, 0]], 2)]
    [[1, 4], [2, 3]]
    """
    if num_partitions < 1:
        raise ValueError(f"num_partitions must be at least 1, not {num_partitions}")
    if partitions.dtype is not dtypes.int32:
        raise ValueError(f"partitions must be int32, not {partitions.dtype.name}")
    _check_prefix(data.shape, partitions.shape)
    if data.shape is None or partitions.shape is None:
        return (TensorType(data.dtype, None),) * num_partitions
    rest, known = data.shape[len(partitions.shape) :], partitions.value
    counts = [None if known is None else int(np.sum(known == part)) for part in range(num_partitions)]
    return tuple(TensorType(data.dtype, (count, *rest)) for count in counts)


def _check_prefix(data: shapes.Dims, partitions: shapes.Dims) -> None:
    if data is None or partitions is None:
        return
    if len(partitions) > len(data) or not shapes.compatible(data[: len(partitions)], partitions):
        raise ValueError(
            f"data.shape must start with partitions.shape, got data.shape = {shapes.show(data)}, "
            f"partitions.shape = {shapes.show(partitions)}"
        )


@dynamic_partition.kernel
def _(data: Array, partitions: Array, num_partitions: int) -> list[Array]:
    data, partitions = np.asarray(data), np.asarray(partitions)
    _check_prefix(data.shape, partitions.shape)
    wrong = np.flatnonzero((partitions < 0) | (partitions >= num_partitions))
    if len(wrong):
        number = partitions.reshape(-1)[wrong[0]]
        raise errors.InvalidArgumentError(
            f"partitions[{wrong[0]}] = {number} is not in [0, {num_partitions})"
        )
    return [data[partitions == part] for part in range(num_partitions)]


@dynamic_partition.gradient
def _(dys: Any, ys: Any, data: Any, partitions: Any, num_partitions: int) -> Any:
    positions = reshape(count_up(size(partitions)), shape_of(partitions))
    parts = dynamic_partition(positions, partitions, num_partitions)
    grads = [zeros_like(y) if dy is None else dy for dy, y in zip(dys, ys, strict=True)]
    return reshape(dynamic_stitch(parts, grads), shape_of(data)), None


@export("dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: Name = None) -> Tensor:
    """Merge the rows of several tensors: `data[i][j]` becomes the row `indices[i][j]`; the last one wins.

    Rows without an index are zeros, or empty strings. `data[i].shape` starts with `indices[i].shape`; the
    remaining dimensions are the same for all.

    >>> dynamic_stitch([0, [1, 3]], [[1, 2], [[3, 4], [5, 6]]]).numpy().tolist()
    [[1, 2], [3, 4], [0, 0], [5, 6]]
    """
    if len(indices) != len(data) or not len(data):
        raise ValueError(
            f"dynamic_stitch takes lists of one length, which is not 0: {len(indices)}, {len(data)}"
        )
    positions = [convert_to_tensor(index, dtypes.int32) for index in indices]
    first = convert_to_tensor(data[0])
    rows = [first, *(convert_to_tensor(part, first.dtype) for part in data[1:])]
    return stitch([*positions, *rows], name)  # type: ignore[no-any-return]


@op(name="dynamic_stitch")
def stitch(parts: Tensors, name: Name = None) -> TensorType:
    """Merge the tensors in the second half of `parts`, at the row indices in its first half.

    >>> stitch([[1, 0], [7, 8]]).numpy().tolist()
    [8, 7]
    """
    indices, data = _halves(parts)
    rest: shapes.Dims = None
    for index, rows in zip(indices, data, strict=True):
        if index.dtype is not dtypes.int32 or rows.dtype is not data[0].dtype:
            raise TypeError("dynamic_stitch: indices must be int32, and all data have one dtype")
        _check_rows(index.shape, rows.shape)
        if index.shape is not None and rows.shape is not None:
            rest = shapes.merge(rest, rows.shape[len(index.shape) :])
    if rest is None:
        return TensorType(data[0].dtype, None)
    known = [index.value for index in indices]
    count = None if any(value is None for value in known) else _rows(known)
    return TensorType(data[0].dtype, (count, *rest))


def _halves(parts: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    if not parts or len(parts) % 2:
        raise ValueError(f"dynamic_stitch takes as many indices as data, not {len(parts)} tensors")
    return parts[: len(parts) // 2], parts[len(parts) // 2 :]


def _check_rows(index: shapes.Dims, rows: shapes.Dims) -> None:
    if index is None or rows is None:
        return
    if len(rows) < len(index) or not shapes.compatible(rows[: len(index)], index):
        raise ValueError(
            f"data.shape = {shapes.show(rows)} does not start with indices.shape = {shapes.show(index)}"
        )


def _rows(indices: Sequence[Array]) -> int:
    return max((int(np.max(index)) + 1 for index in indices if np.size(index)), default=0)


@stitch.kernel
def _(parts: list[Array]) -> Array:
    indices, data = _halves(parts)
    rest = np.shape(data[0])[np.ndim(indices[0]) :]
    empty = b"" if data[0].dtype.kind == "O" else 0
    result = np.full((_rows(indices), *rest), empty, data[0].dtype)
    for index, rows in zip(indices, data, strict=True):
        _check_rows(np.shape(index), np.shape(rows))
        flat = np.reshape(index, -1)
        if np.any(flat < 0):
            raise errors.InvalidArgumentError(f"indices[{int(np.argmax(flat < 0))}] is out of range")
        result[flat] = np.reshape(rows, (math.prod(np.shape(index)), *rest))
    return result


@stitch.gradient
def _(dy: Any, y: Any, parts: Any) -> Any:
    indices, _ = _halves(parts)
    return [None] * len(indices) + [gather(dy, index) for index in indices]
