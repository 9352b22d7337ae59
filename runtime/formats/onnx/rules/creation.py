"""Tensors of numbers that follow from shapes: zeros, ranges, one-hot vectors, identity matrices."""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ..registry import exports


def counting(e: Any, size: Any) -> Any:
    """Return 0, 1, 2 … of int64, up to a scalar."""
    return e("Range", e.const(0, dtypes.int64), size, e.const(1, dtypes.int64), shape=(None,))


@exports("zeros", "ones")
def _(e: Any, operation: Any, shape: Any) -> Any:
    return e.zeros(shape, operation.outputs[0].dtype, int(operation.type == "ones"))


@exports("zeros_like", "ones_like")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.zeros(e.shape_of(x), operation.outputs[0].dtype, int(operation.type == "ones_like"))


@exports("blank")
def _(e: Any, operation: Any, *like: Any) -> Any:
    """Return a value that nothing reads; unknown sizes are 0."""
    spec = operation.outputs[0].spec
    return e.zeros(e.ints(*[size or 0 for size in spec.shape or ()]), spec.dtype)


@exports("fill")
def _(e: Any, operation: Any, shape: Any, value: Any) -> Any:
    return e.expand(value, shape)


@exports("identity_matrix")
def _(e: Any, operation: Any, rows: Any, columns: Any, batch: Any) -> Any:
    down = e.unsqueeze(counting(e, e.index(rows)), 1)
    across = counting(e, e.index(columns))
    matrix = e.cast(down.equals(across), operation.outputs[0].dtype)
    sizes = e.concat([e.index(batch), e("Shape", matrix, dtype=dtypes.int64, shape=(2,))])
    return e.expand(matrix, sizes)


@exports("range")
def _(e: Any, operation: Any, start: Any, limit: Any, delta: Any) -> Any:
    own = operation.outputs[0].dtype
    work = own if own.name in ("float32", "float64", "int32", "int64") else dtypes.float64
    if own.kind in "iu" and own.size < 4:
        work = dtypes.int32
    return e.cast(e("Range", *[e.cast(x, work) for x in (start, limit, delta)]), own)


@exports("linspace")
def _(e: Any, operation: Any, start: Any, stop: Any, num: Any) -> Any:
    axis = operation.attrs["axis"] % (start.rank + 1)
    count = e.index(num)
    steps = e("Max", count - 1, e.const(1, dtypes.int64))
    places = e.cast(counting(e, count), start.dtype)
    if start.rank:
        places = e.reshape(places, [-1 if i == axis else 1 for i in range(start.rank + 1)])
        start, stop = e.unsqueeze(start, axis), e.unsqueeze(stop, axis)
    step = (stop - start) / e.cast(steps, start.dtype)
    last = places.equals(e.cast(steps, start.dtype))
    return e.where(last, stop, start + places * step)


@exports("one_hot")
def _(e: Any, operation: Any, indices: Any, depth: Any, on: Any, off: Any) -> Any:
    axis = operation.attrs["axis"] % (indices.rank + 1)
    classes = counting(e, e.index(depth))
    if indices.rank:
        classes = e.reshape(classes, [-1 if i == axis else 1 for i in range(indices.rank + 1)])
    return e.where(e.unsqueeze(e.index(indices), axis).equals(classes), on, off)


@exports("sequence_mask")
def _(e: Any, operation: Any, lengths: Any, most: Any) -> Any:
    size = e("ReduceMax", e.reshape(e.index(lengths), [-1]), keepdims=0)
    width = e.where(e.index(most) < 0, size, e.index(most))
    found = counting(e, width) < e.unsqueeze(e.index(lengths), -1)
    return e.cast(found, operation.outputs[0].dtype)


@exports("meshgrid")
def _(e: Any, operation: Any, *values: Any) -> Any:
    order = list(range(len(values)))
    if operation.attrs["indexing"] == "xy":
        order[:2] = order[:2][::-1]
    flat = [e.reshape(value, [-1]) for value in values]
    by_axis = [flat[order.index(axis)] for axis in range(len(values))]
    shape = e.concat([e.size_of(each, 0) for each in by_axis])
    return [
        e.expand(e.reshape(each, [-1 if i == axis else 1 for i in range(len(values))]), shape)
        for each, axis in zip(flat, order, strict=True)
    ]
