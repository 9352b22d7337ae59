"""Resize images: each row and column of the result is a weighted sum of rows and columns of the image.

    bilinear, 2 → 4 elements       sources          weights
    result 0                       0, 0             0.75, 0.25
    result 1                       0, 1             0.75, 0.25
    result 2                       0, 1             0.25, 0.75

The weights of an axis depend only on the sizes. So the two axes are resized one after the other, and the
gradient is the transposed sum. Element i of the result samples around the coordinate `(i + 0.5) * in / out`
(half-pixel centers). With antialiasing, a kernel is stretched if the image becomes smaller.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...ir.value_types import TensorType
from ...kernels.rows import add_weighted, combine_along
from ..arrays.shape_ops import shape as shape_of
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import FLOATS, REAL, Array, require_dtype
from ..framework.static_values import checked_dims, dims
from ..math.cast import cast

Taps = tuple[Array, Array]
"""The source indices and the weights of each element of the result; both [result, summands]."""


def _cubic(x: Array) -> Array:
    """Compute Keys' cubic kernel with a = -0.5."""
    near, far = ((1.5 * x - 2.5) * x) * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell(x: Array) -> Array:
    near, far = ((7 / 6 * x - 2) * x) * x + 8 / 9, ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _gaussian(x: Array) -> Array:
    return np.where(x >= 1.5, 0, np.exp(-(x**2) / (2 * 0.5**2)))


def _lanczos(radius: int) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        safe = np.maximum(x, 1e-3)
        value = radius * np.sin(np.pi * safe) * np.sin(np.pi * safe / radius) / (np.pi * safe) ** 2
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, value))

    return kernel


KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "triangle": (1, lambda x: np.maximum(0, 1 - x)),
    "keyscubic": (2, _cubic),
    "mitchellcubic": (2, _mitchell),
    "gaussian": (1.5, _gaussian),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
}
"""The radius of each kernel, and its weight at a distance."""


def _kernel_taps(old: int, new: int, name: str, antialias: bool) -> Taps:
    radius, kernel = KERNELS[name]
    step = np.float32(1) / (np.float32(new) / np.float32(old))
    reach = np.float32(radius) * (max(step, np.float32(1)) if antialias else np.float32(1))
    stretch = reach / np.float32(radius)
    centers = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * step
    first = np.clip(np.ceil(centers - reach - np.float32(0.5)), 0, old - 1).astype(np.int64)
    last = np.clip(np.floor(centers + reach - np.float32(0.5)), 0, old - 1).astype(np.int64)
    sources = first[:, np.newaxis] + np.arange(int(np.max(last - first, initial=0)) + 1)
    distances = np.abs((sources + np.float32(0.5) - centers[:, np.newaxis]) / stretch)
    weights = np.where(sources <= last[:, np.newaxis], kernel(distances), 0).astype(np.float32)
    return np.minimum(sources, old - 1), _normal(weights)


def _normal(weights: Array) -> Array:
    totals = weights.sum(1, keepdims=True, dtype=np.float32)
    usable = np.abs(totals) >= 1000 * np.finfo(np.float32).tiny
    return weights / np.where(usable, totals, 1)


def _bilinear_taps(old: int, new: int) -> Taps:
    centers = _centers(old, new)
    low = np.floor(centers)
    share = (centers - low).astype(np.float32)
    sources = np.stack([np.maximum(low, 0), np.minimum(np.ceil(centers), old - 1)], 1).astype(np.int64)
    return sources, np.stack([np.float32(1) - share, share], 1)


