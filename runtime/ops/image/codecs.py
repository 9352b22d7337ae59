"""Operations that decode and encode images: JPEG, PNG, GIF and BMP, by Pillow (the extra `image`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.images import decoding, encoding
from ..framework.attribute_parsers import Axes, DType
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from ..strings.map_bytes import filled

Array = Any

_SOURCES = frozenset({"image", "png", "jpeg", "bmp", "gif", "still"})


def _check_scalar(operand: Any, name: str) -> None:
    require_dtype(operand, STRINGS, name)
    if operand.shape not in ((), None):
        raise ValueError(f"`contents` must be scalar but got shape{list(operand.shape)}")


def _content(contents: Array) -> bytes:
    content: bytes = np.asarray(contents, object).item()
    return content


@op(name="decode_image")
def decode(
    contents: Input,
    channels: int = 0,
    dtype: DType = dtypes.uint8,
    source: str = "image",
    ratio: int = 1,
    lenient: bool = False,
    name: Name = None,
) -> TensorType:
    """Decode an image to uint8, uint16, or float32 from 0 to 1.

    Args:
        source: the function that calls: png, jpeg, bmp or gif, image (a GIF has an axis of frames), or still (the
            first frame of a GIF).
        ratio, lenient: as for `kernels.images.decoding.decoded`.

    >>> from agc.runtime import zeros
    >>> decode(encode_png(zeros([1, 2, 3], dtypes.uint8))).shape
    TensorShape([1, 2, 3])
    >>> decode(b"hello")
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: Unknown image file format. One of JPEG, PNG, GIF, BMP required. [op decode_image of contents: string[]]
    """  # noqa: E501
    _check_scalar(contents, "decode_image")
    if channels not in (0, 1, 3, 4):
        raise ValueError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    if dtype not in (dtypes.uint8, dtypes.uint16, dtypes.float32):
        raise ValueError(f"`dtype` must be uint8, uint16 or float32, not {dtype.name}")
    if source not in _SOURCES or ratio not in (1, 2, 4, 8):
        raise ValueError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if source == "gif":
        return TensorType(dtype, (None, None, None, 3))
    return TensorType(dtype, None if source == "image" else (None, None, channels or None))


@decode.kernel
def _(contents: Array, channels: int, dtype: Any, source: str, ratio: int, lenient: bool) -> Array:
    content = _content(contents)
    kind = decoding.format_of(content)
    if (source == "bmp") != (kind == "BMP") and source not in ("image", "still"):
        right = f"decode_{kind.lower()}"
        raise errors.InvalidArgumentError(
            f"Trying to decode {kind} format using decode_{source}. Use `{right}` or `decode_image` instead."
        )
    if source == "gif" and kind != "GIF":
        channels = 3
    is_wide = dtype is dtypes.uint16 or (dtype is dtypes.float32 and kind == "PNG")
    pixels = decoding.decoded(content, channels, is_wide, ratio, lenient)
    if dtype is dtypes.float32:
        pixels = pixels.astype(np.float32) * np.float32(1 / np.iinfo(pixels.dtype).max)
    if source == "gif":
        return pixels if pixels.ndim == 4 else pixels[None]
    if pixels.ndim == 4 and source != "image":
        if len(pixels) > 1 and source != "still":
            raise errors.InvalidArgumentError(
                f"Got {len(pixels)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                f"tf.io.decode_image"
            )
        return pixels[0]
    return pixels


@op
def jpeg_shape(contents: Input, output_type: DType = dtypes.int32, name: Name = None) -> TensorType:
    """Return height, width and channels of a JPEG image, without decoding it.

    >>> from agc.runtime import zeros
    >>> jpeg_shape(encode_jpeg(zeros([1, 2, 3], dtypes.uint8))).numpy().tolist()
    [1, 2, 3]
    >>> jpeg_shape(b"hello")
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: Invalid JPEG data, size 5 [op jpeg_shape of contents: string[]]
    """
    _check_scalar(contents, "extract_jpeg_shape")
    return TensorType(output_type, (3,))


@jpeg_shape.kernel
def _(contents: Array, output_type: Any) -> Array:
    content = _content(contents)
    if not content.startswith(b"\xff\xd8\xff"):
        raise errors.InvalidArgumentError(f"Invalid JPEG data, size {len(content)}")
    image = decoding.opened(content, "JPEG")
    width, height = image.size
    return np.array([height, width, len(image.getbands())], output_type.numpy_dtype)


@export("io.encode_png", "image.encode_png")
@op
def encode_png(image: Input, compression: int = -1, name: Name = None) -> TensorType:
    """Encode images of uint8 or uint16 [..., height, width, channels] as PNG, a string each.

    Args:
        image: with 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 channels (RGB, alpha).
        compression: from 0 to 9, or -1 for zlib's default.

    >>> from agc.runtime import zeros
    >>> encode_png(zeros([1, 2, 3], dtypes.uint8)).numpy()[:4]
    b'\\x89PNG'
    """
    require_dtype(image, frozenset({dtypes.uint8, dtypes.uint16}), "encode_png")
    if not -1 <= compression <= 9:
        raise ValueError(f"compression should be in [-1, 9], got {compression}")
    if image.shape is None:
        return TensorType(dtypes.string, None)
    if len(image.shape) < 3 or image.shape[-1] not in (1, 2, 3, 4, None):
        raise ValueError(f"images must be at least rank 3, with 1 to 4 channels, got {list(image.shape)}")
    return TensorType(dtypes.string, image.shape[:-3])


@encode_png.kernel
def _(image: Array, compression: int) -> Array:
    if image.ndim < 3 or not 1 <= image.shape[-1] <= 4:
        raise errors.InvalidArgumentError(
            f"images must be at least rank 3, with 1 to 4 channels, got {list(image.shape)}"
        )
    flat = image.reshape(-1, *image.shape[-3:]) if image.size else image[None] if image.ndim == 3 else []
    return filled((encoding.png(one, compression) for one in flat), image.shape[:-3])


@op(name="encode_jpeg")
def encode_jpeg(
    image: Input,
    quality: int = 95,
    progressive: bool = False,
    optimize: bool = False,
    subsampling: int = 2,
    density: Axes = (300, 300),
    name: Name = None,
) -> TensorType:
    """Encode an image of uint8 [height, width, 1 or 3 channels] as JPEG; see `tf.io.encode_jpeg`.

    >>> from agc.runtime import zeros
    >>> encode_jpeg(zeros([1, 2, 3], dtypes.uint8)).numpy()[:2]
    b'\\xff\\xd8'
    >>> encode_jpeg(zeros([0, 2, 3], dtypes.uint8))
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: JPEG encoding failed: the image (0, 2, 3) is empty [op encode_jpeg...
    """
    require_dtype(image, frozenset({dtypes.uint8}), "encode_jpeg")
    if not 0 <= quality <= 100:
        raise ValueError(f"quality must be in [0,100], got {quality}")
    if image.shape is not None and (len(image.shape) != 3 or image.shape[-1] not in (1, 3, None)):
        raise ValueError(
            f"image must be 3-dimensional and must have 1 or 3 channels, got {list(image.shape)}"
        )
    return TensorType(dtypes.string, ())


@encode_jpeg.kernel
def _(image: Array, quality: int, progressive: bool, optimize: bool, subsampling: int, density: Any) -> Array:
    if image.ndim != 3 or image.shape[-1] not in (1, 3):
        raise errors.InvalidArgumentError(
            f"image must be 3-dimensional and must have 1 or 3 channels, got {list(image.shape)}"
        )
    options = {
        "quality": quality,
        "progressive": progressive,
        "optimize": optimize,
        "subsampling": subsampling,
    }
    return np.array(encoding.jpeg(image, dpi=density, **options), object)
