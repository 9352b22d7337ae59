"""Scatters: elements or slices at places, replaced, added, or the largest kept."""

from __future__ import annotations

from typing import Any

from ..onnx_types import END, InexpressibleError
from ..registry import exports

_REDUCTIONS = {"update": "none", "add": "add", "max": "max", "min": "min", "mul": "mul"}


@exports("scatter_nd")
def _(e: Any, operation: Any, indices: Any, updates: Any, shape: Any) -> Any:
    if updates.dtype.kind == "S":
        return e("ScatterND", e.zeros(shape, updates.dtype), e.index(indices), updates)
    if updates.dtype.is_bool:
        raise InexpressibleError("sums of Booleans")
    return e("ScatterND", e.zeros(shape, updates.dtype), e.index(indices), updates, reduction="add")


def scattered(e: Any, x: Any, indices: Any, updates: Any, how: str) -> Any:
    """Return `x` with `updates` at `indices`."""
    if how == "sub":
        how, updates = "add", -updates
    if how == "update":
        return e("ScatterND", x, e.index(indices), updates)
    return e("ScatterND", x, e.index(indices), updates, reduction=_REDUCTIONS[how])


@exports(*[f"tensor_scatter_nd_{how}" for how in ("update", "add", "sub", "max", "min")])
def _(e: Any, operation: Any, x: Any, indices: Any, updates: Any) -> Any:
    return scattered(e, x, indices, updates, operation.type.removeprefix("tensor_scatter_nd_"))


@exports("scattered")
def _(e: Any, operation: Any, x: Any, indices: Any, updates: Any) -> Any:
    how = operation.attrs["how"]
    if how not in (*_REDUCTIONS, "sub"):
        raise InexpressibleError(f"ONNX has no scatter of the kind {how}")
    if not operation.attrs["nd"]:
        sizes = e.concat([e.shape_of(indices), e.slice(e.shape_of(x), 1, END)])
        updates = e.expand(updates, sizes)
        indices = e.unsqueeze(indices, indices.rank)
    return scattered(e, x, indices, updates, how)
