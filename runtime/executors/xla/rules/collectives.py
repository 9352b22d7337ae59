"""Rules of collective operations: XLA's collectives along the axis of the devices that run the program.

total = all_reduce x [reduction="sum"]     ==>     total = psum(x, "replica")

A program of one device has no axis: its values are those of all replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..region_trace import RuleContext
from ..rule_registry import NotLoweredError, lowers

Array = Any

_REDUCE: dict[str, Callable[..., Array]] = {
    "sum": lax.psum,
    "mean": lax.psum,
    "min": lax.pmin,
    "max": lax.pmax,
}


@lowers("all_reduce")
def _(site: RuleContext, tensors: Sequence[Array]) -> list[Array]:
    kind = site.attrs.get("reduction", "sum")
    return [_reduced(site, jnp.asarray(tensor), kind) for tensor in tensors]


def _reduced(site: RuleContext, tensor: Array, reduction: str) -> Array:
    axis = site.trace.axis
    if axis is None:
        return tensor
    if jnp.iscomplexobj(tensor):
        return lax.complex(_reduced(site, tensor.real, reduction), _reduced(site, tensor.imag, reduction))
    total = _REDUCE[reduction](tensor.astype(_WIDER.get(tensor.dtype, tensor.dtype)), axis.name)
    return (total / np.array(axis.size, total.dtype) if reduction == "mean" else total).astype(tensor.dtype)


_WIDER = {
    np.dtype(np.int8): np.int32,
    np.dtype(np.int16): np.int32,
    np.dtype(np.uint8): np.uint32,
    np.dtype(np.uint16): np.uint32,
}
"""The types in which small integers are added up; they wrap as in their own type."""


@lowers("broadcast_from")
def _(site: RuleContext, tensor: Array) -> Array:
    axis, root = site.trace.axis, site.attrs.get("root", 0)
    _demand_member(site, root)
    return tensor if axis is None else lax.all_gather(tensor, axis.name)[root]


@lowers("reduce_to")
def _(site: RuleContext, tensor: Array) -> Array:
    axis, root = site.trace.axis, site.attrs.get("root", 0)
    _demand_member(site, root)
    if axis is None:
        return tensor
    total = _reduced(site, jnp.asarray(tensor), "sum")
    return jnp.where(lax.axis_index(axis.name) == root, total, jnp.zeros_like(total))


def _demand_member(site: RuleContext, root: int) -> None:
    count = site.trace.axis.size if site.trace.axis is not None else 1
    if not 0 <= root < count:
        raise NotLoweredError(f"process {root} is not one of the {count} processes")


@lowers("all_gather")
def _(site: RuleContext, tensor: Array) -> Array:
    axis = site.trace.axis
    if axis is None:
        return tensor
    along = site.attrs.get("axis", 0) % tensor.ndim
    return lax.all_gather(tensor, axis.name, axis=along, tiled=True)


@lowers("reduce_scatter")
def _(site: RuleContext, tensor: Array, size: Array) -> Array:
    axis = site.trace.axis
    if axis is None:
        return tensor
    along = site.attrs.get("axis", 0) % tensor.ndim
    if site.shape[along] * axis.size != tensor.shape[along]:
        raise NotLoweredError("the sizes of the parts differ, or do not add up to that of the tensor")
    total = _reduced(site, jnp.asarray(tensor), "sum")
    start = lax.axis_index(axis.name) * site.shape[along]
    return lax.dynamic_slice_in_dim(total, start, site.shape[along], along)


@lowers("replica_id")
def _(site: RuleContext) -> Array:
    axis = site.trace.axis
    return jnp.int32(0) if axis is None else lax.axis_index(axis.name).astype(jnp.int32)
