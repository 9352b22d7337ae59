"""Operators that take or replace elements by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import dtypes
from .....core.conversion import convert_to_tensor
from .....core.shapes import normal_axis
from .....core.tensor import EagerTensor
from .....ops.arrays import gather_ops, reshape, scatter, shape_ops, sort
from .....ops.arrays.concat_split import stack
from .....ops.arrays.permutation import unique_with_counts
from .....ops.arrays.where_ops import boolean_mask, choose, true_indices
from .....ops.math.cast import cast
from .....ops.math.comparison import not_equal
from .....ops.reduce.scans import cumsum
from .....ops.state.variable_scatter import scattered
from .registry import OperatorCall, axes_of, numbers, operator, rank_of

_FAR = 2**31


@operator("Slice")
def _(
    call: OperatorCall, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None
) -> Any:
    if starts is None:
        starts, ends = (convert_to_tensor(np.array(call.get(name), np.int64)) for name in ("starts", "ends"))
    count = starts.shape[0] if starts.shape.rank == 1 else None
    if count is None:
        raise ValueError("the number of sliced axes is not known")
    chosen = axes_of(call, axes) or tuple(range(count))
    by = numbers(steps, "a step") if steps is not None else [1] * count
    rank = rank_of(x)
    key: list[Any] = [slice(None)] * rank
    for i, axis in enumerate(normal_axis(each, rank) for each in chosen):
        key[axis] = slice(*_bounds(_bound(starts, i), _bound(ends, i), by[i], x.shape[axis]))
    return x[tuple(key)]


def _bound(values: Any, i: int) -> Any:
    return int(values._array[i]) if isinstance(values, EagerTensor) else values[i]


def _bounds(start: Any, end: Any, step: int, size: int | None) -> tuple[Any, Any, int]:
    """Return the bounds of Python's slice for those of ONNX, which clamps a start before the first element."""
    if step > 0:
        return (start, None if isinstance(end, int) and end >= _FAR else end, step)
    if isinstance(start, int) and size is not None and start < -size:
        start = 0
    return (
        None if isinstance(start, int) and start >= _FAR else start,
        None if isinstance(end, int) and end <= -_FAR else end,
        step,
    )


def from_start(indices: Any, size: Any) -> Any:
    """Return indices with negative ones counted from the end."""
    if isinstance(indices, EagerTensor) and (indices._array >= 0).all():
        return indices
    return choose(indices < 0, indices + cast(size, indices.dtype), indices)


@operator("Gather")
def _(call: OperatorCall, x: Any, indices: Any) -> Any:
    axis = call.get("axis", 0)
    return gather_ops.gather(x, from_start(indices, shape_ops.shape(x, dtypes.int64)[axis]), axis=axis)


@operator("GatherElements")
def _(call: OperatorCall, x: Any, indices: Any) -> Any:
    rank = rank_of(x)
    axis = normal_axis(call.get("axis", 0), rank)
    whole = shape_ops.shape(x, dtypes.int64)
    at = from_start(indices, whole[axis])
    # other axes of the indices may be shorter
    sizes = shape_ops.shape(indices, dtypes.int64)
    key = tuple(slice(None) if i == axis else slice(None, sizes[i]) for i in range(rank))
    return gather_ops.take_along(x[key], at, axis)


def _from_start_nd(x: Any, indices: Any, batch: int = 0) -> Any:
    depth = indices.shape[-1]
    sizes = shape_ops.shape(x, dtypes.int64)[batch : batch + depth]
    return from_start(indices, sizes)


@operator("GatherND")
def _(call: OperatorCall, x: Any, indices: Any) -> Any:
    batch = call.get("batch_dims", 0)
    return gather_ops.gather_nd(x, _from_start_nd(x, indices, batch), batch)


_WAYS = {"none": "update", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@operator("ScatterND")
def _(call: OperatorCall, x: Any, indices: Any, updates: Any) -> Any:
    return _scattered(x, _from_start_nd(x, indices), updates, _WAYS[call.get("reduction", "none")])


def _scattered(x: Any, indices: Any, updates: Any, how: str) -> Any:
    functions = {
        "update": scatter.tensor_scatter_nd_update,
        "add": scatter.tensor_scatter_nd_add,
        "max": scatter.tensor_scatter_nd_max,
        "min": scatter.tensor_scatter_nd_min,
    }
    if how in functions:
        return functions[how](x, indices, updates)
    return scattered(x, indices, updates, how=how, nd=True)


@operator("ScatterElements", "Scatter")
def _(call: OperatorCall, x: Any, indices: Any, updates: Any) -> Any:
    axis = normal_axis(call.get("axis", 0), rank_of(x))
    at = from_start(indices, shape_ops.shape(x, dtypes.int64)[axis])
    sizes = shape_ops.shape(indices, dtypes.int64)
    every = true_indices(
        reshape.broadcast_to(convert_to_tensor(True), sizes)
    )  # the coordinates of all elements
    columns = [every[:, i] for i in range(rank_of(x))]
    columns[axis] = reshape.reshape(cast(at, dtypes.int64), [-1])
    flat = reshape.reshape(updates, [-1])
    return _scattered(x, stack(columns, 1), flat, _WAYS[call.get("reduction", "none")])


@operator("NonZero")
def _(call: OperatorCall, x: Any) -> Any:
    found = true_indices(x if x.dtype.is_bool else not_equal(x, cast(0, x.dtype)))
    return reshape.transpose(found)


@operator("Compress")
def _(call: OperatorCall, x: Any, mask: Any) -> Any:
    axis = call.get("axis")
    if axis is None:
        x, axis = reshape.reshape(x, [-1]), 0
    axis = normal_axis(axis, rank_of(x))
    size = mask.shape[0]
    if size is not None and x.shape[axis] is not None and size < x.shape[axis]:
        x = x[(*[slice(None)] * axis, slice(size))]
    return boolean_mask(x, mask, axis)


@operator("TopK")
def _(call: OperatorCall, x: Any, k: Any = None) -> Any:
    count = convert_to_tensor(call.get("k")) if k is None else k
    order = list(range(rank_of(x)))
    axis = normal_axis(call.get("axis", -1), len(order))
    order[axis], order[-1] = order[-1], order[axis]
    turned = reshape.transpose(x, order)
    if call.get("largest", 1):
        values, places = sort.largest(turned, reshape.reshape(cast(count, dtypes.int32), []), dtypes.int64)
    else:
        places = cast(sort.argsort(turned, -1, "ASCENDING", True), dtypes.int64)
        places = places[..., : reshape.reshape(cast(count, dtypes.int32), [])]
        values = gather_ops.take_along(turned, places, -1)
    return [reshape.transpose(values, order), reshape.transpose(places, order)]


@operator("Unique")
def _(call: OperatorCall, x: Any) -> Any:
    if call.get("axis") is not None:
        raise ValueError("unique slices are not supported")
    flat = reshape.reshape(x, [-1])
    values, places, counts = unique_with_counts(flat, dtypes.int64)
    last = sort.argsort(places, -1, "ASCENDING", True)
    starts = gather_ops.gather(last, _starts(counts))
    if call.get("sorted", 1):
        order = sort.argsort(values, -1, "ASCENDING", True)
        rank = cast(sort.argsort(order, -1, "ASCENDING", True), dtypes.int64)
        values, counts, starts = (gather_ops.gather(each, order) for each in (values, counts, starts))
        places = gather_ops.gather(rank, places)
    return [values, cast(starts, dtypes.int64), places, counts][: max(call.results, 1)]


def _starts(counts: Any) -> Any:
    return cumsum(counts, 0, True)
