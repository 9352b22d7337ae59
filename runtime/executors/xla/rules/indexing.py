"""Rules of indexing by keys. An index out of bounds is a failed check; JAX would clamp it.

x[i]       demand(-size <= i < size);  x[i]
x[i:i+3]   lax.dynamic_slice_in_dim(x, clip(i), 3)        the length is static
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ....ops.arrays.getitem import filled
from ..rule_registry import NotLoweredError, lowers
from ..symbolic_sizes import extent

Array = Any


def is_traced(value: Any) -> bool:
    """Return whether JAX traces a value, so that it is known at run time only."""
    return isinstance(value, jax.Array)


def in_bounds(site: Any, index: Array, size: int) -> Array:
    """Demand that indices are within an axis; return them counted from its start, as negative ones are not."""
    wide, size = jnp.asarray(index).astype(jnp.int64), extent(size)
    site.demand((-size <= wide) & (wide < size))
    return jnp.where(wide < 0, wide + size, wide)


@lowers("getitem")
def _(site: Any, tensor: Array, parts: Sequence[Array]) -> Array:
    tensor = jnp.asarray(tensor)
    index = _Index(site, parts, tensor.shape)
    for axis, start, length in index.moving_slices(site.shape) if index.has_moving_slices else ():
        tensor = lax.dynamic_slice_in_dim(tensor, start, length, axis)
    return tensor[index.rest()]


@lowers("setitem")
def _(site: Any, tensor: Array, value: Array, parts: Sequence[Array]) -> Array:
    return replaced_at(site, jnp.asarray(tensor), value, parts)


@lowers("put_back_item")
def _(site: Any, value: Array, shape: Array, parts: Sequence[Array]) -> Array:
    return replaced_at(site, jnp.zeros(site.shape, site.dtype), value, parts)


def replaced_at(site: Any, tensor: Array, value: Array, parts: Sequence[Array], how: str = "set") -> Array:
    """Return the tensor with the value put at the key, or combined by another method of JAX's indexed updates."""
    index = _Index(site, parts, tensor.shape)
    value = jnp.asarray(value)
    if not index.has_moving_slices:
        return getattr(tensor.at[index.rest()], how)(value)
    moving = index.moving_slices(value.shape)
    part = tensor
    for axis, start, length in moving:
        part = lax.dynamic_slice_in_dim(part, start, length, axis)
    part = getattr(part.at[index.rest()], how)(value)
    starts = {axis: start for axis, start, _ in moving}
    places = [starts.get(axis, jnp.int64(0)) for axis in range(tensor.ndim)]
    return lax.dynamic_update_slice(tensor, part, places)


class _Index:
    """The items of a key, one for each axis and each new axis."""

    def __init__(self, site: Any, parts: Sequence[Array], shape: tuple[int, ...]) -> None:
        self._site = site
        known = [part if is_traced(part) else np.asarray(part).item() for part in parts]
        self._items = _explicit(filled(site.attrs["key"], known), len(shape))
        self._shape = shape

    @property
    def has_moving_slices(self) -> bool:
        """Return whether the bounds of a slice are known at run time only."""
        return any(map(_is_moving, self._items))

    def moving_slices(self, selected: tuple[int, ...]) -> list[tuple[int, Array, int]]:
        """Return axis, start and length of each moving slice; `selected` is the shape of the selection."""
        found, axis, place = [], 0, 0
        for item in self._items:
            if _is_moving(item):
                found.append((axis, self._start(item, self._shape[axis], selected[place]), selected[place]))
            axis += item is not None
            place += item is None or isinstance(item, slice)
        return found

    def rest(self) -> tuple[Any, ...]:
        """Return the index without its moving slices, with checks of traced integers."""
        result: list[Any] = []
        axis = 0
        for item in self._items:
            if is_traced(item):
                result.append(in_bounds(self._site, item, self._shape[axis]))
            else:
                result.append(slice(None) if _is_moving(item) else item)
            axis += item is not None
        return tuple(result)

    def _start(self, item: slice, size: int, length: int) -> Array:
        if item.step not in (None, 1):
            raise NotLoweredError("the step of a slice with moving bounds must be 1")
        bounds = (0 if item.start is None else item.start, size if item.stop is None else item.stop)
        wide = [jnp.asarray(bound).astype(jnp.int64) for bound in bounds]
        start, stop = (jnp.clip(jnp.where(x < 0, x + size, x), 0, size) for x in wide)
        self._site.demand(jnp.maximum(stop - start, 0) == length)
        return start


def _is_moving(item: Any) -> bool:
    return isinstance(item, slice) and any(map(is_traced, (item.start, item.stop, item.step)))


def _explicit(index: tuple[Any, ...], rank: int) -> list[Any]:
    """Return an index without an ellipsis, with an item for each axis."""
    used = sum(item is not None and item is not Ellipsis for item in index)
    whole = [slice(None)] * (rank - used)
    at = next((i for i, item in enumerate(index) if item is Ellipsis), len(index))
    return [*index[:at], *whole, *index[at + 1 :]]


@lowers("slice")
def _(site: Any, tensor: Array, begin: Array, size: Array) -> Array:
    starts = _starts(site, begin, site.shape, tensor.shape)
    return lax.dynamic_slice(tensor, starts, site.shape)


@lowers("put_back_part")
def _(site: Any, value: Array, begin: Array, shape: Array) -> Array:
    zeros = jnp.zeros(site.shape, site.dtype)
    return lax.dynamic_update_slice(zeros, value, _starts(site, begin, value.shape, site.shape))


def _starts(site: Any, begin: Array, part: Sequence[int], whole: Sequence[int]) -> list[Array]:
    """Demand that a part begins within a tensor and ends there; return the start on each axis."""
    begin = jnp.asarray(begin).astype(jnp.int64)
    for axis, (length, size) in enumerate(zip(part, whole, strict=True)):
        site.demand((begin[axis] >= 0) & (begin[axis] + length <= size))
    return [begin[axis] for axis in range(len(whole))]
