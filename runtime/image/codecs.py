"""Images from and to files: `tf.io.decode_image`, `tf.io.encode_jpeg` and others, which are in `tf.image`, too.

Pillow decodes and encodes them; `pip install agc-autograph[image]` installs it. Only `encode_png` and `is_jpeg` do
without.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ops.arrays.strided_slice import slice as sliced
from ..ops.image import codecs
from ..ops.math.comparison import equal
from ..ops.strings.strings import substr
from ..sparse.checks import expect
from .convert_dtype import convert_image_dtype


@export("io.decode_image", "image.decode_image")
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """Return an image of a JPEG, PNG, GIF or BMP file: [height, width, channels], a GIF [frames, height, width, 3].

    Args:
        contents: the bytes of the file, a scalar.
        channels: 1, 3 or 4; 0 for as many as the file has.
        dtype: uint8, uint16, or float32 for numbers from 0 to 1.
        expand_animations: if false, the first frame of a GIF is returned, and the result has a known rank.

    Raises InvalidArgumentError for other files, and images of more than 512 MiB.

    >>> import agc.runtime as tf
    >>> png = tf.io.encode_png(tf.constant([[[255], [0]]], tf.uint8))
    >>> decode_image(png, dtype=tf.float32).numpy().tolist()
    [[[1.0], [0.0]]]
    """
    source = "image" if expand_animations else "still"
    return codecs.decode(contents, channels or 0, dtype, source, name=name)


@export("io.decode_png", "image.decode_png")
def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Any:
    """Return a PNG image as uint8 or uint16 [height, width, channels]; see `tf.io.decode_image`.

    >>> import agc.runtime as tf
    >>> png = tf.io.encode_png(tf.constant([[[255], [0]]], tf.uint8))
    >>> tf.io.decode_png(png).numpy().tolist()
    [[[255], [0]]]
    """
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.uint8, dtypes.uint16):
        raise ValueError(f"`dtype` must be uint8 or uint16, not {kind.name}")
    return codecs.decode(contents, channels, kind, "png", name=name)


@export("io.decode_jpeg", "image.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """Return a JPEG image as uint8 [height, width, channels]; see `tf.io.decode_image`.

    Args:
        ratio: by which the image is made smaller: 1, 2, 4 or 8.
        try_recover_truncated: whether a file that breaks off is decoded as far as it goes.
        fancy_upscaling, acceptable_fraction, dct_method: accepted for compatibility.

    >>> import agc.runtime as tf
    >>> decode_jpeg(encode_jpeg(tf.zeros([2, 3, 3], tf.uint8))).shape
    TensorShape([2, 3, 3])
    """
    return codecs.decode(contents, channels, dtypes.uint8, "jpeg", ratio, try_recover_truncated, name=name)


@export("io.decode_gif", "image.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Any:
    r"""Return the frames of a GIF as uint8 [frames, height, width, 3]; see `tf.io.decode_image`.

    >>> gif = (
    ...     b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00"
    ...     b"\x02\x02D\x01\x00;"
    ... )
    >>> decode_gif(gif).numpy().tolist()
    [[[[255, 0, 0]]]]
    """
    return codecs.decode(contents, 0, dtypes.uint8, "gif", name=name)


@export("io.decode_bmp", "image.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    r"""Return a BMP image as uint8 [height, width, channels]; see `tf.io.decode_image`.

    >>> bmp = b"BM:" + bytes(7) + b"6" + bytes(3) + b"(" + bytes(3) + b"\x01" + bytes(3) + b"\x01" + bytes(3)
    >>> bmp += b"\x01\x00\x18" + bytes(25) + b"\x00\x00\xff\x00"
    >>> decode_bmp(bmp).numpy().tolist()
    [[[255, 0, 0]]]
    """
    return codecs.decode(contents, channels, dtypes.uint8, "bmp", name=name)


@export("io.decode_and_crop_jpeg", "image.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """Return a part of a JPEG image; `crop_window` is its first row and column, its height and its width.

    The other arguments are those of `decode_jpeg`. Raises InvalidArgumentError for a window outside of the image.

    >>> import agc.runtime as tf
    >>> decode_and_crop_jpeg(encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)), [0, 0, 4, 2]).shape
    TensorShape([4, 2, 3])
    """
    expect(is_jpeg(contents), "decode_and_crop_jpeg can run on JPEG only.")
    whole = codecs.decode(contents, channels, dtypes.uint8, "jpeg", ratio, try_recover_truncated, name=name)
    window = convert_to_tensor(crop_window, dtypes.int32)
    try:
        return sliced(whole, [window[0], window[1], 0], [window[2], window[3], -1])
    except ValueError as error:
        raise errors.InvalidArgumentError(f"Invalid JPEG data or crop window: {error}") from None


@export("io.extract_jpeg_shape", "image.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return height, width and channels of a JPEG image, without decoding it.

    >>> import agc.runtime as tf
    >>> extract_jpeg_shape(encode_jpeg(tf.zeros([2, 3, 1], tf.uint8))).numpy().tolist()
    [2, 3, 1]
    """
    return codecs.jpeg_shape(contents, output_type, name=name)


