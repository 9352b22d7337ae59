"""Row splits: the bounds of the rows of a ragged tensor within its values.

    values 1 2 3      row_splits 0 2 2 3        [[1, 2], [], [3]]

These operations compute integers only. Values, and their gradients, are moved with `gather`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Axes
from ..framework.op import Inputs, Ints, Name, Same, op
from ..framework.op_families import REAL, require_dtype
from ..framework.static_values import listed

Array = Any


def _vector(operand: Any, what: str) -> int | None:
    """Return the size of a vector; ValueError for another rank."""
    if operand.shape is None:
        return None
    if len(operand.shape) != 1:
        raise ValueError(f"Shape {listed(operand.shape)} of {what} must have rank 1")
    return operand.shape[0]  # type: ignore[no-any-return]


def _one_more(size: int | None) -> int | None:
    return None if size is None else size + 1


@op
def checked_row_splits(row_splits: Ints, nvals: Ints, name: Name = None) -> TensorType:
    """Return `row_splits`, checked to begin with 0, never decrease, and end with the number of values.

    Raises InvalidArgumentError with the violated condition.

    >>> checked_row_splits([0, 2, 2, 3], 3).numpy().tolist()
    [0, 2, 2, 3]
    """
    if _vector(row_splits, "row_splits") == 0:
        raise ValueError("row_splits tensor may not be empty.")
    return TensorType(row_splits.dtype, row_splits.shape)


@checked_row_splits.kernel
def _(row_splits: Array, nvals: Array) -> Array:
    if not len(row_splits):
        raise ValueError("row_splits tensor may not be empty.")
    if row_splits[0] != 0:
        raise ValueError(f"Arguments to from_row_splits do not form a valid RaggedTensor:zero: {row_splits}")
    if (row_splits[1:] < row_splits[:-1]).any():
        raise ValueError(
            f"Arguments to from_row_splits do not form a valid RaggedTensor:monotonic: {row_splits}"
        )
    if row_splits[-1] != nvals:
        raise ValueError(
            f"Arguments to from_row_splits do not form a valid RaggedTensor: the last of {row_splits} is not the "
            f"number of values, {nvals}"
        )
    return row_splits


@op
def splits_of_lengths(row_lengths: Ints, name: Name = None) -> TensorType:
    """Return the row splits of rows with these lengths.

    Raises InvalidArgumentError for a negative length.

    >>> splits_of_lengths([2, 0, 1]).numpy().tolist()
    [0, 2, 2, 3]
    """
    return TensorType(row_lengths.dtype, (_one_more(_vector(row_lengths, "row_lengths")),))


@splits_of_lengths.kernel
def _(row_lengths: Array) -> Array:
    if (row_lengths < 0).any():
        raise ValueError(f"row lengths must not be negative, as in {row_lengths}")
    splits = np.zeros(len(row_lengths) + 1, row_lengths.dtype)
    np.cumsum(row_lengths, out=splits[1:])
    return splits


@op
def splits_of_rowids(value_rowids: Ints, nrows: Ints, name: Name = None) -> TensorType:
    """Return the row splits of `nrows` rows, from the row number of each value.

    Raises InvalidArgumentError for row numbers that decrease, or are not below `nrows`.

    >>> splits_of_rowids([0, 0, 2], 4).numpy().tolist()
    [0, 2, 2, 3, 3]
    """
    _vector(value_rowids, "value_rowids")
    count = None if nrows.value is None else int(nrows.value) + 1
    return TensorType(value_rowids.dtype, (count,))


@splits_of_rowids.kernel
def _(value_rowids: Array, nrows: Array) -> Array:
    if (value_rowids[1:] < value_rowids[:-1]).any():
        raise ValueError(f"value_rowids must not decrease, as in {value_rowids}")
    if len(value_rowids) and (value_rowids[0] < 0 or value_rowids[-1] >= nrows):
        raise ValueError(f"value_rowids must be from 0 to {int(nrows) - 1}, not {value_rowids}")
    return np.searchsorted(value_rowids, np.arange(int(nrows) + 1)).astype(value_rowids.dtype)


@op
def rowids_of_splits(row_splits: Ints, name: Name = None) -> TensorType:
    """Return the row number of each value.

    >>> rowids_of_splits([0, 2, 2, 3]).numpy().tolist()
    [0, 0, 2]
    """
    _vector(row_splits, "row_splits")
    return TensorType(row_splits.dtype, (None,))


rowids_of_splits.kernel(lambda row_splits: _rowids(row_splits))


def _rowids(splits: Array) -> Array:
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


@op
def ranges(starts: Same, limits: Same, deltas: Same, name: Name = None) -> tuple[TensorType, TensorType]:
    """Return the concatenated numbers from each start to its limit in steps of delta, and their row splits.

    Raises InvalidArgumentError for a step of 0.

    >>> [result.numpy().tolist() for result in ranges([1, 5], [4, 5], [2, 1])]
    [[1, 3], [0, 2, 2]]
    """
    require_dtype(starts, REAL, "ranges")
    counts = [_vector(operand, "a range's bounds") for operand in (starts, limits, deltas)]
    known = next((count for count in counts if count not in (None, 1)), None if None in counts else counts[0])
    return TensorType(starts.dtype, (None,)), TensorType(dtypes.int64, (_one_more(known),))


@ranges.kernel
def _(starts: Array, limits: Array, deltas: Array) -> tuple[Array, Array]:
    if (deltas == 0).any():
        raise ValueError("Requires delta != 0")
    starts, limits, deltas = np.broadcast_arrays(starts, limits, deltas)
    wide = np.float64 if starts.dtype.kind == "f" else np.int64
    steps = (limits.astype(wide) - starts.astype(wide)) / deltas
    counts = np.maximum(np.ceil(steps), 0).astype(np.int64)
    splits = np.concatenate([[0], np.cumsum(counts)])
    row = np.repeat(np.arange(len(starts)), counts)
    column = np.arange(splits[-1]) - splits[row]
    return (starts[row] + column.astype(starts.dtype) * deltas[row]).astype(starts.dtype), splits


ranges.no_gradient("as in TensorFlow: the length of the result depends on the bounds")


@op
def ragged_coordinates(row_splits: Inputs, name: Name = None) -> TensorType:
    """Return the coordinates of the values of nested rows; the outermost splits come first.

    >>> ragged_coordinates([[0, 2, 3], [0, 1, 1, 2]]).numpy().tolist()
    [[0, 0, 0], [1, 0, 0]]
    """
    _check_splits(row_splits)
    return TensorType(dtypes.int64, (None, len(row_splits) + 1))


def _check_splits(row_splits: list[Any]) -> None:
    """Check that each of them is a non-empty vector of int32 or int64."""
    for splits in row_splits:
        if _vector(splits, "row_splits") == 0:
            raise ValueError("row_splits tensor may not be empty.")
        if splits.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"row_splits must be int32 or int64, not {splits.dtype.name}")


@ragged_coordinates.kernel
def _(row_splits: list[Array]) -> Array:
    columns = []
    at = np.arange(row_splits[-1][-1])
    for splits in reversed(row_splits):
        row = _rowids(splits)[at]
        columns.append(at - splits[row])
        at = row
    return np.stack([at, *reversed(columns)], 1).astype(np.int64)


@op
def common_rows(row_splits: Inputs, stretched: Axes = (), name: Name = None) -> tuple[TensorType, ...]:
    """Broadcast the nested rows of two ragged tensors against each other, where rows have size 1.

    The first half of the splits belongs to one tensor, the second half to the other. The outermost come
    first, preceded by a row of all rows. `stretched` holds the positions of splits with rows of size 1 that
    may be broadcast. Returns the common splits, and for each common value its indices in the values of both
    tensors. Raises InvalidArgumentError for rows that do not broadcast.

    >>> [result.numpy().tolist() for result in common_rows([[0, 2], [0, 2, 3], [0, 2], [0, 1, 2]], [3])]
    [[0, 2], [0, 2, 3], [0, 1, 2], [0, 0, 1]]
    """
    _check_splits(row_splits)
    depth = len(row_splits) // 2
    kind = row_splits[0].dtype
    positions = TensorType(dtypes.int64, (None,))
    sizes = [_common_size(row_splits[i].shape, row_splits[i + depth].shape) for i in range(depth)]
    return (*(TensorType(kind, (size,)) for size in sizes), positions, positions)


def _common_size(one: Any, other: Any) -> int | None:
    """Return the number of splits of the broadcast rows, if known."""
    known = [None if shape is None else shape[0] for shape in (one, other)]
    if None in known:
        return next((size for size in known if size is not None and size > 2), None)
    return max(known)  # type: ignore[type-var]


@common_rows.kernel
def _(row_splits: list[Array], stretched: Axes) -> tuple[Array, ...]:
    depth = len(row_splits) // 2
    positions = [np.zeros(1, np.int64), np.zeros(1, np.int64)]
    result = []
    for level in range(depth):
        splits = row_splits[level], row_splits[level + depth]
        lengths = [np.diff(one)[rows_of] for one, rows_of in zip(splits, positions, strict=True)]
        narrow = [
            level + side * depth in (stretched or ()) and bool((lengths[side] == 1).all()) for side in (0, 1)
        ]
        wide = lengths[0] if not narrow[0] else lengths[1]
        if not narrow[1] and not np.array_equal(wide, lengths[1]):
            raise ValueError(
                "Unable to broadcast: dimension size mismatch in dimension: rows of lengths "
                f"{listed(lengths[0])} and {listed(lengths[1])}"
            )
        common = np.concatenate([[0], np.cumsum(wide)])
        row = np.repeat(np.arange(len(wide)), wide)
        column = np.arange(common[-1]) - common[row]
        positions = [
            one[rows_of[row]] + (0 if is_narrow else column)
            for one, rows_of, is_narrow in zip(splits, positions, narrow, strict=True)
        ]
        result.append(common.astype(splits[0].dtype))
    return (*result, positions[0].astype(np.int64), positions[1].astype(np.int64))
