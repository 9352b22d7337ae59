"""Operations that select and scatter elements: gather, keys, scatter, sort, search, sparse coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ops.arrays.getitem import HOLE, parsed
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, writes
from .shapes import (
    axis_back,
    axis_last,
    cast,
    coordinates_along,
    coordinates_of_batches,
    inverse,
    joined,
    part,
    rank_of,
    shape_of,
    sliced,
    with_shape,
)  # fmt: skip

direct(
    """
    gather=GatherV2(params,indices,axis) tensor_scatter_nd_add=TensorScatterAdd
    tensor_scatter_nd_max=TensorScatterMax tensor_scatter_nd_min=TensorScatterMin
    tensor_scatter_nd_sub=TensorScatterSub tensor_scatter_nd_update=TensorScatterUpdate unique=Unique
    unique_with_counts=UniqueWithCounts unravel_index=UnravelIndex
    """
)


@writes("gather_nd")
def _(to: Body, params: NodeResult, indices: NodeResult, batch_dims: int) -> Any:
    return to.GatherNd(params, coordinates_of_batches(to, indices, batch_dims))


@writes("take_along")
def _(to: Body, x: NodeResult, indices: NodeResult, axis: int) -> Any:
    return to.GatherNd(x, coordinates_along(to, indices, axis))


@writes("put_along")
def _(to: Body, values: NodeResult, indices: NodeResult, shape: NodeResult, axis: int) -> Any:
    return to.ScatterNd(coordinates_along(to, indices, axis), values, cast(to, shape, indices.dtype))


@writes("put_back_nd")
def _(to: Body, updates: NodeResult, indices: NodeResult, shape: NodeResult, batch_dims: int) -> Any:
    return to.ScatterNd(
        coordinates_of_batches(to, indices, batch_dims), updates, cast(to, shape, indices.dtype)
    )


@writes("put_back")
def _(to: Body, rows: NodeResult, indices: NodeResult, shape: NodeResult, axis: int, batch_dims: int) -> Any:
    """Scatter along the first axes, to which the axes of the indices are moved."""
    inner = rank_of(indices)
    if not inner and not axis:
        rows, indices, inner = to.ExpandDims(rows, 0), to.ExpandDims(indices, 0), 1
    elif not inner:
        raise RefusedByRuleError("a scalar index along another axis than the first")
    shape = cast(to, shape, indices.dtype)
    batch = batch_dims % inner if batch_dims < 0 else batch_dims
    coordinates = coordinates_of_batches(
        to, to.ExpandDims(indices, inner) if not batch else _column(to, indices), batch
    )
    rank = rank_of(rows) - inner + 1 + batch
    axis %= rank
    if axis == batch:
        return to.ScatterNd(coordinates, rows, shape)
    kept = inner - batch
    places = [i for i in range(rank_of(rows)) if not (i < batch or axis <= i < axis + kept)]
    moved = to.Transpose(rows, [*range(batch), *range(axis, axis + kept), *places])
    order = [*range(batch), axis, *[i for i in range(batch, rank) if i != axis]]
    made = to.ScatterNd(coordinates, moved, to.GatherV2(shape, order, 0))
    return to.Transpose(made, inverse(order))


def _column(to: Body, indices: NodeResult) -> NodeResult:
    found = to.ExpandDims(indices, rank_of(indices))
    return with_shape(found, None if indices.shape is None else (*indices.shape, 1))


class Key:
    """A key in the form of TensorFlow's `StridedSlice`: vectors, and masks of bits."""

    def __init__(self, to: Body, key: str, parts: list[NodeResult]) -> None:
        self.to, self.rest = to, iter(parts)
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(
            ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
        )
        for number, item in enumerate(parsed(key)):
            self._add(item, 1 << number)
        items = [*self.begin, *self.end, *self.strides]
        self.dtype = (
            "int64"
            if any(isinstance(each, NodeResult) and each.dtype == "int64" for each in items)
            or any(not isinstance(each, NodeResult) and abs(each) >= 1 << 31 for each in items)
            else "int32"
        )

    def _add(self, item: Any, bit: int) -> None:
        begin, end, stride = 0, 0, 1
        if item is None:
            self.masks["new_axis_mask"] |= bit
        elif item is Ellipsis:
            self.masks["ellipsis_mask"] |= bit
        elif isinstance(item, slice):
            begin, end, stride = (
                self._part(each, default)
                for each, default in ((item.start, 0), (item.stop, 0), (item.step, 1))
            )
            self.masks["begin_mask"] |= bit * (item.start is None)
            self.masks["end_mask"] |= bit * (item.stop is None)
        else:
            self.masks["shrink_axis_mask"] |= bit
            begin = self._part(item, 0)
            end = self.to.AddV2(begin, 1) if isinstance(begin, NodeResult) else begin + 1
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def _part(self, item: Any, default: int) -> Any:
        return default if item is None else next(self.rest) if item is HOLE else item

    def vectors(self) -> list[Any]:
        """Return begin, end and strides."""
        return [self._vector(items) for items in (self.begin, self.end, self.strides)]

    def _vector(self, items: list[Any]) -> Any:
        if not any(isinstance(item, NodeResult) for item in items):
            return self.to.const(np.array(items, self.dtype))
        return self.to.Pack([cast(self.to, item, self.dtype) for item in items], axis=0)