@export("io.is_jpeg", "image.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Return whether bytes begin as a JPEG file.

    >>> is_jpeg(b"\\xff\\xd8\\xff\\xe0").numpy(), is_jpeg(b"GIF89a").numpy()
    (np.True_, np.False_)
    """
    return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


@export("io.encode_jpeg", "image.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    """Return an image of uint8 [height, width, 1 or 3 channels] as the bytes of a JPEG file.

    Args:
        format: "grayscale" or "rgb", for a check of the number of channels.
        quality: from 0 to 100.
        progressive, optimize_size, chroma_downsampling: how the file is compressed.
        density_unit: "in" or "cm", the unit of `x_density` and `y_density` in pixels.
        xmp_metadata: must be empty.

    Raises InvalidArgumentError and ValueError for other images and options.

    >>> import agc.runtime as tf
    >>> is_jpeg(encode_jpeg(tf.zeros([2, 3, 1], tf.uint8))).numpy()
    np.True_
    """
    tensor = convert_to_tensor(image)
    wanted = {"": None, "grayscale": 1, "rgb": 3}
    if format not in wanted or density_unit not in ("in", "cm") or xmp_metadata:
        raise ValueError(
            f"encode_jpeg: format {format!r}, density_unit {density_unit!r} and xmp_metadata {xmp_metadata!r} "
            f"must be in {list(wanted)}, ['in', 'cm'] and ['']"
        )
    channels = tensor.shape[-1] if tensor.shape.rank else None
    if format and channels not in (wanted[format], None):
        raise errors.InvalidArgumentError(
            f"format {format} expects {wanted[format]} channels, got {channels}"
        )
    unit = 1.0 if density_unit == "in" else 2.54
    density = [round(x_density * unit), round(y_density * unit)]
    subsampling = 2 if chroma_downsampling else 0
    return codecs.encode_jpeg(tensor, quality, progressive, optimize_size, subsampling, density, name=name)


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None) -> Any:
    """Return an RGB image after JPEG compression with a quality from 0 to 100.

    Args:
        image: [height, width, 3], uint8, or floating with numbers from 0 to 1.
        jpeg_quality: a Python integer.
        dct_method: accepted for compatibility.

    >>> import agc.runtime as tf
    >>> adjust_jpeg_quality(tf.zeros([2, 3, 3], tf.uint8), 50).shape
    TensorShape([2, 3, 3])
    """
    tensor = convert_to_tensor(image)
    eight_bits = convert_image_dtype(tensor, dtypes.uint8, saturate=True)
    decoded = decode_jpeg(encode_jpeg(eight_bits, quality=jpeg_quality), channels=3, name=name)
    return convert_image_dtype(decoded, tensor.dtype, saturate=True)
