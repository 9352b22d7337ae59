"""Reductions of ragged tensors along their axes, and segment reductions of their rows.

axis 0      items at the same position in their rows     as many groups as the longest row has items
axis 1      the items of each row                        as many groups as there are rows
axis > 1    the same reduction of the values
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..ops.arrays import gather_ops, where_ops
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import ones_like
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.framework.attribute_parsers import read_axes
from ..ops.math import arithmetic, elementwise
from ..ops.math.cast import cast
from ..ops.nn import activations
from ..ops.ragged.row_splits import ranges, splits_of_lengths
from ..ops.reduce import reductions, scans, segments, variance
from ..ops.strings import join_format
from .mapping import check_same_rows
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor

Groups = Callable[[Any, Any, Any], Any]
"""A reduction of the rows of dense data with equal ids: (data, ids, number of ids)."""


def _every(data: Any, ids: Any, count: Any) -> Any:
    return segments.unsorted_segment_min(cast(data, dtypes.int32), ids, count) > 0


def _some(data: Any, ids: Any, count: Any) -> Any:
    return segments.unsorted_segment_max(cast(data, dtypes.int32), ids, count) > 0


def grouped(reduce_groups: Groups, data: Any, ids: Any, count: Any) -> Any:
    """Reduce the rows of `data`, ragged or dense, with equal ids to one."""
    if not isinstance(data, RaggedTensor):
        return reduce_groups(data, ids, count)
    lengths = data.row_lengths()
    longest = arithmetic.maximum(
        segments.unsorted_segment_max(lengths, ids, count), in_dtype(0, lengths.dtype)
    )
    splits = splits_of_lengths(longest)
    starts = gather_ops.gather(splits, ids)
    positions, _ = ranges(starts, starts + lengths, in_dtype([1], lengths.dtype))
    values = grouped(reduce_groups, data.values, positions, splits[-1])
    return RaggedTensor(values, RowPartition(splits), internal=True)


def _reduction(dense: Callable[..., Any], reduce_groups: Groups) -> Callable[..., Any]:
    def reduced(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        return _reduced(dense, reduce_groups, input_tensor, _axes(input_tensor, axis), bool(keepdims))

    return reduced


def _axes(ragged: Any, axis: Any) -> tuple[int, ...] | None:
    """Return the axes from the last to the first; None for all. ValueError for an axis out of range."""
    axes = read_axes(axis)
    if axes is None:
        return None
    found = sorted({ragged._axis(one) for one in axes}, reverse=True)
    return tuple(found)


def _reduced(
    dense: Callable[..., Any], reduce_groups: Groups, ragged: Any, axes: tuple[int, ...] | None, keep: bool
) -> Any:
    if axes is None:
        result = dense(ragged.flat_values)
        return reshape(result, [1] * ragged.shape.rank) if keep else result
    for axis in axes:
        ragged = _along(dense, reduce_groups, ragged, axis, keep)
    return ragged


def _along(dense: Callable[..., Any], reduce_groups: Groups, ragged: Any, axis: int, keep: bool) -> Any:
    """Reduce one axis."""
    if not isinstance(ragged, RaggedTensor):
        return dense(ragged, axis, keep)
    if axis > 1:
        return ragged.with_values(_along(dense, reduce_groups, ragged.values, axis - 1, keep))
    if axis == 1:
        result = grouped(reduce_groups, ragged.values, ragged.value_rowids(), ragged.nrows())
    else:
        lengths = ragged.row_lengths()
        zeros = lengths * 0
        columns, _ = ranges(zeros, lengths, in_dtype([1], lengths.dtype))
        longest = reductions.reduce_max(concat([lengths, in_dtype([0], lengths.dtype)], 0))
        result = grouped(reduce_groups, ragged.values, columns, longest)
    return expand_dims(result, axis) if keep else result


reduce_sum = _reduction(reductions.reduce_sum, segments.unsorted_segment_sum)
reduce_max = _reduction(reductions.reduce_max, segments.unsorted_segment_max)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the mean of the existing elements; NaN for an empty group."""
    total = reduce_sum(input_tensor, axis, keepdims)
    count = reduce_sum(ones_like(input_tensor), axis, keepdims)
    return arithmetic.divide(total, count)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return the mean of the squares minus the square of the mean."""
    squares = reduce_mean(elementwise.square(input_tensor), axis, keepdims)
    return arithmetic.subtract(squares, elementwise.square(reduce_mean(input_tensor, axis, keepdims)))


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the square root of the variance."""
    return elementwise.sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return the logarithm of the sum of exponentials, computed without overflow."""
    wide, high = (_finite(reduce_max(input_tensor, axis, keep)) for keep in (True, bool(keepdims)))
    powers = elementwise.exp(arithmetic.subtract(input_tensor, wide))
    return elementwise.log(reduce_sum(powers, axis, keepdims)) + high


def _finite(value: Any) -> Any:
    """Return the value, with 0 in place of infinities and NaNs."""
    return where_ops.where(elementwise.is_finite(value), value, cast(0, value.dtype))


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    """Join the strings along axes; an empty group gives an empty string."""

    def dense(strings: Any, axes: Any = None, keep: bool = False) -> Any:
        return join_format.reduce_join(strings, axes, keep, separator)

    def reduce_groups(strings: Any, ids: Any, count: Any) -> Any:
        return join_format.unsorted_segment_join(strings, ids, count, separator)

    return _reduced(dense, reduce_groups, inputs, _axes(inputs, axis), bool(keepdims))


def _of_rows(reduce_groups: Groups) -> Callable[..., Any]:
    """Return `unsorted_segment_*` for ragged data."""

    def applied(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        if isinstance(segment_ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError("segment_ids is ragged, but data is not")
            check_same_rows(data, segment_ids)
            return reduce_groups(data.flat_values, segment_ids.flat_values, num_segments)
        return grouped(reduce_groups, data, segment_ids, num_segments)

    return applied


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the softmax along the last axis."""
    ragged, rows, ids, count = _innermost(logits, axis)
    if rows is None:
        return ragged.with_flat_values(activations.softmax(ragged.flat_values))
    flat = ragged.flat_values
    powers = elementwise.exp(flat - gather_ops.gather(segments.unsorted_segment_max(flat, ids, count), ids))
    return ragged.with_flat_values(
        powers / gather_ops.gather(segments.unsorted_segment_sum(powers, ids, count), ids)
    )


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the logarithm of the softmax along the last axis."""
    return elementwise.log(softmax(logits, axis))


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Return the cumulative sum along an axis; elements that other rows do not have count as 0."""
    dim = x._axis(int(axis)) - x.ragged_rank
    if dim < 0:
        return RaggedTensor.from_tensor(
            scans.cumsum(x.to_tensor(), axis, exclusive, reverse), x.nested_row_lengths()
        )
    if dim > 0:
        return x.with_flat_values(scans.cumsum(x.flat_values, dim, exclusive, reverse))
    flat, rows = x.flat_values, x._partitions[-1].row_splits()
    ids = x._partitions[-1].value_rowids()
    before = scans.cumsum(flat, 0, True, reverse)
    first = gather_ops.gather(rows[1:] - 1 if reverse else rows[:-1], ids)  # in the row of each value
    within = before - gather_ops.gather(before, first)
    return x.with_flat_values(within if exclusive else within + flat)


