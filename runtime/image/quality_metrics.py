"""Quality measures of images: total variation, gradients, PSNR, SSIM.

>>> total_variation([[[1.], [3.]], [[1.], [0.]]]).numpy().tolist()
6.0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.creation import zeros_like
from ..ops.arrays.pad_ops import pad
from ..ops.arrays.reshape import reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.op import Name
from ..ops.framework.op_families import wrong
from ..ops.math.arithmetic import pow, squared_difference
from ..ops.math.cast import cast
from ..ops.math.elementwise import abs, log, square
from ..ops.nn.activations import relu
from ..ops.nn.conv_api import depthwise_conv2d
from ..ops.nn.pool_api import avg_pool2d
from ..ops.reduce.reductions import reduce_mean, reduce_prod, reduce_sum
from .convert_dtype import convert_image_dtype


@export("image.total_variation")
def total_variation(images: TensorLike, name: Name = None) -> Tensor:
    """Return the sum of the absolute differences of neighbors, a number for each image.

    >>> total_variation([[[[1.], [3.]]], [[[1.], [1.]]]]).numpy().tolist()
    [2.0, 0.0]
    """
    x = convert_to_tensor(images)
    if x.shape.rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    rows, columns = abs(x[..., 1:, :, :] - x[..., :-1, :, :]), abs(x[..., 1:, :] - x[..., :-1, :])
    axes = [-3, -2, -1]
    return reduce_sum(rows, axes) + reduce_sum(columns, axes)  # type: ignore[no-any-return]


@export("image.image_gradients")
def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the differences to the next row and to the next column, 0 at the end.

    Args:
        image: [batch, height, width, channels].

    >>> dy, dx = image_gradients([[[[1.], [3.]], [[2.], [0.]]]])
    >>> dy.numpy().ravel().tolist(), dx.numpy().ravel().tolist()
    ([1.0, -3.0, 0.0, 0.0], [2.0, 0.0, -2.0, 0.0])
    """
    x = convert_to_tensor(image)
    if x.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}.")
    down, right = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
    return concat([down, zeros_like(x[:, :1])], 1), concat([right, zeros_like(x[:, :, :1])], 2)


_SOBEL = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], np.float32)


@export("image.sobel_edges")
def sobel_edges(image: TensorLike) -> Tensor:
    """Return the vertical and horizontal gradients by Sobel's filters: [batch, height, width, channels, 2].

    >>> sobel_edges([[[[0.], [0.]], [[1.], [1.]]]]).numpy().shape
    (1, 2, 2, 1, 2)
    """
    x = convert_to_tensor(image)
    channels = x.shape[-1] if x.shape.rank == 4 else None
    if channels is None:
        raise wrong(
            f"sobel_edges: [batch, height, width, channels] with known channels are needed, not {x.shape}"
        )
    filters = np.tile(_SOBEL.transpose(1, 2, 0)[:, :, np.newaxis], (1, 1, channels, 1))
    wide = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    edges = depthwise_conv2d(wide, cast(filters, x.dtype), [1, 1, 1, 1], "VALID")
    return reshape(edges, concat([shape_of(x), [2]], 0))  # type: ignore[no-any-return]


def _floats(max_val: Any, *images: Any) -> list[Tensor]:
    """Return the maximum value and the images, converted to float32."""
    first = convert_to_tensor(images[0])
    return [convert_image_dtype(x, dtypes.float32) for x in (cast(max_val, first.dtype), *images)]


def _check_pair(one: Tensor, other: Tensor, least: int, what: str) -> None:
    for x in (one, other):
        if x.shape.rank is not None and x.shape.rank < 3:
            raise ValueError(f"{what}: images need at least three axes, not the shape {x.shape}")
        if x.shape.rank is not None and any(
            size is not None and size < least for size in list(x.shape)[-3:-1]
        ):
            raise wrong(f"{what}: images must be at least {least} by {least}, not {x.shape}")
    if one.shape.rank and other.shape.rank and not one.shape[-3:].is_compatible_with(other.shape[-3:]):
        raise ValueError(f"Two images must have the same shape: {one.shape} and {other.shape}")


@export("image.psnr")
def psnr(a: TensorLike, b: TensorLike, max_val: Any, name: Name = None) -> Tensor:
    """Return the peak signal-to-noise ratio in decibels: `10 log10(max_val ** 2 / mean squared difference)`.

    The images are [..., height, width, channels]; `max_val` is the largest possible value.

    >>> psnr([[[1.]]], [[[0.]]], 1.0).numpy().tolist()
    0.0
    """
    limit, one, other = _floats(max_val, a, b)
    _check_pair(one, other, 0, "psnr")
    error = reduce_mean(squared_difference(one, other), [-3, -2, -1])
    return 20 * log(limit) / math.log(10.0) - float(np.float32(10 / np.log(10))) * log(error)  # type: ignore[no-any-return]


