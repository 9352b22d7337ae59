"""Rules of indexing. An index out of bounds is a failed check; JAX would clamp it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ....ops.arrays.getitem import filled
from ..rule_registry import NotLoweredError, lowers

Array = Any


@lowers("getitem")
def _(site: Any, tensor: Array, parts: Sequence[Array]) -> Array:
    known = [part if is_traced(part) else int(part) for part in parts]
    tensor = jnp.asarray(tensor)
    axis = 0
    index: list[Any] = []
    items = _explicit(filled(site.attrs["key"], known), tensor.ndim)
    for item in items:
        if item is None:
            index.append(None)
            continue
        size = tensor.shape[axis]
        if isinstance(item, slice) and any(map(is_traced, (item.start, item.stop, item.step))):
            tensor = _moving_slice(site, tensor, axis, item, site.shape[_result_axis(index)])
            item = slice(None)
        elif is_traced(item):
            item = in_bounds(site, item, size)
        index.append(item)
        axis += 1
    return tensor[tuple(index)]


def is_traced(value: Any) -> bool:
    """Return whether JAX traces a value, so that it is known at run time only."""
    return isinstance(value, jax.Array)


def in_bounds(site: Any, index: Array, size: int) -> Array:
    """Demand that indices are within an axis; return them counted from its start, as negative ones are not."""
    index = jnp.asarray(index)
    wide = index.astype(jnp.int64)
    site.demand((-size <= wide) & (wide < size))
    return jnp.where(wide < 0, wide + size, wide)


def _result_axis(index: Sequence[Any]) -> int:
    return sum(item is None or isinstance(item, slice) for item in index)


def _explicit(index: tuple[Any, ...], rank: int) -> list[Any]:
    """Return an index without an ellipsis, with an item for each axis."""
    used = sum(item is not None and item is not Ellipsis for item in index)
    whole = [slice(None)] * (rank - used)
    at = next((i for i, item in enumerate(index) if item is Ellipsis), len(index))
    return [*index[:at], *whole, *index[at + 1 :]]


def _moving_slice(site: Any, tensor: Array, axis: int, item: slice, length: int) -> Array:
    """Return the slice of `length` elements along an axis whose start is known at run time only."""
    step = 1 if item.step is None else item.step
    if is_traced(step) or step != 1:
        raise NotLoweredError("the step of a slice with moving bounds must be 1")
    size = tensor.shape[axis]
    start = jnp.asarray(0 if item.start is None else item.start).astype(jnp.int64)
    stop = jnp.asarray(size if item.stop is None else item.stop).astype(jnp.int64)
    start, stop = (jnp.clip(jnp.where(x < 0, x + size, x), 0, size) for x in (start, stop))
    site.demand(jnp.maximum(stop - start, 0) == length)
    return lax.dynamic_slice_in_dim(tensor, start, length, axis)