def _centers(old: int, new: int) -> Array:
    """Return the coordinates of the result's elements in the image, in float32 as in TensorFlow."""
    scale = np.float32(old) / np.float32(new)
    return (np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale - np.float32(0.5)


def _bicubic_taps(old: int, new: int) -> Taps:
    """Return four adjacent elements; distances are rounded to 1/1024, and elements outside the image have weight 0."""
    centers = _centers(old, new)
    low = np.floor(centers)
    share = np.rint((centers - low) * np.float32(1024)) / 1024
    weights = np.stack([_cubic(1 + share), _cubic(share), _cubic(1 - share), _cubic(2 - share)], 1)
    sources = low.astype(np.int64)[:, np.newaxis] + np.arange(-1, 3)
    inside = (sources >= 0) & (sources < old)
    return np.clip(sources, 0, old - 1), _normal(np.where(inside, weights, 0).astype(np.float32))


def _area_taps(old: int, new: int) -> Taps:
    """Return the share of each source element's square in the result's."""
    scale = np.float32(old) / np.float32(new)
    start = np.arange(new, dtype=np.float32) * scale
    end = (np.arange(new, dtype=np.float32) + np.float32(1)) * scale
    first = np.floor(start).astype(np.int64)
    count = int(np.max(np.ceil(end).astype(np.int64) - first, initial=1))
    sources = first[:, np.newaxis] + np.arange(count)
    overlap = np.minimum(sources + 1, end[:, np.newaxis]) - np.maximum(sources, start[:, np.newaxis])
    weights = np.maximum(overlap, 0).astype(np.float32) / scale
    return np.clip(sources, 0, old - 1), weights


_TAPS: dict[str, Callable[[int, int], Taps]] = {
    "bilinear": _bilinear_taps,
    "bicubic": _bicubic_taps,
    "area": _area_taps,
}


@functools.lru_cache(maxsize=64)
def taps(old: int, new: int, method: str, antialias: bool) -> Taps:
    """Return the sources and weights of each element; kept, so that compilers see them as constants."""
    if method in _TAPS:
        return _TAPS[method](old, new)
    return _kernel_taps(old, new, method, antialias)


def _resized(shape: shapes.Dims, size: Any, what: str) -> shapes.Dims:
    """Return the shape of images [batch, height, width, channels] after resizing."""
    if shape is not None and len(shape) != 4:
        raise ValueError(f"{what}: images must have rank 4, not the shape {shapes.show(shape)}")
    if size.shape not in (None, (None,), (2,)):
        raise ValueError(f"{what}: `size` must have 2 elements, not the shape {shapes.show(size.shape)}")
    batch, height, width, channels = shape or (None,) * 4
    if 0 in (height, width):
        raise ValueError(f"{what}: input image must be of non-zero size, not {shapes.show(shape)}")
    new = dims(size) or (None, None)
    if 0 in new:
        raise ValueError(f"{what}: output dimensions must be positive, not {list(new)}")
    return (batch, *new, channels)


def _check_method(method: str) -> None:
    if method not in _TAPS and method not in KERNELS:
        raise ValueError(f"resize: there is no method {method!r}, only {', '.join([*_TAPS, *KERNELS])}")


@op
def resize(images: Input, size: Ints, method: str, antialias: bool = False, name: Name = None) -> TensorType:
    """Resize images [batch, height, width, channels] to the size [height, width], as float32.

    Args:
        method: "bilinear", "bicubic", "area", or one of `KERNELS`, which `antialias` stretches.

    >>> resize([[[[1.], [3.]]]], [1, 4], "bilinear").numpy().ravel().tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    require_dtype(images, REAL, "resize")
    _check_method(method)
    return TensorType(dtypes.float32, _resized(images.shape, size, "resize"))


@resize.kernel
def _(images: Array, size: Array, method: str, antialias: bool) -> Array:
    height, width = _checked(images.shape, size)
    # start with the axis that leaves less work for the other one
    axes = [(1, height), (2, width)]
    if height * images.shape[2] >= width * images.shape[1]:
        axes.reverse()
    x = images.astype(np.float32, copy=False)
    for axis, new in axes:
        positions, sources, weights = _summands(images.shape[axis], new, method, antialias)
        x = _summed(x, axis, new, positions, sources, weights)
    return x


@functools.lru_cache(maxsize=64)
def _summands(old: int, new: int, method: str, antialias: bool) -> tuple[Array, Array, Array]:
    """Return the position in the result, the source and the weight of each summand."""
    sources, weights = taps(old, new, method, antialias)
    used = np.flatnonzero(weights.any(0))
    positions = np.repeat(np.arange(new), len(used))
    return positions, sources[:, used].reshape(-1), weights[:, used].astype(np.float32).reshape(-1)


def _checked(shape: tuple[int, ...], size: Array) -> tuple[int, int]:
    height, width = checked_dims(size)
    if len(shape) != 4 or 0 in (shape[1], shape[2], height, width):
        raise ValueError(f"resize: cannot make images of {height} by {width} of the shape {list(shape)}")
    return height, width


def _summed(x: Array, axis: int, size: int, positions: Array, sources: Array, weights: Array) -> Array:
    found = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), np.float32)
    parts = (math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :]))
    rows = x.reshape(parts[0], x.shape[axis], parts[1])
    add_weighted(found.reshape(parts[0], size, parts[1]), positions, rows, sources, weights)
    return found


@resize.gradient
def _(dy: Any, y: Any, images: Any, size: Any, method: str, antialias: bool) -> Any:
    if not images.dtype.is_floating:
        return None, None
    return cast(resize_grad(dy, shape_of(images)[1:3], method, antialias), images.dtype), None


@op
def resize_grad(
    grads: Input, size: Ints, method: str, antialias: bool = False, name: Name = None
) -> TensorType:
    """Return the gradient of `resize` for images of `size`.

    >>> resize_grad([[[[1.], [0.], [0.], [2.]]]], [1, 2], "bilinear").numpy().ravel().tolist()
    [1.0, 2.0]
    """
    require_dtype(grads, FLOATS, "resize_grad")
    _check_method(method)
    return TensorType(dtypes.float32, _resized(grads.shape, size, "resize_grad"))


@resize_grad.kernel
def _(grads: Array, size: Array, method: str, antialias: bool) -> Array:
    x = grads.astype(np.float32, copy=False)
    for axis, old in zip((1, 2), _checked(grads.shape, size), strict=True):
        positions, sources, weights = _summands(old, x.shape[axis], method, antialias)
        x = _summed(x, axis, old, sources, positions, weights)
    return x


@resize_grad.gradient
def _(dy: Any, y: Any, grads: Any, size: Any, method: str, antialias: bool) -> Any:
    return cast(resize(dy, shape_of(grads)[1:3], method, antialias), grads.dtype), None


@op
def resize_nearest_neighbor(images: Input, size: Ints, name: Name = None) -> TensorType:
    """Resize images [batch, height, width, channels] to [height, width] with the nearest elements.

    >>> resize_nearest_neighbor([[[[1], [3]]]], [1, 4]).numpy().ravel().tolist()
    [1, 1, 3, 3]
    """
    require_dtype(images, REAL, "resize_nearest_neighbor")
    return TensorType(images.dtype, _resized(images.shape, size, "resize_nearest_neighbor"))


def nearest(old: int, new: int) -> Array:
    centers = np.floor(_centers(old, new) + np.float32(0.5))
    return np.minimum(centers, old - 1).astype(np.int64)


@resize_nearest_neighbor.kernel
def _(images: Array, size: Array) -> Array:
    height, width = _checked(images.shape, size)
    rows = np.take(images, nearest(images.shape[1], height), 1)
    return np.take(rows, nearest(images.shape[2], width), 2)


@resize_nearest_neighbor.gradient
def _(dy: Any, y: Any, images: Any, size: Any) -> Any:
    return resize_nearest_neighbor_grad(dy, shape_of(images)[1:3]), None


@op
def resize_nearest_neighbor_grad(grads: Input, size: Ints, name: Name = None) -> TensorType:
    """Return the gradient of `resize_nearest_neighbor` for images of `size`.

    >>> resize_nearest_neighbor_grad([[[[1.], [2.], [3.], [4.]]]], [1, 2]).numpy().ravel().tolist()
    [3.0, 7.0]
    """
    require_dtype(grads, REAL, "resize_nearest_neighbor_grad")
    return TensorType(grads.dtype, _resized(grads.shape, size, "resize_nearest_neighbor_grad"))


@resize_nearest_neighbor_grad.kernel
def _(grads: Array, size: Array) -> Array:
    height, width = _checked(grads.shape, size)
    batch, rows, columns, channels = grads.shape
    found = np.zeros((batch, height * width, channels), grads.dtype)
    centers = nearest(height, rows)[:, np.newaxis] * width + nearest(width, columns)
    combine_along(np.add, found, 1, centers.reshape(-1), grads)
    return found.reshape(batch, height, width, channels)


@resize_nearest_neighbor_grad.gradient
def _(dy: Any, y: Any, grads: Any, size: Any) -> Any:
    return resize_nearest_neighbor(dy, shape_of(grads)[1:3]), None
