"""Extract windows of images, stored as channels.

1 2 3      windows of 2 by 2      [1 2 4 5] [2 3 5 6]
4 5 6    ────────────────────→
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import shapes
from ...core.export import export
from ...ir.value_types import TensorType
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import BOOLS, NUMERIC, Array, require_dtype, wrong
from ..framework.static_values import checked_dims, dims
from .window_geometry import Sliding, output_size, per_axis, sliding


@export("image.extract_patches")
def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: Name = None
) -> Any:
    """Extract windows of `images` [batch, height, width, channels] as [batch, rows, columns, window and channels].

    Args:
        sizes, strides, rates: lists of four, 1 for batch and channels: the windows' sizes, the distances
            between windows, and the distances between their elements.
        padding: "SAME", with zeros, or "VALID".

    >>> image = [[[[1], [2], [3]], [[4], [5], [6]]]]
    >>> extract_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").numpy().tolist()
    [[[[1, 2, 4, 5], [2, 3, 5, 6]]]]
    """
    if padding not in ("SAME", "VALID"):
        raise wrong(f"extract_patches: `padding` must be 'SAME' or 'VALID', not {padding!r}")
    window, steps, dilations = (
        per_axis(value, 2, False, f"extract_patches: {what}")
        for value, what in ((sizes, "sizes"), (strides, "strides"), (rates, "rates"))
    )
    return extract_image_patches(images, window, steps, dilations, padding, name)


@op
def extract_image_patches(
    images: Input, ksizes: Axes, strides: Axes, rates: Axes, padding: str, name: Name = None
) -> TensorType:
    """Extract windows of images as channels; sizes, strides and rates are pairs.

    >>> extract_image_patches([[[[1], [2], [3]]]], [1, 2], [1, 1], [1, 1], "VALID").numpy().tolist()
    [[[[1, 2], [2, 3]]]]
    """
    require_dtype(images, NUMERIC | BOOLS, "extract_patches")
    shape = images.shape
    if shape is not None and len(shape) != 4:
        raise ValueError(f"extract_patches: images must have rank 4, not the shape {shapes.show(shape)}")
    for what, pair in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if pair is None or len(pair) != 2:
            raise ValueError(f"extract_patches: {what} must be a pair of numbers, not {pair}")
    assert ksizes is not None and strides is not None and rates is not None
    batch, height, width, channels = shape or (None,) * 4
    rows, columns = (
        output_size(size, ksizes[i], strides[i], rates[i], padding) for i, size in enumerate((height, width))
    )
    depth = None if channels is None else math.prod(ksizes) * channels
    return TensorType(images.dtype, (batch, rows, columns, depth))


def _slide(shape: Any, ksizes: Any, strides: Any, rates: Any, padding: str) -> Sliding:
    return sliding(shape[1:3], ksizes, strides, rates, padding)


@extract_image_patches.kernel
def _(images: Array, ksizes: Any, strides: Any, rates: Any, padding: str) -> Array:
    slide = _slide(images.shape, ksizes, strides, rates, padding)
    channels = images.shape[3]
    found: Array = np.zeros((images.shape[0], *slide.outputs, math.prod(ksizes), channels), images.dtype)
    for number, offset in enumerate(slide.offsets()):
        windows, elements = slide.slices(offset)
        found[(slice(None), *windows, number)] = images[(slice(None), *elements)]
    return found.reshape(images.shape[0], *slide.outputs, math.prod(ksizes) * channels)


@extract_image_patches.gradient
def _(dy: Any, y: Any, images: Any, **setting: Any) -> Any:
    return extract_image_patches_grad(dy, shape_of(images), **setting)


@op
def extract_image_patches_grad(
    grads: Input, sizes: Ints, ksizes: Axes, strides: Axes, rates: Axes, padding: str, name: Name = None
) -> TensorType:
    """Return the gradient of `extract_image_patches` for images of the shape `sizes`: a scatter-add of windows.

    >>> dy = [[[[1., 2.], [3., 4.]]]]
    >>> extract_image_patches_grad(dy, [1, 1, 3, 1], [1, 2], [1, 1], [1, 1], "VALID").numpy().ravel().tolist()
    [1.0, 5.0, 4.0]
    """
    require_dtype(grads, NUMERIC, "extract_patches")
    known = dims(sizes)
    if known is not None and len(known) != 4:
        raise ValueError(f"extract_patches: images must have rank 4, not the shape {shapes.show(known)}")
    if grads.shape is not None and len(grads.shape) != 4:
        raise ValueError(f"extract_patches: the gradient must have rank 4, not {shapes.show(grads.shape)}")
    return TensorType(grads.dtype, known or (None,) * 4)


@extract_image_patches_grad.kernel
def _(grads: Array, sizes: Array, ksizes: Any, strides: Any, rates: Any, padding: str) -> Array:
    shape = checked_dims(sizes)
    slide = _slide(shape, ksizes, strides, rates, padding)
    found = np.zeros(shape, grads.dtype)
    split = grads.reshape(shape[0], *slide.outputs, math.prod(ksizes), shape[3])
    for number, offset in enumerate(slide.offsets()):
        windows, elements = slide.slices(offset)
        found[(slice(None), *elements)] += split[(slice(None), *windows, number)]
    return found


@extract_image_patches_grad.gradient
def _(dy: Any, y: Any, grads: Any, sizes: Any, **setting: Any) -> Any:
    return extract_image_patches(dy, **setting), None
