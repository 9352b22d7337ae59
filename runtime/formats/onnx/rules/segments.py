"""Reductions by group: scatters of rows to the number of their group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import END, InexpressibleError
from ..registry import exports

_KINDS = {"sum": ("add", 0), "prod": ("mul", 1), "max": ("max", None), "min": ("min", None)}


def _start(dtype: Any, how: str) -> Any:
    kind, start = _KINDS[how]
    if start is not None:
        return start
    limits = np.iinfo(dtype.numpy_dtype) if dtype.kind in "iu" else np.finfo(dtype.numpy_dtype)
    return limits.min if kind == "max" else limits.max


def _grouped(e: Any, data: Any, ids: Any, count: Any, how: str) -> Any:
    """Combine rows by group; rows with a negative number go to one more group, which is cut off."""
    if data.dtype.is_bool:
        raise InexpressibleError("sums of Booleans")
    rows, numbers = data, e.index(ids)
    rest = [e.size_of(data, i) for i in range(ids.rank, data.rank)]
    if ids.rank != 1:
        rows, numbers = e.reshape(data, e.concat([e.ints(-1), *rest])), e.reshape(numbers, [-1])
    inside = e.where(numbers < 0, e.squeeze(count, 0), numbers)
    target = e.zeros(e.concat([count + 1, *rest]), data.dtype, _start(data.dtype, how))
    places = e("Unsqueeze", inside, e.ints(1))
    found = e("ScatterND", target, places, rows, reduction=_KINDS[how][0])
    return e("Slice", found, e.ints(0), e.ints(-1), e.ints(0))


@exports(*[f"unsorted_segment_{how}" for how in _KINDS])
def _(e: Any, operation: Any, data: Any, ids: Any, count: Any) -> Any:
    return _grouped(
        e, data, ids, e.reshape(e.index(count), [1]), operation.type.removeprefix("unsorted_segment_")
    )


@exports(*[f"segment_{how}" for how in _KINDS])
def _(e: Any, operation: Any, data: Any, ids: Any) -> Any:
    how = operation.type.removeprefix("segment_")
    count = e("Slice", e.index(ids), e.ints(-1), e.ints(END), e.ints(0)) + 1
    found = _grouped(e, data, ids, count, how)
    if how in ("sum", "prod"):
        return found
    ones = e.zeros(e.shape_of(ids), dtypes.int64, 1)
    ones.shape = ids.shape
    members = _grouped(e, ones, ids, count, "sum")
    members.shape = (None,)
    is_empty = (e.unsqueeze(members, *range(1, data.rank)) if data.rank > 1 else members).equals(0)
    return e.where(is_empty, e.const(0, data.dtype), found)


@exports("occurrences")
def _(e: Any, operation: Any, arr: Any, weights: Any, least: Any, most: Any) -> Any:
    """Count the numbers of a vector, or add up their weights."""
    if operation.attrs["by_row"] or operation.attrs["binary_output"]:
        raise InexpressibleError("counts by row, or of presence")
    if most.value is None or least.value is None:
        raise InexpressibleError("the number of counters is computed by the program")
    own = operation.outputs[0].dtype
    numbers = e.reshape(e.index(arr), [-1])
    size = e("Max", e("ReduceMax", e.concat([numbers, e.ints(-1)]), keepdims=1) + 1, e.ints(int(least.value)))
    if int(most.value) >= 0:
        size = e("Min", size, e.ints(int(most.value)))
    has_weights = weights.shape not in (None, (0,))
    ones = e.expand(e.const(1, own), e("Shape", numbers, dtype=dtypes.int64))
    added = e.reshape(e.cast(weights, own), [-1]) if has_weights else ones
    limit = e.where(numbers < size, numbers, size)
    target = e.zeros(size + 1, own)
    found = e("ScatterElements", target, limit, added, axis=0, reduction="add")
    return e("Slice", found, e.ints(0), e.ints(-1), e.ints(0))
