"""Concatenation, splitting, padding, repetition and reversal."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import END, InexpressibleError
from ..registry import exports
from .creation import counting
from .shapes import constant


@exports("concat")
def _(e: Any, operation: Any, *values: Any) -> Any:
    return e("Concat", *values, axis=operation.attrs["axis"])


@exports("stack")
def _(e: Any, operation: Any, *values: Any) -> Any:
    axis = operation.attrs["axis"]
    axis = axis if axis >= 0 else axis + values[0].rank + 1
    return e("Concat", *[e.unsqueeze(value, axis) for value in values], axis=axis)


@exports("unstack")
def _(e: Any, operation: Any, value: Any) -> Any:
    axis = operation.attrs["axis"] % value.rank
    return [e("Gather", value, e.const(i, dtypes.int64), axis=axis) for i in range(operation.attrs["num"])]


@exports("split")
def _(e: Any, operation: Any, value: Any) -> Any:
    axis, count = operation.attrs["axis"], operation.attrs["num"]
    if count == 1:
        return value
    return e("Split", value, outputs=count, axis=axis, num_outputs=count)


@exports("split_sizes")
def _(e: Any, operation: Any, value: Any, sizes: Any) -> Any:
    axis = operation.attrs["axis"] % value.rank
    if sizes.value is not None and -1 in sizes.value:
        if value.shape[axis] is None:
            raise InexpressibleError("a size of -1 follows from a size that is not known")
        known = sizes.value.astype(np.int64)
        known[known == -1] = value.shape[axis] - known[known != -1].sum()
        sizes = e.ints(*known.tolist())
    count = len(operation.outputs)
    return e("Split", value, e.index(sizes), outputs=count, axis=axis)


@exports("pad")
def _(e: Any, operation: Any, x: Any, paddings: Any, filler: Any) -> Any:
    mode = operation.attrs["mode"]
    if mode != "CONSTANT":
        return _mirrored(e, x, paddings, mode)
    pairs = e.reshape(e.transpose(e.index(paddings), [1, 0]), [-1]) if paddings.value is None else None
    if pairs is None:
        pairs = e.ints(*np.asarray(paddings.value).T.ravel().tolist())
    return e("Pad", x, pairs, filler, mode="constant") if x.rank else x


def _mirrored(e: Any, x: Any, paddings: Any, mode: str) -> Any:
    """Pad with elements of the tensor itself: gather them, axis by axis."""
    for axis, (before, after) in enumerate(constant(paddings, "the padding").tolist()):
        if not before and not after:
            continue
        if x.shape[axis] is None:
            raise InexpressibleError("mirrored padding of an axis of unknown size")
        kind: Any = "reflect" if mode == "REFLECT" else "symmetric"
        places = np.pad(np.arange(x.shape[axis]), (before, after), kind)
        shape = x.shape
        x = e("Gather", x, e.ints(*places.tolist()), axis=axis)
        x.shape = (*shape[:axis], len(places), *shape[axis + 1 :])
    return x


@exports("reverse")
def _(e: Any, operation: Any, x: Any, axes: Any) -> Any:
    if axes.value is None:
        raise InexpressibleError("the axes are computed by the program")
    chosen = [int(axis) % x.rank for axis in np.ravel(axes.value)] if x.rank else []
    if not chosen:
        return x
    count = len(chosen)
    ends = [-END] * count
    return e("Slice", x, e.ints(*[-1] * count), e.ints(*ends), e.ints(*chosen), e.ints(*[-1] * count))


@exports("roll")
def _(e: Any, operation: Any, x: Any, shift: Any, axes: Any) -> Any:
    chosen = np.ravel(constant(axes, "the axis"))
    shifts = e.reshape(e.index(shift), [-1])
    for i, axis in enumerate(chosen.tolist()):
        size, by = e.size_of(x, axis), e("Gather", shifts, e.ints(i))
        start = size - e("Mod", by, e("Max", size, e.ints(1)))
        at, shape = e.ints(axis % x.rank), x.shape
        tail = e("Slice", x, start, size, at)
        x = e("Concat", tail, e("Slice", x, e.ints(0), start, at), axis=axis % x.rank)
        x.shape = shape
    return x


def repeated_rows(e: Any, repeats: Any) -> Any:
    """Return the numbers of rows, each as often as `repeats` says: [2, 0, 1] ==> [0, 0, 2]."""
    ends = e("CumSum", e.index(repeats), e.const(0, dtypes.int64))
    total = e("ReduceSum", e.index(repeats), keepdims=0)
    is_before = e.unsqueeze(counting(e, total), 1) >= ends
    return e("ReduceSum", e.cast(is_before, dtypes.int64), e.ints(1), keepdims=0, shape=(None,))


def rows_of_repeats(e: Any, x: Any, repeats: Any, axis: int) -> Any:
    """Return the indices of `repeat` along an axis."""
    shape = e.size_of(x, axis)
    every = e.expand(e.index(repeats), shape)
    every.shape = (None,)
    return repeated_rows(e, every)


@exports("repeat")
def _(e: Any, operation: Any, x: Any, repeats: Any) -> Any:
    axis = operation.attrs["axis"]
    if axis is None:
        x, axis = e.reshape(x, [-1]), 0
    return e("Gather", x, rows_of_repeats(e, x, repeats, axis), axis=axis)


@exports("reverse_sequence")
def _(e: Any, operation: Any, x: Any, lengths: Any) -> Any:
    time, batch = operation.attrs["seq_axis"] % x.rank, operation.attrs["batch_axis"] % x.rank
    order = [time, batch, *[axis for axis in range(x.rank) if axis not in (time, batch)]]
    found = e("ReverseSequence", e.transpose(x, order), e.index(lengths), time_axis=0, batch_axis=1)
    found.shape = None
    return e.transpose(found, np.argsort(order).tolist())


@exports("frame")
def _(e: Any, operation: Any, signal: Any, length: Any, step: Any, filler: Any) -> Any:
    axis = operation.attrs["axis"] % signal.rank
    size, long, by = signal.shape[axis], int(constant(length, "the length")), int(constant(step, "the step"))
    if size is None:
        raise InexpressibleError("the number of frames is not known")
    count = -(-size // by) if operation.attrs["pad_end"] else max(0, (size - long + by) // by)
    missing = max((count - 1) * by + long - size, 0)
    pads = [0] * signal.rank * 2
    pads[signal.rank + axis] = missing
    filled = e("Pad", signal, e.ints(*pads), filler) if missing else signal
    places = np.arange(count)[:, None] * by + np.arange(long)
    return e("Gather", filled, e.const(places.astype(np.int64)), axis=axis)


@exports("overlap_and_add")
def _(e: Any, operation: Any, signal: Any, step: Any) -> Any:
    *_, count, length = signal.shape
    if count is None or length is None:
        raise InexpressibleError("the number of frames is not known")
    by = int(constant(step, "the step"))
    total = length + by * (count - 1) if count else 0
    places = (np.arange(count)[:, None] * by + np.arange(length)).ravel()
    flat = e.reshape(signal, e.concat([*[e.size_of(signal, i) for i in range(signal.rank - 2)], e.ints(-1)]))
    matrix = np.zeros((len(places), total))
    matrix[np.arange(len(places)), places] = 1
    return e("MatMul", flat, e.const(matrix, signal.dtype))
