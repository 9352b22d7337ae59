"""Reductions, running sums, segments and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import direct, writes
from .shapes import cast, inverse, rank_of, scalar, sliced

direct(
    """
    cumprod=Cumprod(x,axis) cumsum=Cumsum(x,axis) segment_max=SegmentMax segment_min=SegmentMin
    segment_prod=SegmentProd segment_sum=SegmentSum unsorted_segment_max=UnsortedSegmentMax
    unsorted_segment_min=UnsortedSegmentMin unsorted_segment_prod=UnsortedSegmentProd
    unsorted_segment_sum=UnsortedSegmentSum
    """
)

_REDUCTIONS = {
    "reduce_sum": "Sum", "reduce_prod": "Prod", "reduce_max": "Max", "reduce_min": "Min", "reduce_all": "All",
    "reduce_any": "Any", "reduce_euclidean_norm": "EuclideanNorm", "reduce_mean": "Mean",
}  # fmt: skip


def axes_of(to: Body, x: NodeResult, axis: Any) -> Any:
    """Return the axes of a reduction as a vector; all of them for None."""
    if axis is not None:
        return to.const(np.array(axis, np.int32))
    if x.rank is not None:
        return to.const(np.arange(x.rank, dtype=np.int32))
    return to.Range(0, to.Rank(x), 1)


def _reduction(node: str) -> Any:
    def rule(to: Body, x: NodeResult, axis: Any, keepdims: bool) -> Any:
        return to.add(node, x, axes_of(to, x, axis), keep_dims=keepdims)

    return rule


for _name, _node in _REDUCTIONS.items():
    writes(_name)(_reduction(_node))


@writes("reduce_logsumexp")
def _(to: Body, x: NodeResult, axis: Any, keepdims: bool) -> Any:
    """Subtract the largest number first, unless it is infinite."""
    axes = axes_of(to, x, axis)
    largest = to.Max(x, axes, keep_dims=True)
    largest = to.SelectV2(to.IsFinite(largest), largest, to.ZerosLike(largest))
    found = to.AddV2(to.Log(to.Sum(to.Exp(to.Sub(x, largest)), axes, keep_dims=True)), largest)
    return found if keepdims else _squeezed(to, found, axis)


def _squeezed(to: Body, found: NodeResult, axis: Any) -> Any:
    if axis is None:
        return to.Reshape(found, [])
    return to.Squeeze(found, squeeze_dims=list(axis)) if axis else found


@writes("reduce_variance")
def variance(to: Body, x: NodeResult, axis: Any, keepdims: bool) -> Any:
    axes = axes_of(to, x, axis)
    away = to.Sub(x, to.Mean(x, axes, keep_dims=True))
    if x.kind == "c":
        part_type = "float32" if x.dtype == "complex64" else "float64"
        return to.Mean(to.Real(to.Mul(away, to.Conj(away)), Tout=part_type), axes, keep_dims=keepdims)
    return to.Mean(to.Square(away), axes, keep_dims=keepdims)


@writes("reduce_std")
def _(to: Body, x: NodeResult, axis: Any, keepdims: bool) -> Any:
    return to.Sqrt(variance(to, x, axis, keepdims))


@writes("count_nonzero")
def _(to: Body, x: NodeResult, axis: Any, keepdims: bool, dtype: Any) -> Any:
    is_set = x if x.dtype == "bool" else to.NotEqual(x, to.const("" if x.dtype == "string" else 0, x.dtype))
    return cast(to, to.Sum(to.Cast(is_set, DstT="int64"), axes_of(to, x, axis), keep_dims=keepdims), dtype)


@writes("spread")
def _(to: Body, tensor: NodeResult, shape: NodeResult, axis: Any, keepdims: bool) -> Any:
    """Give the reduced axes the size 1 again, then broadcast."""
    shape = cast(to, shape, "int32")
    if not keepdims:
        count = to.Size(shape)
        axes = (
            to.Range(0, count, 1) if axis is None else to.FloorMod(to.const(np.array(axis, np.int32)), count)
        )
        ones = to.OnesLike(axes) if isinstance(axes, NodeResult) else axes
        kept = to.DynamicStitch([to.Range(0, count, 1), axes], [shape, ones])
        tensor = to.Reshape(tensor, kept)
    return to.BroadcastTo(tensor, shape)


@writes("argmax")
def _(to: Body, input: NodeResult, axis: int | None, output_type: Any) -> Any:
    return to.ArgMax(input, axis or 0, output_type=output_type)


@writes("argmin")
def _(to: Body, input: NodeResult, axis: int | None, output_type: Any) -> Any:
    return to.ArgMin(input, axis or 0, output_type=output_type)


@writes("shifted")
def _(to: Body, x: NodeResult, axis: int, reverse: bool) -> Any:
    """Drop the last element along an axis, and put a zero before the first."""
    rank = rank_of(x)
    axis %= rank
    begin = [1 if reverse and i == axis else 0 for i in range(rank)]
    sizes = to.Sub(to.Shape(x), [int(i == axis) for i in range(rank)])
    pads = [[0, 0] if i != axis else [0, 1] if reverse else [1, 0] for i in range(rank)]
    return to.Pad(to.Slice(x, begin, sizes), pads)


@writes("product_of_others")
def _(to: Body, x: NodeResult, axis: Any) -> Any:
    """Multiply the products of all elements before and after each, along the merged axes."""
    rank = rank_of(x)
    axes = list(range(rank)) if axis is None else [i % rank for i in axis]
    others = [i for i in range(rank) if i not in axes]
    order = others + axes
    moved = to.Transpose(x, order)
    shape = to.Shape(moved)
    flat = to.Reshape(moved, to.ConcatV2([sliced(to, shape, 0, len(others)), [-1]], 0) if others else [-1])
    last = len(others)
    before = to.Cumprod(flat, last, exclusive=True)
    found = to.Mul(before, to.Cumprod(flat, last, exclusive=True, reverse=True))
    return to.Transpose(to.Reshape(found, shape), inverse(order))


@writes("occurrences")
def _(to: Body, arr: NodeResult, weights: NodeResult, minlength: NodeResult, maxlength: NodeResult, by_row: bool,
      binary_output: bool) -> Any:  # fmt: skip
    """Count with the size that the greatest number needs, between the limits."""
    whole = to.Reshape(arr, [-1])
    largest = to.Max(to.ConcatV2([whole, np.full(1, -1, arr.dtype)], 0), [0])
    size = to.Maximum(to.AddV2(largest, 1), scalar(to, minlength, arr.dtype))
    limit = scalar(to, maxlength, arr.dtype)
    size = to.SelectV2(to.Less(limit, 0), size, to.Minimum(size, limit))
    values = arr if by_row else whole
    if weights.shape != (0,) and not by_row:
        weights = to.Reshape(weights, [-1])
    return to.DenseBincount(values, size, weights, binary_output=binary_output)


@writes("histogram_fixed_width")
def _(to: Body, values: NodeResult, value_range: NodeResult, nbins: NodeResult, dtype: Any) -> Any:
    return to.HistogramFixedWidth(values, value_range, cast(to, nbins, "int32"), dtype=dtype)
