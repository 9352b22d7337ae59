"""Crops of images, and images with padding.

>>> from ..ops.arrays.creation import zeros
>>> crop_to_bounding_box(zeros([4, 6, 1]), 1, 1, 2, 3).shape, resize_with_crop_or_pad(zeros([4, 6, 1]), 5, 3).shape
(TensorShape([2, 3, 1]), TensorShape([5, 3, 1]))
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import stack
from ..ops.arrays.pad_ops import pad
from ..ops.arrays.strided_slice import slice
from ..ops.framework.cached_dispatch import cached_dispatch
from ..ops.math.cast import cast
from .batch_rank import as_given, batched, height_and_width, larger, require, smaller


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Return the `target_height` by `target_width` part of `image` that begins at `offset_height`, `offset_width`.

    >>> crop_to_bounding_box([[[1], [2], [3]], [[4], [5], [6]]], 0, 1, 1, 2).numpy().tolist()
    [[[2], [3]]]
    """
    images, single = batched(image, "crop_to_bounding_box")
    height, width = height_and_width(images)
    require(offset_height >= 0, "offset_height must be >= 0.")
    require(offset_width >= 0, "offset_width must be >= 0.")
    require(target_height > 0, "target_height must be > 0.")
    require(target_width > 0, "target_width must be > 0.")
    require(width >= target_width + offset_width, "width must be >= target + offset.")
    require(height >= target_height + offset_height, "height must be >= target + offset.")
    begin = stack([0, offset_height, offset_width, 0])
    return as_given(slice(images, begin, stack([-1, target_height, target_width, -1])), single)


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Pad `image` with zeros to `target_height` by `target_width`; it begins at `offset_height`, `offset_width`.

    >>> pad_to_bounding_box([[[1], [2]]], 0, 1, 1, 4).numpy().ravel().tolist()
    [0, 1, 2, 0]
    """
    images, single = batched(image, "pad_to_bounding_box")
    height, width = height_and_width(images)
    below, right = target_height - offset_height - height, target_width - offset_width - width
    require(offset_height >= 0, "offset_height must be >= 0")
    require(offset_width >= 0, "offset_width must be >= 0")
    require(right >= 0, "width must be <= target - offset")
    require(below >= 0, "height must be <= target - offset")
    margins = stack(
        [stack([0, 0]), stack([offset_height, below]), stack([offset_width, right]), stack([0, 0])]
    )
    return as_given(pad(images, margins), single)


@export("image.central_crop")
@cached_dispatch
def central_crop(image: TensorLike, central_fraction: Any) -> Tensor:
    """Return the center of `image`; each side is reduced to the fraction `central_fraction`.

    >>> central_crop([[[1], [2], [3], [4]]], 0.5).numpy().tolist()
    [[[2], [3]]]
    """
    x = convert_to_tensor(image)
    if not isinstance(central_fraction, Tensor):
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return x
    images, single = batched(x, "central_crop")
    height, width = height_and_width(images)
    top, left = _margin(height, central_fraction), _margin(width, central_fraction)
    begin = stack([0, top, left, 0])
    return as_given(slice(images, begin, stack([-1, height - 2 * top, width - 2 * left, -1])), single)


def _margin(size: Any, fraction: Any) -> Any:
    if isinstance(size, int) and not isinstance(fraction, Tensor):
        return int((size - size * fraction) / 2)
    wide = cast(size, dtypes.float64)
    return cast((wide - wide * cast(fraction, dtypes.float64)) / 2, dtypes.int32)


@export("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image: TensorLike, target_height: Any, target_width: Any) -> Tensor:
    """Crop `image` centrally where it is larger than the target size; pad it with zeros where it is smaller.

    >>> resize_with_crop_or_pad([[[1], [2], [3]]], 2, 1).numpy().ravel().tolist()
    [2, 0]
    """
    images, single = batched(image, "resize_with_crop_or_pad")
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    height, width = height_and_width(images)
    more_height, more_width = target_height - height, target_width - width
    cropped = crop_to_bounding_box(
        images,
        larger(-more_height // 2, 0),
        larger(-more_width // 2, 0),
        smaller(target_height, height),
        smaller(target_width, width),
    )
    padded = pad_to_bounding_box(
        cropped, larger(more_height // 2, 0), larger(more_width // 2, 0), target_height, target_width
    )
    return as_given(padded, single)
