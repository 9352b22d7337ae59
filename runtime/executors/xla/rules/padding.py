"""Rules that pad tensors, repeat their parts, and add up what was repeated."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..rule_registry import NotLoweredError, lowers
from .indexing import is_traced

Array = Any


def known(value: Array, what: str) -> np.ndarray[Any, Any]:
    """Return a value that must be known when the program is compiled."""
    if is_traced(value):
        raise NotLoweredError(f"its {what} must be known when the program is compiled")
    return np.asarray(value)


_MODES = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}


@lowers("pad")
def _(site: Any, tensor: Array, paddings: Array, constant: Array) -> Array:
    pairs = known(paddings, "padding").tolist()
    mode = site.attrs["mode"]
    if mode == "CONSTANT":
        return jnp.pad(tensor, pairs, constant_values=constant)
    for axis, (before, after) in enumerate(pairs):
        if max(before, after) > tensor.shape[axis] - (mode == "REFLECT"):
            return _misfit(site)
    return jnp.pad(tensor, pairs, _MODES[mode])


def _misfit(site: Any) -> Array:
    """Leave the error about the sizes of the operands to the plan."""
    site.trace.fail(True)
    return jnp.zeros(site.shape, site.dtype)


@lowers("sum_mirrored")
def _(site: Any, tensor: Array, paddings: Array, shape: Array) -> Array:
    pairs = known(paddings, "padding").tolist()
    for axis, (pair, size) in enumerate(zip(pairs, site.shape, strict=True)):
        places = np.pad(np.arange(size), pair, _MODES[site.attrs["mode"]])  # type: ignore[call-overload]
        rows = jnp.moveaxis(jnp.asarray(tensor), axis, 0)
        if len(rows) != len(places):
            return _misfit(site)
        folded = jnp.zeros((size, *rows.shape[1:]), tensor.dtype).at[places].add(rows)
        tensor = jnp.moveaxis(folded, 0, axis)
    return tensor


@lowers("sum_repeated")
def _(site: Any, x: Array, repeats: Array, shape: Array) -> Array:
    axis = site.attrs["axis"]
    dim, sizes = axis or 0, site.shape
    flat = sizes if axis is not None and sizes else (int(np.prod(sizes)),)
    rows = jnp.moveaxis(jnp.asarray(x), dim, 0)
    places = np.repeat(np.arange(flat[dim]), known(repeats, "numbers of repetitions"))
    if len(rows) != len(places):
        return _misfit(site)
    zeros = jnp.zeros((flat[dim], *rows.shape[1:]), x.dtype)
    return jnp.moveaxis(zeros.at[places].add(rows), 0, dim).reshape(sizes)


@lowers("meshgrid")
def _(site: Any, vectors: list[Array]) -> list[Array]:
    return list(jnp.meshgrid(*vectors, indexing=site.attrs["indexing"]))


@lowers("replace_masked")
def _(site: Any, tensor: Array, value: Array, mask: Array) -> Array:
    covered = np.ndim(mask)
    rest = tensor.shape[covered:]
    chosen = jnp.reshape(mask, (*np.shape(mask), *(1,) * len(rest)))
    if np.ndim(value) <= len(rest) or (np.shape(value)[0] == 1 and np.ndim(value) == len(rest) + 1):
        row = jnp.reshape(value, np.shape(value)[1:]) if np.ndim(value) > len(rest) else value
        return jnp.where(chosen, row, tensor)
    flat = jnp.reshape(mask, -1)
    site.demand(jnp.sum(flat) == value.shape[0])
    places = jnp.clip(jnp.cumsum(flat) - 1, 0, value.shape[0] - 1)
    rows = jnp.take(jnp.asarray(value), places, 0).reshape(*np.shape(mask), *value.shape[1:])
    return jnp.where(chosen, rows, tensor)


@lowers("put_back_masked")
def _(site: Any, rows: Array, mask: Array, shape: Array) -> Array:
    axis = site.attrs["axis"]
    moved = jnp.moveaxis(jnp.asarray(rows), axis, 0)
    flat = jnp.reshape(mask, -1)
    if len(moved) != 1:  # one row is repeated
        site.demand(jnp.sum(flat) == len(moved))
    if not len(moved):
        return jnp.zeros(site.shape, site.dtype)
    places = jnp.clip(jnp.cumsum(flat) - 1, 0, len(moved) - 1)
    spread = jnp.where(jnp.reshape(flat, (-1, *(1,) * (moved.ndim - 1))), moved[places], moved.dtype.type(0))
    return jnp.moveaxis(spread, 0, axis).reshape(site.shape)
