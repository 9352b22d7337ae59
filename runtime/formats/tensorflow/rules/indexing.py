"""Operations that select and scatter elements: gather, keys, scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.arrays.getitem import HOLE, parsed
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, writes
from .shapes import cast, coordinates_along, coordinates_of_batches, inverse, rank_of, with_shape  # fmt: skip

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


@writes("reverse_sequence")
def _(to: Body, input: NodeResult, seq_lengths: NodeResult, seq_axis: int, batch_axis: int) -> Any:
    rank = rank_of(input)
    return to.ReverseSequence(input, seq_lengths, seq_dim=seq_axis % rank, batch_dim=batch_axis % rank)
