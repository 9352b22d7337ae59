"""Adjustment of brightness, contrast, gamma, hue and saturation.

>>> adjust_brightness([[[0.25]]], 0.5).numpy().tolist(), adjust_contrast([[[0.], [1.]]], 3.).numpy().ravel().tolist()
([[[0.75]]], [-1.0, 2.0])
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import stack
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.cached_dispatch import cached_dispatch
from ..ops.framework.op import Name
from ..ops.math.arithmetic import maximum
from ..ops.math.cast import cast
from ..ops.math.clip import clip_by_value
from ..ops.math.elementwise import floor, rsqrt
from ..ops.reduce.reductions import reduce_mean, reduce_prod
from ..ops.reduce.variance import reduce_std
from .color_spaces import hsv_to_rgb, rgb_to_hsv
from .convert_dtype import as_floats


@export("image.adjust_brightness")
@cached_dispatch
def adjust_brightness(image: TensorLike, delta: Any) -> Tensor:
    """Add `delta` to `image`, on a scale of floats from 0 to 1.

    >>> adjust_brightness([[[0.25]]], -0.25).numpy().tolist()
    [[[0.0]]]
    """
    return as_floats(image, lambda x: x + cast(delta, x.dtype))


@export("image.adjust_contrast")
@cached_dispatch
def adjust_contrast(images: TensorLike, contrast_factor: Any) -> Tensor:
    """Multiply the differences to the mean of each channel of each image by `contrast_factor`.

    >>> adjust_contrast([[[1.], [3.]]], 2.).numpy().ravel().tolist()
    [0.0, 4.0]
    """
    x = convert_to_tensor(images)
    if x.shape.rank is not None and x.shape.rank < 3:
        raise ValueError(f"adjust_contrast: images need at least three axes, not the shape {x.shape}")

    def stretched(floats: Tensor) -> Tensor:
        wide = cast(floats, dtypes.float32)
        mean = reduce_mean(wide, [-3, -2], True)
        return cast((wide - mean) * cast(contrast_factor, dtypes.float32) + mean, floats.dtype)

    return as_floats(x, stretched)


@export("image.adjust_gamma")
@cached_dispatch
def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Return `gain * image ** gamma`, on a scale of floats from 0 to 1.

    >>> adjust_gamma([[[0.5]]], 2, 3).numpy().tolist()
    [[[0.75]]]
    """
    if not isinstance(gamma, Tensor) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return as_floats(image, lambda x: x ** cast(gamma, x.dtype) * cast(gain, x.dtype))


@export("image.adjust_hue")
@cached_dispatch
def adjust_hue(image: TensorLike, delta: Any, name: Name = None) -> Tensor:
    """Add `delta` to the hues of RGB images; hues are cyclic, from 0 to 1.

    >>> adjust_hue([[[1., 0., 0.]]], 0.5).numpy().round(3).tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    x = _colors(image, "adjust_hue")
    if not isinstance(delta, Tensor) and not -1 <= delta <= 1:
        raise ValueError(f"adjust_hue: delta must be in the interval [-1, 1], not {delta}")

    def turned(floats: Tensor) -> Tensor:
        hsv = rgb_to_hsv(floats)
        hue = hsv[..., 0] + cast(delta, floats.dtype)
        return hsv_to_rgb(stack([hue - floor(hue), hsv[..., 1], hsv[..., 2]], -1))

    return as_floats(x, turned, saturate=False)


@export("image.adjust_saturation")
@cached_dispatch
def adjust_saturation(image: TensorLike, saturation_factor: Any, name: Name = None) -> Tensor:
    """Multiply the saturations of RGB images by `saturation_factor`, clipped to 1.

    >>> adjust_saturation([[[1., 0.5, 0.5]]], 2.).numpy().round(3).tolist()
    [[[1.0, 0.0, 0.0]]]
    """
    x = _colors(image, "adjust_saturation")

    def saturated(floats: Tensor) -> Tensor:
        hsv = rgb_to_hsv(floats)
        saturation = clip_by_value(hsv[..., 1] * cast(saturation_factor, floats.dtype), 0.0, 1.0)
        return hsv_to_rgb(stack([hsv[..., 0], saturation, hsv[..., 2]], -1))

    return as_floats(x, saturated, saturate=False)


def _colors(image: Any, what: str) -> Tensor:
    x = convert_to_tensor(image)
    if x.shape.rank is not None and (x.shape.rank < 3 or x.shape[-1] not in (None, 3)):
        raise ValueError(
            f"{what}: images need at least three axes, the last one of the size 3, not {x.shape}"
        )
    return x


@export("image.per_image_standardization")
@cached_dispatch
def per_image_standardization(image: TensorLike) -> Tensor:
    """Scale each image to mean 0 and variance 1, as float32; the deviation is at least `1 / sqrt(elements)`.

    >>> per_image_standardization([[[1.], [3.]]]).numpy().ravel().tolist()
    [-1.0, 1.0]
    """
    x = convert_to_tensor(image)
    if x.shape.rank is not None and x.shape.rank < 3:
        raise ValueError(
            f"per_image_standardization: images need at least three axes, not the shape {x.shape}"
        )
    wide = cast(x, dtypes.float32)
    count = reduce_prod(shape_of(wide)[-3:])
    least = rsqrt(cast(count, wide.dtype))
    mean = reduce_mean(wide, [-1, -2, -3], True)
    deviation = reduce_std(wide, [-1, -2, -3], True)
    return (wide - mean) / maximum(deviation, least)  # type: ignore[no-any-return]
