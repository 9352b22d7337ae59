"""Ranges as rows, and conversion between row splits and row ids."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.reshape import reshape
from ..ops.math.cast import cast
from ..ops.ragged.row_splits import ranges, rowids_of_splits
from .row_partition import RowPartition, as_splits
from .tensor import RaggedTensor


@export("ragged.range")
def range(
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:  # fmt: skip
    """Return rows of numbers from `starts` to `limits` in steps of `deltas`; scalars apply to all rows.

    Raises InvalidArgumentError for a step of 0.

    >>> range([1, 5], [4, 7])
    <tf.RaggedTensor [[1, 2, 3], [5, 6]]>
    """
    if limits is None:
        starts, limits = 0, starts
    given = [starts, limits, deltas]
    if dtype is not None:
        tensors = [cast(one, dtype) for one in given]
    else:
        tensors = [convert_to_tensor(one) for one in given]
        kinds = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
        widest = max((tensor.dtype for tensor in tensors), key=_order(kinds))
        tensors = [cast(tensor, widest) for tensor in tensors]
    for tensor in tensors:
        if tensor.shape.rank not in (0, 1, None):
            raise ValueError(f"bounds of ranges are scalars or vectors, not of shape {tensor.shape}")
    values, splits = ranges(*(reshape(tensor, [-1]) for tensor in tensors))
    return RaggedTensor(values, RowPartition(cast(splits, row_splits_dtype)), internal=True)


def _order(kinds: list[dtypes.DType]) -> Any:
    return lambda dtype: kinds.index(dtype) if dtype in kinds else -1


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """Return the row id of each value, int64 unless `splits` or `out_type` is int32.

    >>> row_splits_to_segment_ids([0, 2, 2, 3]).numpy().tolist()
    [0, 0, 2]
    """
    rows = as_splits(splits, "splits")
    if rows.shape.rank == 1 and rows.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    return cast(rowids_of_splits(rows), out_type or rows.dtype)


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Return the row splits of increasing row ids, for `num_segments` rows; by default, the last row is the last id.

    >>> segment_ids_to_row_splits([0, 0, 2]).numpy().tolist()
    [0, 2, 2, 3]
    """
    kind = dtypes.as_dtype(out_type or getattr(segment_ids, "dtype", None) or dtypes.int64)
    kind = kind if kind in (dtypes.int32, dtypes.int64) else dtypes.int64
    ids = cast(as_splits(segment_ids, "segment_ids"), kind)
    return RowPartition.from_value_rowids(ids, num_segments).row_splits()
