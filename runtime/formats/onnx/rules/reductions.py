"""Reductions along axes. Sums and products of integers wrap around, as those of agc do."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import END
from ..registry import exports
from .gathering import is_true
from .scans import scanned, scanned_slices, with_slice

_OPERATORS = {
    "reduce_sum": "ReduceSum", "reduce_prod": "ReduceProd", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin",
    "reduce_mean": "ReduceMean",
}  # fmt: skip


def reduced(e: Any, operator: str, x: Any, axes: Any, keepdims: bool) -> Any:
    """Reduce along axes; along all for None."""
    if axes is not None and not axes:
        return x
    if not x.rank:
        return x
    if x.dtype.kind in "iu" and operator in _WRAPPING:
        return e.cast(_WRAPPING[operator](e, x, axes, keepdims), x.dtype)
    return _node(e, operator, x, axes, keepdims)


def _node(e: Any, operator: str, x: Any, axes: Any, keepdims: bool) -> Any:
    operands = [x] if axes is None else [x, e.ints(*axes)]
    found = e(operator, *operands, keepdims=int(keepdims))
    if x.shape is not None:
        gone = set(range(x.rank)) if axes is None else {axis % x.rank for axis in axes}
        sizes = [1 if i in gone else size for i, size in enumerate(x.shape) if keepdims or i not in gone]
        found.shape = tuple(sizes)
    return found


def _sum_of_integers(e: Any, x: Any, axes: Any, keepdims: bool) -> Any:
    """Return the sum in int64. ONNX Runtime adds integers in float64, which is exact for parts of 32 bits."""
    wide = e.index(x)
    if x.dtype.size < 8:
        return _node(e, "ReduceSum", wide, axes, keepdims)
    high = wide / 2**32
    parts = [_node(e, "ReduceSum", each, axes, keepdims) for each in (high, wide - high * 2**32)]
    return parts[0] * 2**32 + parts[1]


def _product_of_integers(e: Any, x: Any, axes: Any, keepdims: bool) -> Any:
    """Return the product in int64, which wraps around; that of ONNX Runtime saturates."""
    found, gone = e.index(x), sorted(range(x.rank) if axes is None else {axis % x.rank for axis in axes})
    for axis in gone:
        found = _product_along(e, found, axis)
    return found if keepdims else e.squeeze(found, *gone)


def _product_along(e: Any, x: Any, axis: int) -> Any:
    """Return the product along an axis, whose size becomes 1: of slices, or the last state of a scan."""
    size = x.shape[axis]
    if size and size <= _FEW:
        return functools.reduce(lambda a, b: a * b, [e.slice(x, i, i + 1, axis) for i in range(size)])
    rows = with_slice(e, x, axis, 1, at_end=False)
    states = scanned_slices(e, rows, axis, lambda state, row: state * row, 1)
    last = e("Slice", states, e.ints(-1), e.ints(END), e.ints(axis))
    last.shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return last


_FEW = 8
"""The largest size of an axis whose slices are multiplied without a loop."""

_WRAPPING = {"ReduceSum": _sum_of_integers, "ReduceProd": _product_of_integers}


@exports("reduce_logsumexp")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Take the largest element out of the sum, so that no power overflows; newer runtimes do not."""
    attrs = _axes(operation)
    largest = reduced(e, "ReduceMax", x, attrs["axes"], True)
    largest = e.where(e("Abs", largest).equals(np.inf), 0.0, largest)
    logs = e("Log", reduced(e, "ReduceSum", e("Exp", x - largest), **attrs))
    return logs + (
        largest if attrs["keepdims"] or not x.rank else _dropped(e, largest, attrs["axes"], x.rank)
    )


def _dropped(e: Any, x: Any, axes: Any, rank: int) -> Any:
    """Return `x` without reduced axes, which have the size 1."""
    gone = range(rank) if axes is None else [axis % rank for axis in axes]
    return e.squeeze(x, *gone) if len(gone) else x


@exports("reduce_sum", "reduce_prod")
def _(e: Any, operation: Any, x: Any) -> Any:
    return reduced(e, _OPERATORS[operation.type], x, **_axes(operation))