@export("image.ssim")
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Return the structural similarity of two images (Wang et al., 2004), a number for each pair.

    Args:
        img1, img2: [..., height, width, channels], of one dtype; sides of at least `filter_size`.
        max_val: the difference between the largest and the smallest possible value.
        filter_size, filter_sigma: the size and the standard deviation of the Gaussian windows.
        k1, k2: constants that keep divisors away from 0.
        return_index_map: return a number for each window instead of their mean.

    >>> from ..ops.arrays.creation import ones
    >>> ssim(ones([12, 12, 1]), ones([12, 12, 1]), 1.0).numpy().tolist()
    1.0
    """
    limit, one, other = _floats(max_val, img1, img2)
    _check_pair(one, other, filter_size, "ssim")
    similar, _ = _similarity(one, other, limit, filter_size, filter_sigma, k1, k2, return_index_map)
    return reduce_mean(similar, [-1])  # type: ignore[no-any-return]


def _similarity(
    one: Tensor, other: Tensor, limit: Any, size: int, sigma: float, k1: float, k2: float, whole: bool = False
) -> tuple[Tensor, Tensor]:
    """Return SSIM and its contrast and structure factor, for each channel."""
    c1, c2 = (k1 * limit) ** 2, (k2 * limit) ** 2
    filter = _gaussian(size, sigma)
    mean_one, mean_other = _blurred(one, filter), _blurred(other, filter)
    product = mean_one * mean_other * 2.0
    squares = square(mean_one) + square(mean_other)
    luminance = (product + c1) / (squares + c1)
    crossed, both = _blurred(one * other, filter) * 2.0, _blurred(square(one) + square(other), filter)
    structure = (crossed - product + c2) / (both - squares + c2)
    if whole:
        return luminance * structure, structure
    return reduce_mean(luminance * structure, [-3, -2]), reduce_mean(structure, [-3, -2])


def _gaussian(size: int, sigma: float) -> Any:
    """Return the weights along one axis."""
    offsets = np.arange(size, dtype=np.float32) - np.float32(size - 1) / 2
    heights = offsets**2 * np.float32(-0.5 / sigma**2)
    weights = np.exp(heights)
    return (weights / weights.sum()).astype(np.float32)


def _blurred(x: Tensor, filter: Any) -> Tensor:
    channels = x.shape[-1]
    if channels is None:
        raise ValueError("ssim: the number of channels must be known")
    sizes = shape_of(x)
    flat = reshape(x, concat([[-1], sizes[-3:]], 0))
    down = np.tile(filter[:, np.newaxis, np.newaxis, np.newaxis], (1, 1, channels, 1))
    y = depthwise_conv2d(flat, down, [1, 1, 1, 1], "VALID")
    y = depthwise_conv2d(y, down.swapaxes(0, 1), [1, 1, 1, 1], "VALID")
    return reshape(y, concat([sizes[:-3], shape_of(y)[1:]], 0))  # type: ignore[no-any-return]


_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


@export("image.ssim_multiscale")
def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: Any,
    power_factors: Sequence[float] = _SCALES,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Return the product of similarities of two images and of downscaled versions of them (Wang et al., 2003).

    The arguments are those of `ssim`. Each scale halves the images of the scale before, and its similarity is raised to
    its number in `power_factors`.

    >>> from ..ops.arrays.creation import ones
    >>> ssim_multiscale(ones([8, 8, 1]), ones([8, 8, 1]), 1.0, [0.5, 0.5], 3).numpy().tolist()
    1.0
    """
    limit, one, other = _floats(max_val, img1, img2)
    _check_pair(one, other, filter_size, "ssim_multiscale")
    parts: list[Tensor] = []
    for scale in range(len(power_factors)):
        if scale:
            one, other = _halved(one), _halved(other)
            _check_pair(one, other, filter_size, f"ssim_multiscale, scale {scale}")
        similar, structure = _similarity(one, other, limit, filter_size, filter_sigma, k1, k2)
        parts.append(relu(structure if scale < len(power_factors) - 1 else similar))
    powers = pow(stack(parts, -1), cast(list(power_factors), dtypes.float32))
    return reduce_mean(reduce_prod(powers, [-1]), [-1])  # type: ignore[no-any-return]


def _halved(x: Tensor) -> Tensor:
    """Return the means of blocks of two by two elements; an odd last row or column counts twice."""
    sizes = shape_of(x)
    flat = reshape(x, concat([[-1], sizes[-3:]], 0))
    odd = sizes[-3:-1] % 2
    flat = pad(flat, stack([[0, 0], stack([0, odd[0]]), stack([0, odd[1]]), [0, 0]]), "SYMMETRIC")
    small = avg_pool2d(flat, 2, 2, "VALID")
    channels = sizes[-1:] if x.shape[-1] is None else [x.shape[-1]]
    return reshape(small, concat([sizes[:-3], shape_of(small)[1:3], channels], 0))  # type: ignore[no-any-return]