@writes("getitem")
def _(to: Body, tensor: NodeResult, parts: list[NodeResult], key: str) -> Any:
    found = Key(to, key, parts)
    return to.StridedSlice(tensor, *found.vectors(), **found.masks)


@writes("put_back_item")
def put_back_item(to: Body, value: NodeResult, shape: NodeResult, parts: list[NodeResult], key: str) -> Any:
    """Scatter a value into zeros of this shape, at a key."""
    found = Key(to, key, parts)
    return to.StridedSliceGrad(cast(to, shape, found.dtype), *found.vectors(), value, **found.masks)


@writes("setitem")
def _(to: Body, tensor: NodeResult, value: NodeResult, parts: list[NodeResult], key: str) -> Any:
    found = Key(to, key, parts)
    vectors = found.vectors()
    shape = to.Shape(to.StridedSlice(tensor, *vectors, **found.masks))
    return to.TensorStridedSliceUpdate(tensor, *vectors, to.BroadcastTo(value, shape), **found.masks)


@writes("scatter_nd")
def _(to: Body, indices: NodeResult, updates: NodeResult, shape: NodeResult) -> Any:
    return to.ScatterNd(indices, updates, cast(to, shape, indices.dtype))


def descending(to: Body, x: NodeResult) -> tuple[NodeResult, NodeResult]:
    """Return the elements of the last axis in descending order, equal ones in their order, and their indices."""
    size = part(to, to.Shape(x), -1)
    values, indices = to.TopKV2(x, size)
    return values, indices


def turned(to: Body, x: NodeResult) -> Any:
    """Return elements in the opposite order of size."""
    return to.Neg(x) if x.kind == "f" else to.Invert(x)


def _ordered(to: Body, x: NodeResult, direction: str) -> tuple[NodeResult, NodeResult]:
    """Return the sorted elements of the last axis, none of which is NaN, and their indices."""
    if direction == "DESCENDING":
        return descending(to, x)
    values, indices = descending(to, turned(to, x))
    return turned(to, values), indices


def _without_nan(to: Body, x: NodeResult, is_nan: NodeResult) -> Any:
    return to.SelectV2(is_nan, to.const(np.inf, x.dtype), x)


@writes("sort")
def _(to: Body, values: NodeResult, axis: int, direction: str) -> Any:
    """Sort; NaN is the largest number, and gets its places after that: TensorFlow's order of NaN is not defined."""
    x, order = axis_last(to, values, axis)
    if x.kind != "f":
        return axis_back(to, _ordered(to, x, direction)[0], order)
    is_nan = to.IsNan(x)
    found, _ = _ordered(to, _without_nan(to, x, is_nan), direction)
    count = to.Sum(cast(to, is_nan, "int32"), [-1], keep_dims=True)
    size = part(to, to.Shape(x), -1)
    places = to.Range(0, size, 1)
    is_number = (
        to.GreaterEqual(places, count) if direction == "DESCENDING" else to.Less(places, to.Sub(size, count))
    )
    return axis_back(to, to.SelectV2(is_number, found, to.const(np.nan, x.dtype)), order)


@writes("argsort")
def _(to: Body, values: NodeResult, axis: int, direction: str, stable: bool) -> Any:
    """Sort as `sort`: infinity and NaN are equal at first, and then all elements are sorted by whether they are NaN."""
    x, order = axis_last(to, values, axis)
    if x.kind != "f":
        return axis_back(to, _ordered(to, x, direction)[1], order)
    is_nan = to.IsNan(x)
    _, first = _ordered(to, _without_nan(to, x, is_nan), direction)
    kinds = cast(to, to.GatherNd(is_nan, coordinates_along(to, _like(first, x), -1)), "int32")
    _, then = _ordered(to, kinds, direction)
    return axis_back(to, to.GatherNd(first, coordinates_along(to, _like(then, x), -1)), order)