@exports("reduce_max", "reduce_min")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Reduce; ONNX Runtime may lose a NaN, which is the result for agc."""
    found = reduced(e, _OPERATORS[operation.type], x, **_axes(operation))
    if x.dtype.kind != "f":
        return found
    has_nan = reduced(
        e, "ReduceMax", e.cast(e("IsNaN", x, dtype=dtypes.bool_), dtypes.float32), **_axes(operation)
    )
    return e.where(has_nan > 0.0, np.nan, found)


@exports("reduce_mean")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Reduce; the mean of no elements is NaN, for which ONNX Runtime has 0."""
    if x.dtype.kind == "f":
        mean = reduced(e, "ReduceMean", x, **_axes(operation))
        if _has_elements(x, operation.attrs["axis"]):
            return mean
        return e.where(_count(e, operation, x).equals(0), np.nan, mean)
    wide = x if x.dtype.size == 8 else e.index(x)
    total = reduced(e, "ReduceSum", wide, **_axes(operation))
    return e.cast(total / e.cast(_count(e, operation, x), wide.dtype), x.dtype)


def _count(e: Any, operation: Any, x: Any) -> Any:
    """Return the number of elements that are reduced to each one of the result."""
    ones = e.zeros(e.shape_of(x), dtypes.int64, 1)
    ones.shape = x.shape
    return reduced(e, "ReduceSum", ones, **_axes(operation))


def _has_elements(x: Any, axes: Any) -> bool:
    """Return whether the reduced axes are known to have elements."""
    if x.shape is None:
        return False
    return all(x.shape[axis] for axis in (range(x.rank) if axes is None else axes))


def _axes(operation: Any) -> dict[str, Any]:
    return {"axes": operation.attrs["axis"], "keepdims": operation.attrs["keepdims"]}


@exports("reduce_all", "reduce_any")
def _(e: Any, operation: Any, x: Any) -> Any:
    operator = "ReduceMin" if operation.type == "reduce_all" else "ReduceMax"
    return (
        reduced(e, operator, e.cast(x, dtypes.int32), **_axes(operation)) > 0
    )  # the largest of nothing is below 0


@exports("reduce_euclidean_norm")
def _(e: Any, operation: Any, x: Any) -> Any:
    if x.dtype.kind == "f":
        return reduced(e, "ReduceL2", x, **_axes(operation)) if x.rank else e("Abs", x)
    wide = e.cast(x, dtypes.float64)
    return e.cast(e("Sqrt", reduced(e, "ReduceSum", wide * wide, **_axes(operation))), x.dtype)


@exports("reduce_variance", "reduce_std")
def _(e: Any, operation: Any, x: Any) -> Any:
    axes = operation.attrs["axis"]
    difference = x - reduced(e, "ReduceMean", x, axes, True)
    variance = reduced(e, "ReduceMean", difference * difference, **_axes(operation))
    return variance if operation.type == "reduce_variance" else e("Sqrt", variance)


@exports("count_nonzero")
def _(e: Any, operation: Any, x: Any) -> Any:
    count = reduced(e, "ReduceSum", e.cast(is_true(e, x), dtypes.int64), **_axes(operation))
    return e.cast(count, operation.outputs[0].dtype)


@exports("argmax", "argmin")
def _(e: Any, operation: Any, x: Any) -> Any:
    axis = operation.attrs["axis"]
    axis = 0 if axis is None else axis
    operator, worst = ("ArgMax", -np.inf) if operation.type == "argmax" else ("ArgMin", np.inf)
    if x.dtype.kind == "f":
        x = e.where(e("IsNaN", x, dtype=dtypes.bool_), worst, x)
    found = e(operator, x, dtype=dtypes.int64, axis=axis, keepdims=0)
    return e.cast(found, operation.outputs[0].dtype)


@exports("product_of_others")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Multiply all elements but one: the products before it and after it."""
    axes = operation.attrs["axis"]
    order = list(range(x.rank)) if axes is None else [axis % x.rank for axis in axes]
    if len(order) != 1:
        kept = [i for i in range(x.rank) if i not in order]
        turned = e.transpose(x, [*kept, *order])
        flat = e.reshape(turned, e.concat([*[e.size_of(x, i) for i in kept], e.ints(-1)]))
        flat.shape = (*[x.shape[i] for i in kept], None)
        both = _others(e, flat, len(kept), scanned)
        back = e.reshape(both, e.concat([e.size_of(x, i) for i in [*kept, *order]]))
        back.shape = tuple(x.shape[i] for i in [*kept, *order])
        return e.transpose(back, np.argsort([*kept, *order]).tolist())
    return _others(e, x, order[0], scanned)


def _others(e: Any, x: Any, axis: int, scanned: Any) -> Any:
    def product(state: Any, row: Any) -> Any:
        return state * row

    before = scanned(e, x, axis, product, 1, exclusive=True, reverse=False)
    return before * scanned(e, x, axis, product, 1, exclusive=True, reverse=True)