def _innermost(value: Any, axis: Any) -> tuple[RaggedTensor, Any, Any, Any]:
    """Return the tensor, and its last axis's splits and row ids if that axis is ragged; ValueError for another axis."""
    rank = value.shape.rank
    dim = value._axis(-1 if axis is None else int(axis))
    if dim != rank - 1:
        raise ValueError(f"softmax of a ragged tensor goes along its last axis only, not along axis {axis}")
    if dim > value.ragged_rank:
        return value, None, None, None
    rows = value._partitions[-1]
    return value, rows.row_splits(), rows.value_rowids(), rows.nrows()


OPERATIONS: Mapping[Any, Callable[..., Any]] = {
    reductions.reduce_sum: reduce_sum,
    reductions.reduce_prod: _reduction(reductions.reduce_prod, segments.unsorted_segment_prod),
    reductions.reduce_max: reduce_max,
    reductions.reduce_min: _reduction(reductions.reduce_min, segments.unsorted_segment_min),
    reductions.reduce_all: _reduction(reductions.reduce_all, _every),
    reductions.reduce_any: _reduction(reductions.reduce_any, _some),
    reductions.reduce_mean: reduce_mean,
    variance.reduce_variance: reduce_variance,
    variance.reduce_std: reduce_std,
    reductions.reduce_logsumexp: reduce_logsumexp,
    join_format.reduce_join: reduce_join,
    segments.unsorted_segment_sum: _of_rows(segments.unsorted_segment_sum),
    segments.unsorted_segment_prod: _of_rows(segments.unsorted_segment_prod),
    segments.unsorted_segment_max: _of_rows(segments.unsorted_segment_max),
    segments.unsorted_segment_min: _of_rows(segments.unsorted_segment_min),
    activations.softmax: softmax,
    activations.log_softmax: log_softmax,
    scans.cumsum: cumsum,
}