def _like(indices: NodeResult, x: NodeResult) -> NodeResult:
    return with_shape(indices, x.shape)


@writes("top_k")
def _(to: Body, input: NodeResult, k: NodeResult, index_type: Any) -> Any:
    return to.TopKV2(input, to.Reshape(k, []), index_type=index_type)


@writes("searchsorted")
def _(to: Body, sequence: NodeResult, values: NodeResult, side: str, out_type: Any) -> Any:
    """Search in rows: TensorFlow's operations take matrices."""
    rows = to.Reshape(sequence, joined(to, [-1], to.Reshape(part(to, to.Shape(sequence), -1), [1])))
    wanted = to.Reshape(values, joined(to, to.Reshape(part(to, to.Shape(rows), 0), [1]), [-1]))
    found = (to.LowerBound if side == "left" else to.UpperBound)(rows, wanted, out_type=out_type)
    return to.Reshape(found, shape_of(to, values))


@writes("reverse_sequence")
def _(to: Body, input: NodeResult, seq_lengths: NodeResult, seq_axis: int, batch_axis: int) -> Any:
    rank = rank_of(input)
    return to.ReverseSequence(input, seq_lengths, seq_dim=seq_axis % rank, batch_dim=batch_axis % rank)


def _sparse(to: Body, operands: Sequence[NodeResult]) -> list[NodeResult]:
    """Return sparse tensors, each as coordinates, values and shape, with coordinates of int64."""
    return [each if number % 3 == 1 else cast(to, each, "int64") for number, each in enumerate(operands)]


@writes("combined_sets")
def _(to: Body, *operands: NodeResult, operation: str) -> Any:
    return to.SparseToSparseSetOperation(*_sparse(to, operands), set_operation=operation)


@writes("sequence_distances")
def _(to: Body, *operands: NodeResult, normalize: bool) -> Any:
    return to.EditDistance(*_sparse(to, operands), normalize=normalize)


@writes("set_sizes")
def _(to: Body, indices: NodeResult, values: NodeResult, shape: NodeResult) -> Any:
    return to.SetSize(*_sparse(to, (indices, values, shape)))


@writes("reshaped_coordinates")
def _(to: Body, indices: NodeResult, shape: NodeResult, new_shape: NodeResult) -> Any:
    found = to.SparseReshape(*[cast(to, each, "int64") for each in (indices, shape, new_shape)])
    return [cast(to, each, spec.dtype) for each, spec in zip(found, to.outputs, strict=True)]


def flat_coordinates(to: Body, indices: NodeResult, shape: NodeResult) -> Any:
    """Return the number that each element has in a dense tensor of this shape."""
    strides = to.Cumprod(cast(to, shape, indices.dtype), 0, exclusive=True, reverse=True)
    return to.Sum(to.Mul(indices, strides), [1])


@writes("checked_coordinates")
def _(to: Body, indices: NodeResult, dense_shape: NodeResult, in_order: bool) -> Any:
    shape = cast(to, dense_shape, indices.dtype)
    inside = to.LogicalAnd(to.GreaterEqual(indices, 0), to.Less(indices, shape))
    to.Assert(to.All(inside, [0, 1]), ["indices are out of bounds of the dense shape", indices, shape])
    if in_order:
        flat = flat_coordinates(to, indices, shape)
        rising = to.Less(sliced(to, flat, None, -1), sliced(to, flat, 1, None))
        to.Assert(to.All(rising, [0]), ["indices are out of order, or repeated", indices])
    return to.Identity(indices)


def order_of_rows(to: Body, indices: NodeResult) -> NodeResult:
    """Return the stable order that sorts rows of coordinates."""
    zeros = to.ZerosLike(to.ExpandDims(to.Sum(indices, [0]), 0))
    shape = to.AddV2(to.Max(to.ConcatV2([indices, zeros], 0), [0]), 1)
    return descending(to, to.Invert(flat_coordinates(to, indices, shape)))[1]


@writes("coordinate_order")
def _(to: Body, indices: NodeResult) -> Any:
    return cast(to, order_of_rows(to, indices), to.outputs[0].dtype)


@writes("distinct_coordinates")
def _(to: Body, indices: NodeResult) -> Any:
    """Sort the rows; then the distinct ones are in order, too."""
    order = order_of_rows(to, indices)
    rows, numbers = to.UniqueV2(to.GatherV2(indices, order, 0), [0], out_idx=to.outputs[1].dtype)
    return [rows, to.GatherV2(numbers, to.InvertPermutation(order), 0)]
