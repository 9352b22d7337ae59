"""Rules of pooling, and of other operations on sliding windows.

found[windows] += x[elements]    ==>    found + pad(x[elements])        for each offset inside of a window
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....kernels.extremes import lowest
from ....ops.nn.window_geometry import Sliding, sliding
from ..rule_registry import lowers

Array = Any


def _slide(site: Any, shape: Sequence[int]) -> Sliding:
    attrs = site.attrs
    ones = (1,) * len(attrs["ksize"])
    return sliding(
        shape, attrs["ksize"], attrs["strides"], ones, attrs["padding"], attrs["explicit_paddings"]
    )


def _reduced(x: Array, slide: Sliding, combine: Any, start: Any) -> Array:
    """Combine the elements of each window; padding counts as `start`."""
    pads = list(zip(slide.before, slide.after, strict=True))
    return lax.reduce_window(jnp.asarray(x), x.dtype.type(start), combine, slide.window, slide.strides, pads)


@lowers("max_pool")
def _(site: Any, x: Array) -> Array:
    return _reduced(x, _slide(site, x.shape), lax.max, lowest(x.dtype))


@lowers("avg_pool")
def _(site: Any, x: Array) -> Array:
    slide = _slide(site, x.shape)
    wide = x.astype(np.result_type(x.dtype, np.float32))
    return _divided(_reduced(wide, slide, lax.add, 0), slide).astype(site.dtype)


def _divided(sums: Array, slide: Sliding) -> Array:
    """Divide the sums of windows by the numbers of their elements."""
    for axis, counts in enumerate(slide.counts()):
        if slide.window[axis] > 1:
            sums = sums / counts.astype(sums.dtype).reshape((-1, *(1,) * (sums.ndim - axis - 1)))
    return sums


@lowers("avg_pool_grad")
def _(site: Any, shape: Array, grad: Array) -> Array:
    slide = _slide(site, site.shape)
    if not _fits(site, slide, grad):
        return jnp.zeros(site.shape, site.dtype)
    shares = _divided(grad.astype(np.result_type(grad.dtype, np.float32)), slide)
    found = jnp.zeros(site.shape, shares.dtype)
    for windows, elements in _offsets(slide):
        found += _placed(shares[windows], elements, site.shape)
    return found.astype(site.dtype)


@lowers("max_pool_grad")
def _(site: Any, x: Array, pooled: Array, grad: Array) -> Array:
    slide = _slide(site, x.shape)
    found = jnp.zeros(x.shape, x.dtype)
    if _fits(site, slide, pooled, grad):
        for windows, elements, here in _firsts(x, pooled, slide):
            found += _placed(jnp.where(here, grad[windows], x.dtype.type(0)), elements, x.shape)
    return found


@lowers("max_pool_grad_grad")
def _(site: Any, x: Array, pooled: Array, grad: Array) -> Array:
    slide = _slide(site, x.shape)
    found = jnp.zeros(site.shape, site.dtype)
    if _fits(site, slide, pooled):
        for windows, elements, here in _firsts(x, pooled, slide):
            found += _placed(jnp.where(here, grad[elements], x.dtype.type(0)), windows, site.shape)
    return found


@lowers("max_pool_argmax")
def _(site: Any, x: Array) -> list[Array]:
    slide = _slide(site, x.shape)
    largest = _reduced(x, slide, lax.max, lowest(x.dtype))
    positions = np.arange(x.size).reshape(x.shape)
    if not site.attrs["include_batch_in_index"] and len(x):
        positions %= max(int(np.prod(x.shape[1:])), 1)
    found = jnp.zeros(largest.shape, np.int64)
    for windows, elements, here in _firsts(x, largest, slide):
        found += _placed(jnp.where(here, positions[elements], 0), windows, largest.shape)
    return [largest, found]


def _fits(site: Any, slide: Sliding, *pooled: Array) -> bool:
    """Return whether arrays have the shape of pooled ones; the plan says which has not."""
    fits = all(array.shape == slide.outputs for array in pooled)
    if not fits:
        site.trace.fail(True)
    return fits


def _offsets(slide: Sliding) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Yield for each offset the windows that have an element there, and these elements."""
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        if all(part.stop > part.start for part in windows):
            yield windows, elements


def _firsts(x: Array, pooled: Array, slide: Sliding) -> Iterator[tuple[Any, Any, Array]]:
    """Yield windows, elements, and which of these are the first in their windows that equal the pooled ones."""
    free = jnp.ones(pooled.shape, bool)
    for windows, elements in _offsets(slide):
        here = (jnp.asarray(x)[elements] == pooled[windows]) & free[windows]
        free &= ~_placed(here, windows, pooled.shape)
        yield windows, elements, here


def _placed(part: Array, places: tuple[slice, ...], shape: Sequence[int]) -> Array:
    """Return zeros of a shape with `part` at these slices."""
    pads = []
    for one, size, length in zip(places, shape, part.shape, strict=True):
        step = one.step or 1
        pads.append((one.start, size - one.start - (length - 1) * step - 1, step - 1))
    return lax.pad(part, part.dtype.type(0), pads)


@lowers("neighborhood")
def _(site: Any, x: Array) -> Array:
    return _around(x, site.attrs["depth_radius"])


@lowers("lrn")
def _(site: Any, x: Array) -> Array:
    attrs = site.attrs
    wide = x.astype(np.float32)
    norm = attrs["bias"] + attrs["alpha"] * _around(wide * wide, attrs["depth_radius"])
    return (wide * norm ** np.float32(-attrs["beta"])).astype(site.dtype)


def _around(x: Array, radius: int) -> Array:
    """Return sums of the channels at most `radius` away: products with a band of ones, as in the kernel."""
    channel = np.arange(x.shape[-1])
    return x @ (np.abs(channel[:, None] - channel) <= radius).astype(x.dtype)


@lowers("extract_image_patches")
def _(site: Any, images: Array) -> Array:
    attrs = site.attrs
    slide = sliding(images.shape[1:3], attrs["ksizes"], attrs["strides"], attrs["rates"], attrs["padding"])
    batch, channels = images.shape[0], images.shape[3]
    found = []
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        part = jnp.asarray(images)[(slice(None), *elements)]
        places = (slice(0, batch), *windows, slice(0, channels))
        found.append(_placed(part, places, (batch, *slide.outputs, channels)) if part.size else None)
    zeros = jnp.zeros((batch, *slide.outputs, channels), images.dtype)
    return jnp.concatenate([zeros if part is None else part for part in found], -1).reshape(site.shape)
