"""Rules of reductions, scans and orders. A sum of floats may be rounded otherwise than in the other executors."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ....kernels.extremes import highest, lowest
from ..numpy_namespace import traced
from ..rule_registry import lowers

Array = Any


def is_real_float(x: Array) -> bool:
    """Return whether an array has a floating-point dtype, narrow ones included, that is not complex."""
    return jnp.issubdtype(x.dtype, jnp.floating)


@lowers("reduce_mean")
def _(site: Any, x: Array) -> Array:
    if isinstance(x.size, int):
        return traced(site, x)
    return jnp.mean(x, site.attrs["axis"], keepdims=site.attrs["keepdims"])


@lowers("reduce_max")
def _(site: Any, x: Array) -> Array:
    return _extreme(site, x, jnp.max, lowest)


@lowers("reduce_min")
def _(site: Any, x: Array) -> Array:
    return _extreme(site, x, jnp.min, highest)


def _extreme(site: Any, x: Array, reduce: Any, of_nothing: Any) -> Array:
    attrs = site.attrs
    return reduce(
        x, axis=attrs["axis"], keepdims=attrs["keepdims"], initial=x.dtype.type(of_nothing(x.dtype))
    )


@lowers("reduce_logsumexp")
def _(site: Any, x: Array) -> Array:
    axis = site.attrs["axis"]
    top = jnp.max(x, axis, keepdims=True, initial=-np.inf)
    top = jnp.where(jnp.isfinite(top), top, x.dtype.type(0))
    logs = jnp.log(jnp.sum(jnp.exp(x - top), axis, keepdims=True)) + top
    return logs if site.attrs["keepdims"] else jnp.squeeze(logs, axis)


@lowers("argmax")
def _(site: Any, x: Array) -> Array:
    return jnp.argmax(_without_nans(x, -np.inf), site.attrs["axis"] or 0)


@lowers("argmin")
def _(site: Any, x: Array) -> Array:
    return jnp.argmin(_without_nans(x, np.inf), site.attrs["axis"] or 0)


def _without_nans(x: Array, instead: float) -> Array:
    """Return the elements with `instead` in place of each NaN, of which JAX returns the first."""
    return jnp.where(jnp.isnan(x), x.dtype.type(instead), x) if is_real_float(x) else x


@lowers("cumsum")
def _(site: Any, x: Array) -> Array:
    return _scanned(site, x, lax.cumsum, 0)


@lowers("cumprod")
def _(site: Any, x: Array) -> Array:
    return _scanned(site, x, lax.cumprod, 1)


@lowers("cumulative_logsumexp")
def _(site: Any, x: Array) -> Array:
    return _scanned(site, x, lax.cumlogsumexp, -np.inf)


def _scanned(site: Any, x: Array, scan: Any, start: float) -> Array:
    if not x.size:
        return jnp.asarray(x)
    axis, reverse = site.attrs["axis"] % x.ndim, site.attrs["reverse"]
    found = scan(jnp.asarray(x), axis, reverse=reverse)
    if not site.attrs["exclusive"]:
        return found
    size = x.shape[axis]
    edge = jnp.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), start, x.dtype)
    if reverse:
        return jnp.concatenate([lax.slice_in_dim(found, 1, size, axis=axis), edge], axis)
    return jnp.concatenate([edge, lax.slice_in_dim(found, 0, size - 1, axis=axis)], axis)


@lowers("recurrence")
def _(site: Any, x: Array, factors: Array) -> Array:
    axis = site.attrs["axis"]
    steps, by = (jnp.moveaxis(jnp.asarray(array), axis, 0) for array in (x, factors))
    if not len(steps):
        return x
    by = by.at[-1 if site.attrs["reverse"] else 0].set(0)
    first = steps[-1 if site.attrs["reverse"] else 0]

    def step(before: Any, now: Any) -> Any:
        number, add, factor = now
        running = jnp.where(number == 0, first, add + factor * before)
        return running, running

    numbers = jnp.arange(len(steps))
    numbers = numbers[::-1] if site.attrs["reverse"] else numbers
    found = lax.scan(step, jnp.zeros_like(first), (numbers, steps, by), reverse=site.attrs["reverse"])[1]
    return jnp.moveaxis(found, 0, axis)


@lowers("shifted")
def _(site: Any, x: Array) -> Array:
    axis = site.attrs["axis"] % x.ndim
    size = x.shape[axis]
    if not size:
        return x
    edge = jnp.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    if site.attrs["reverse"]:
        return jnp.concatenate([lax.slice_in_dim(jnp.asarray(x), 1, size, axis=axis), edge], axis)
    return jnp.concatenate([edge, lax.slice_in_dim(jnp.asarray(x), 0, size - 1, axis=axis)], axis)


@lowers("product_of_others")
def _(site: Any, x: Array) -> Array:
    axes = range(x.ndim) if site.attrs["axis"] is None else sorted(one % x.ndim for one in site.attrs["axis"])
    kept = [i for i in range(x.ndim) if i not in axes]
    order = [*kept, *axes]
    flat = jnp.transpose(x, order).reshape(*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axes))
    ones = jnp.ones((*flat.shape[:-1], 1), x.dtype)
    if not flat.size:
        return x
    last = flat.ndim - 1
    before = jnp.concatenate([ones, lax.cumprod(flat[..., :-1], last)], -1)
    after = jnp.concatenate([lax.cumprod(flat[..., 1:], last, reverse=True), ones], -1)
    products = (before * after).reshape([x.shape[i] for i in order])
    return jnp.transpose(products, np.argsort(order).tolist())


@lowers("argsort")
def _(site: Any, values: Array) -> Array:
    return _order(values, site.attrs["axis"], site.attrs["direction"] != "ASCENDING")


@lowers("sort")
def _(site: Any, values: Array) -> Array:
    ordered = jnp.sort(values, site.attrs["axis"], stable=True)
    return ordered if site.attrs["direction"] == "ASCENDING" else jnp.flip(ordered, site.attrs["axis"])


def _order(values: Array, axis: int, descends: bool) -> Array:
    """Return the stable order of the elements along an axis; equal ones keep theirs in both directions."""
    if not descends:
        return jnp.argsort(values, axis, stable=True)
    found = jnp.argsort(jnp.flip(values, axis), axis, stable=True)
    return jnp.flip(values.shape[axis] - 1 - found, axis)


@lowers("top_k")
def _(site: Any, x: Array, k: Array) -> list[Array]:
    indices = _order(x, x.ndim - 1, True)[..., : site.shape[-1]]
    return [jnp.take_along_axis(jnp.asarray(x), indices, -1), indices]


@lowers("searchsorted")
def _(site: Any, ordered: Array, values: Array) -> Array:
    side = site.attrs["side"]
    if ordered.ndim == 1:
        return jnp.searchsorted(ordered, values, side)
    rows, wanted = (jnp.reshape(x, (-1, x.shape[-1])) for x in (ordered, values))
    return jax.vmap(lambda row, value: jnp.searchsorted(row, value, side))(rows, wanted).reshape(values.shape)


_UNSORTED = {"sum": "add", "prod": "multiply", "max": "max", "min": "min"}


@lowers(*(f"unsorted_segment_{name}" for name in _UNSORTED))
def _(site: Any, data: Array, ids: Array, count: Array) -> Array:
    name = site.operation.type.removeprefix("unsorted_segment_")
    rows = jnp.reshape(data, (np.size(ids), *data.shape[np.ndim(ids) :]))
    flat = jnp.reshape(ids, -1).astype(np.int64)
    size = site.shape[0]
    site.demand(flat < size)
    # Rows with negative numbers are skipped; JAX would count these from the end.
    places = jnp.where(flat < 0, size, flat)
    combined = getattr(jnp.full(site.shape, _START[name](rows.dtype), rows.dtype).at[places], _UNSORTED[name])
    found = combined(rows, mode="drop")
    if name in ("sum", "prod") or rows.dtype.kind in "iu":
        return found
    filled = jnp.zeros(size, bool).at[places].set(True, mode="drop").reshape(-1, *(1,) * (rows.ndim - 1))
    limits = jnp.finfo(site.operation.outputs[0].dtype.numpy_dtype)
    return jnp.where(filled, found, limits.min if name == "max" else limits.max)


_START: dict[str, Any] = {"sum": lambda dtype: 0, "prod": lambda dtype: 1, "max": lowest, "min": highest}
