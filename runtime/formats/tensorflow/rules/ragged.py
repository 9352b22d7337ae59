"""Rows of different lengths: partitions of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import refuse, writes
from .arrays import repeated_rows
from .shapes import cast, part, scalar, sliced

refuse("common_rows", "TensorFlow composes it of other operations, for each level of rows")
refuse("coordinates_of_all_rows", "TensorFlow has it together with the values only")


def lengths_of(to: Body, splits: NodeResult) -> Any:
    """Return the lengths of rows."""
    return to.Sub(sliced(to, splits, 1, None), sliced(to, splits, None, -1))


def rows_of(to: Body, splits: NodeResult) -> Any:
    """Return the row of each value, as int32."""
    lengths = lengths_of(to, splits)
    return repeated_rows(to, lengths, to.Size(lengths))


@writes("rowids_of_splits")
def _(to: Body, row_splits: NodeResult) -> Any:
    return cast(to, rows_of(to, row_splits), row_splits.dtype)


@writes("splits_of_lengths")
def _(to: Body, row_lengths: NodeResult) -> Any:
    to.Assert(to.All(to.GreaterEqual(row_lengths, 0), [0]), ["row lengths must not be negative", row_lengths])
    return to.ConcatV2([np.zeros(1, row_lengths.dtype), to.Cumsum(row_lengths, 0)], 0)


@writes("splits_of_rowids")
def _(to: Body, value_rowids: NodeResult, nrows: NodeResult) -> Any:
    dtype = to.outputs[0].dtype.name
    ids, count = cast(to, value_rowids, dtype), scalar(to, nrows, dtype)
    rising = to.All(to.LessEqual(sliced(to, ids, None, -1), sliced(to, ids, 1, None)), [0])
    inside = to.All(to.LogicalAnd(to.GreaterEqual(ids, 0), to.Less(ids, count)), [0])
    to.Assert(
        to.LogicalAnd(rising, inside), ["value_rowids must not decrease, from 0 to the number of rows", ids]
    )
    rows = to.Range(to.const(0, dtype), count, to.const(1, dtype))
    starts = to.LowerBound(to.ExpandDims(ids, 0), to.ExpandDims(rows, 0), out_type=dtype)
    return to.ConcatV2([to.Reshape(starts, [-1]), to.Reshape(to.Size(ids, out_type=dtype), [1])], 0)


@writes("checked_row_splits")
def _(to: Body, row_splits: NodeResult, nvals: NodeResult) -> Any:
    starts = to.Equal(part(to, row_splits, 0), 0)
    rising = to.All(to.LessEqual(sliced(to, row_splits, None, -1), sliced(to, row_splits, 1, None)), [0])
    ends = to.Equal(part(to, row_splits, -1), scalar(to, nvals, row_splits.dtype))
    message = "Arguments to from_row_splits do not form a valid RaggedTensor"
    to.Assert(to.LogicalAnd(starts, to.LogicalAnd(rising, ends)), [message, row_splits])
    return to.Identity(row_splits)


@writes("ranges")
def _(to: Body, starts: NodeResult, limits: NodeResult, deltas: NodeResult) -> Any:
    shape = to.BroadcastArgs(to.BroadcastArgs(to.Shape(starts), to.Shape(limits)), to.Shape(deltas))
    splits, values = to.RaggedRange(*[to.BroadcastTo(each, shape) for each in (starts, limits, deltas)])
    return [values, splits]


@writes("ragged_coordinates")
def _(to: Body, row_splits: list[NodeResult]) -> Any:
    """Follow the values from the innermost rows outwards."""
    at = to.Range(0, cast(to, part(to, row_splits[-1], -1), "int32"), 1)
    columns = []
    for splits in reversed(row_splits):
        row = to.GatherV2(rows_of(to, splits), at, 0)
        columns.append(to.Sub(at, cast(to, to.GatherV2(splits, row, 0), "int32")))
        at = row
    return cast(to, to.Pack([at, *reversed(columns)], axis=1), "int64")
