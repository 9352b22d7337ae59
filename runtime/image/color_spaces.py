"""Conversion between color spaces: RGB, HSV, YIQ, YUV and grayscale.

>>> rgb_to_hsv([[[0., 1., 0.]]]).numpy().round(3).ravel().tolist()
[0.3330000042915344, 1.0, 1.0]
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import stack
from ..ops.arrays.creation import zeros_like
from ..ops.arrays.reshape import expand_dims
from ..ops.arrays.tile_and_repeat import repeat
from ..ops.arrays.where_ops import where
from ..ops.framework.cached_dispatch import cached_dispatch
from ..ops.framework.op import Name
from ..ops.framework.op_families import FLOATS, require_dtype, wrong
from ..ops.linalg.tensordot import tensordot
from ..ops.math.arithmetic import maximum, minimum
from ..ops.math.cast import cast
from ..ops.math.elementwise import abs
from ..ops.reduce.reductions import reduce_max, reduce_min
from .convert_dtype import convert_image_dtype

_GREY = [0.2989, 0.5870, 0.1140]
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB = [[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


def _channels(images: Any, what: str, count: int) -> Tensor:
    x = convert_to_tensor(images)
    if x.shape.rank == 0:
        raise wrong(f"{what}: a scalar has no channels")
    if x.shape.rank is not None and x.shape[-1] not in (None, count):
        raise wrong(f"{what}: the last axis must have the size {count}, not {x.shape[-1]}")
    return x


@export("image.rgb_to_grayscale")
@cached_dispatch
def rgb_to_grayscale(images: TensorLike, name: Name = None) -> Tensor:
    """Convert RGB to grayscale: one channel, with the dtype of `images`.

    >>> rgb_to_grayscale([[[1., 1., 0.]]]).numpy().round(4).ravel().tolist()
    [0.8859000205993652]
    """
    x = _channels(images, "rgb_to_grayscale", 3)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(f"rgb_to_grayscale: images need at least two axes, not the shape {x.shape}")
    floats = convert_image_dtype(x, dtypes.float32)
    grey = tensordot(floats, cast(_GREY, floats.dtype), [[-1], [-1]])
    return convert_image_dtype(expand_dims(grey, -1), x.dtype)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images: TensorLike, name: Name = None) -> Tensor:
    """Convert grayscale to RGB by repeating the channel.

    >>> grayscale_to_rgb([[[5]]]).numpy().tolist()
    [[[5, 5, 5]]]
    """
    return repeat(_channels(images, "grayscale_to_rgb", 1), 3, axis=-1, name=name)  # type: ignore[no-any-return]


def _mixed(images: Any, kernel: list[list[float]], what: str) -> Tensor:
    x = _channels(images, what, 3)
    if x.dtype not in FLOATS:
        raise TypeError(f"{what} takes floating point numbers, not {x.dtype.name}")
    return tensordot(x, cast(kernel, x.dtype), [[-1], [0]])


@export("image.rgb_to_yiq")
@cached_dispatch
def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Convert RGB to the luma and the two color differences of NTSC.

    >>> rgb_to_yiq([[[1., 1., 1.]]]).numpy().round(3).tolist()[0][0][0]
    1.0
    """
    return _mixed(images, _RGB_TO_YIQ, "rgb_to_yiq")


@export("image.yiq_to_rgb")
@cached_dispatch
def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Invert `rgb_to_yiq`.

    >>> yiq_to_rgb([[[1., 0., 0.]]]).numpy().tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    return _mixed(images, _YIQ_TO_RGB, "yiq_to_rgb")


@export("image.rgb_to_yuv")
@cached_dispatch
def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Convert RGB to the luma and the two color differences of PAL.

    >>> rgb_to_yuv([[[1., 1., 1.]]]).numpy().round(3).tolist()[0][0][0]
    1.0
    """
    return _mixed(images, _RGB_TO_YUV, "rgb_to_yuv")


@export("image.yuv_to_rgb")
@cached_dispatch
def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Invert `rgb_to_yuv`.

    >>> yuv_to_rgb([[[1., 0., 0.]]]).numpy().tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    return _mixed(images, _YUV_TO_RGB, "yuv_to_rgb")


@export("image.rgb_to_hsv")
@cached_dispatch
def rgb_to_hsv(images: TensorLike, name: Name = None) -> Tensor:
    """Convert RGB, from 0 to 1, to hue, saturation and value, each from 0 to 1.

    >>> rgb_to_hsv([[[0.5, 0.5, 0.25]]]).numpy().round(4).ravel().tolist()
    [0.16670000553131104, 0.5, 0.5]
    """
    x = _channels(images, "rgb_to_hsv", 3)
    require_dtype(x, FLOATS, "rgb_to_hsv")
    value, least = reduce_max(x, -1), reduce_min(x, -1)
    spread = value - least
    nothing = zeros_like(value)
    saturation = where(value > 0, spread / where(value > 0, value, nothing + 1), nothing)
    red, green, blue = x[..., 0], x[..., 1], x[..., 2]
    norm = 1 / (6 * where(spread > 0, spread, nothing + 1))
    from_green = where(value == green, norm * (blue - red) + 2 / 6, norm * (red - green) + 4 / 6)
    hue = where(value == red, norm * (green - blue), from_green)
    hue = where(spread > 0, hue, nothing)
    return stack([where(hue < 0, hue + 1, hue), saturation, value], -1, name)  # type: ignore[no-any-return]


@export("image.hsv_to_rgb")
@cached_dispatch
def hsv_to_rgb(images: TensorLike, name: Name = None) -> Tensor:
    """Invert `rgb_to_hsv`.

    >>> hsv_to_rgb([[[0.5, 1., 1.]]]).numpy().round(3).tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    x = _channels(images, "hsv_to_rgb", 3)
    require_dtype(x, FLOATS, "hsv_to_rgb")
    hue, saturation, value = x[..., 0] * 6, x[..., 1], x[..., 2]

    def between(ramp: Any) -> Any:
        return minimum(maximum(ramp, 0.0), 1.0)

    red, green, blue = between(abs(hue - 3) - 1), between(2 - abs(hue - 2)), between(2 - abs(hue - 4))
    rest = 1 - saturation
    colors = [(rest + saturation * part) * value for part in (red, green, blue)]
    return stack(colors, -1, name)  # type: ignore[no-any-return]
