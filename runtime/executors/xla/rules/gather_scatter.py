"""Rules that select elements, or add to them, at indices in tensors. All indices are checked; JAX would clamp them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....ops.arrays.gather_ops import batch_index
from ..rule_registry import NotLoweredError, lowers
from ..symbolic_sizes import extent
from .indexing import is_traced

Array = Any


def checked(site: Any, indices: Array, size: int) -> Array:
    """Demand that indices are in [0, size); return them within it, as int64."""
    wide = indices.astype(np.int64) if is_traced(indices) else np.asarray(indices, np.int64)
    size = extent(size)
    site.demand((wide >= 0) & (wide < size))
    return jnp.clip(wide, 0, jnp.maximum(size - 1, 0))


def _is_empty(site: Any, *arrays: Array) -> bool:
    """Return whether there is nothing to select from, or to add to."""
    return site.is_empty or any(0 in np.shape(array) for array in arrays)


def _zeros(site: Any) -> Array:
    return jnp.zeros(site.shape, site.dtype)


@lowers("gather")
def _(site: Any, params: Array, indices: Array) -> Array:
    axis, batch = site.attrs["axis"] % params.ndim, site.attrs["batch_dims"]
    indices = checked(site, indices, params.shape[axis])
    if _is_empty(site, params):
        return _zeros(site)
    batch = batch if batch >= 0 else batch + indices.ndim
    if not batch:
        return jnp.take(params, indices, axis, mode="clip")
    count = indices.ndim - batch
    rows = batch_index(indices.shape[:batch], count)
    found = jnp.moveaxis(params, axis, batch)[(*rows, indices)]
    return jnp.moveaxis(found, range(batch, batch + count), range(axis, axis + count))


@lowers("put_back")
def _(site: Any, rows: Array, indices: Array, shape: Array) -> Array:
    result = _zeros(site)
    dim, batch = site.attrs["axis"] % result.ndim, site.attrs["batch_dims"]
    batch = batch if batch >= 0 else batch + indices.ndim
    indices = checked(site, indices, result.shape[dim])
    if _is_empty(site, rows):
        return result
    count = indices.ndim - batch
    moved = jnp.moveaxis(rows, range(dim, dim + count), range(batch, batch + count))
    index = (*batch_index(indices.shape[:batch], count), indices)
    return jnp.moveaxis(jnp.moveaxis(result, dim, batch).at[index].add(moved), batch, dim)


def _coordinates(site: Any, indices: Array, sizes: Sequence[int], batch: int = 0) -> tuple[Any, ...]:
    """Demand that coordinates, along the last axis of `indices`, are in these sizes; return them as an index."""
    columns = [checked(site, indices[..., i], size) for i, size in enumerate(sizes)]
    return (*batch_index(indices.shape[:batch], indices.ndim - 1 - batch), *columns)


@lowers("gather_nd")
def _(site: Any, params: Array, indices: Array) -> Array:
    batch = site.attrs["batch_dims"]
    index = _coordinates(site, indices, params.shape[batch : batch + indices.shape[-1]], batch)
    if _is_empty(site, params):
        return _zeros(site)
    found = jnp.asarray(params)[(*index, ...)]
    return jnp.broadcast_to(found, site.shape)  # without coordinates, each index selects the whole tensor


@lowers("put_back_nd")
def _(site: Any, updates: Array, indices: Array, shape: Array) -> Array:
    batch = site.attrs["batch_dims"]
    sizes = site.shape[batch : batch + indices.shape[-1]]
    return _combined(site, _zeros(site), _coordinates(site, indices, sizes, batch), updates, "add")


@lowers("scatter_nd")
def _(site: Any, indices: Array, updates: Array, shape: Array) -> Array:
    index = _coordinates(site, indices, site.shape[: indices.shape[-1]])
    return _combined(site, _zeros(site), index, updates, "add")


_WAYS = {"update": "set", "add": "add", "sub": "subtract", "min": "min", "max": "max"}


@lowers(*(f"tensor_scatter_nd_{way}" for way in _WAYS))
def _(site: Any, tensor: Array, indices: Array, updates: Array) -> Array:
    index = _coordinates(site, indices, tensor.shape[: indices.shape[-1]])
    way = site.operation.type.removeprefix("tensor_scatter_nd_")
    return _combined(site, tensor, index, updates, _WAYS[way])


@lowers("scattered")
def _(site: Any, before: Array, indices: Array, updates: Array) -> Array:
    sizes = before.shape[: indices.shape[-1]] if site.attrs["nd"] else before.shape[:1]
    coordinates = indices if site.attrs["nd"] else jnp.asarray(indices)[..., None]
    index = _coordinates(site, coordinates, sizes)
    how = {"mul": "multiply", "div": "divide"}.get(site.attrs["how"], _WAYS.get(site.attrs["how"]))
    return _combined(site, before, index, updates, how)


def _combined(site: Any, tensor: Array, index: tuple[Any, ...], updates: Array, how: str | None) -> Array:
    """Return the tensor with the updates combined into it in this way, a method of JAX's indexed updates."""
    tensor = jnp.asarray(tensor)
    if _is_empty(site, updates):
        return tensor
    if tensor.dtype.kind == "c" and how in ("min", "max"):
        raise NotLoweredError("complex numbers have no order here")
    if tensor.dtype.kind == "b" and how == "subtract":
        raise NotLoweredError("truth values are not subtracted")
    if tensor.dtype.kind == "b":
        how = {"add": "max", "multiply": "min"}.get(str(how), how)
    return getattr(tensor.at[(*index, ...)], str(how))(updates)


@lowers("take_along")
def _(site: Any, x: Array, indices: Array) -> Array:
    axis = site.attrs["axis"] % x.ndim
    size = x.shape[axis]
    wide = jnp.asarray(indices).astype(np.int64)
    site.demand((wide >= (0 if indices.dtype.kind == "u" else -size)) & (wide < size))
    others = [(m, n) for i, (m, n) in enumerate(zip(x.shape, indices.shape, strict=True)) if i != axis]
    if any(m != n and 1 not in (m, n) for m, n in others):
        site.trace.fail(True)  # the plan raises the error about the shapes
        return _zeros(site)
    if _is_empty(site, x):
        return _zeros(site)
    return jnp.take_along_axis(jnp.asarray(x), jnp.where(wide < 0, wide + size, wide), axis, mode="clip")


@lowers("put_along")
def _(site: Any, values: Array, indices: Array, shape: Array) -> Array:
    dim = site.attrs["axis"] % len(site.shape)
    index: list[Any] = list(np.indices(indices.shape, sparse=True))
    index[dim] = checked(site, indices, site.shape[dim])
    return _combined(site, _zeros(site), tuple(index), values, "add")
