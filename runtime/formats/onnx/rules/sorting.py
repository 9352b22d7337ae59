"""Sorting, searching, and sets of distinct elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..registry import exports


def _sorted(e: Any, x: Any, axis: int, direction: str) -> Any:
    return e(
        "TopK", x, e.size_of(x, axis), outputs=2, axis=axis, largest=int(direction == "DESCENDING"), sorted=1
    )


@exports("sort")
def _(e: Any, operation: Any, x: Any) -> Any:
    return _sorted(e, x, operation.attrs["axis"], operation.attrs["direction"])[0]


@exports("argsort")
def _(e: Any, operation: Any, x: Any) -> Any:
    places = _sorted(e, x, operation.attrs["axis"], operation.attrs["direction"])[1]
    return e.cast(places, operation.outputs[0].dtype)


@exports("top_k")
def _(e: Any, operation: Any, x: Any, k: Any) -> Any:
    values, places = e("TopK", x, e.reshape(e.index(k), [1]), outputs=2, axis=-1, largest=1, sorted=1)
    return [values, e.cast(places, operation.outputs[1].dtype)]


@exports("searchsorted")
def _(e: Any, operation: Any, row: Any, values: Any) -> Any:
    """Count the elements before each value."""
    wanted = e.unsqueeze(values, values.rank)
    own = e.unsqueeze(row, row.rank - 1)
    is_before = own < wanted if operation.attrs["side"] == "left" else own <= wanted
    count = e("ReduceSum", e.cast(is_before, dtypes.int64), e.ints(-1), keepdims=0)
    return e.cast(count, operation.outputs[0].dtype)


@exports("unique", "unique_with_counts")
def _(e: Any, operation: Any, x: Any) -> Any:
    values, _, places, counts = e("Unique", x, outputs=4, sorted=0)
    numbers = zip((places, counts), operation.outputs[1:], strict=False)
    return [values, *[e.cast(ref, value.dtype) for ref, value in numbers]]


@exports("dynamic_partition")
def _(e: Any, operation: Any, data: Any, partitions: Any) -> Any:
    flat = data
    if partitions.rank != 1:
        rest = [e.size_of(data, i) for i in range(partitions.rank, data.rank)]
        flat = e.reshape(data, e.concat([e.ints(-1), *rest]))
        partitions = e.reshape(partitions, [-1])
    return [
        e("Compress", flat, partitions.equals(i), axis=0) for i in range(operation.attrs["num_partitions"])
    ]


@exports("dynamic_stitch")
def _(e: Any, operation: Any, *parts: Any) -> Any:
    half = len(parts) // 2
    indices, data = parts[:half], parts[half:]
    flat = e.concat([e.reshape(e.index(each), [-1]) for each in indices])
    rest = [e.size_of(data[0], i) for i in range(indices[0].rank, data[0].rank)]
    shape = e.concat([e.ints(-1), *rest])
    rows = (
        e("Concat", *[e.reshape(each, shape) for each in data], axis=0)
        if half > 1
        else e.reshape(data[0], shape)
    )
    count = e("ReduceMax", flat, keepdims=1) + 1
    return e(
        "ScatterND", e.zeros(e.concat([count, *rest]), rows.dtype), e("Unsqueeze", flat, e.ints(1)), rows
    )


@exports("find_in_table")
def _(e: Any, operation: Any, keys: Any, default: Any) -> Any:
    """Compare the keys with those of the table, and take the value of the equal one."""
    table = operation.attrs["table"]
    own = e.const(np.asarray(table.keys), keys.dtype)
    is_equal = e.cast(e.unsqueeze(keys, keys.rank).equals(own), dtypes.int32)
    at = e("ArgMax", is_equal, dtype=dtypes.int64, axis=-1, keepdims=0)
    found = e("ReduceMax", is_equal, e.ints(-1), keepdims=0) > 0
    return e.where(found, e("Gather", e.const(np.asarray(table.values), default.dtype), at), default)
