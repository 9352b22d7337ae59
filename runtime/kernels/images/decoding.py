"""Decode images by Pillow: JPEG, PNG, GIF and BMP.

b"\\x89PNG…"      ⇒      uint8 [height, width, channels]
b"GIF8…"         ⇒      uint8 [frames, height, width, 3]
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from ... import errors

Array = Any

MOST_BYTES = 1 << 29
"""The maximum size of a decoded image in bytes; a small file may decode to a huge image."""

_SIGNATURES = {b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG", b"GIF8": "GIF", b"BM": "BMP"}

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}

_PNG_GRAY = np.array([[9797], [19234], [3737]], np.int32)
"""The weights of red, green and blue in 1/32768, with which TensorFlow decodes PNG to gray, rounding down."""


def pillow() -> Any:
    """Return the module `PIL.Image`; ImportError that says what to install."""
    try:
        from PIL import Image
    except ImportError:
        raise errors.UnimplementedError(
            "images are decoded and encoded by Pillow, which is not installed: "
            "pip install agc-autograph[image]"
        ) from None
    return Image


def format_of(content: bytes) -> str:
    """Return the format of an image, by its first bytes; InvalidArgumentError for others."""
    if not content:
        raise errors.InvalidArgumentError("Input is empty.")
    found = next((name for start, name in _SIGNATURES.items() if content.startswith(start)), None)
    if found is None:
        raise errors.InvalidArgumentError("Unknown image file format. One of JPEG, PNG, GIF, BMP required.")
    return found


def opened(content: bytes, kind: str) -> Any:
    """Return Pillow's image, whose pixels are not decoded yet."""
    image_module = pillow()
    try:
        return image_module.open(io.BytesIO(content), formats=[kind])
    except Exception as error:  # Pillow raises errors of many classes for damaged files
        raise errors.InvalidArgumentError(f"Invalid {kind} data, size {len(content)} ({error})") from None


def check_size(image: Any, channels: int, frames: int = 1) -> None:
    """Raise InvalidArgumentError for an image that would take too much memory."""
    width, height = image.size
    if width * height * channels * frames > MOST_BYTES:
        raise errors.InvalidArgumentError(
            f"the image has {frames} x {height} x {width} pixels of {channels} bytes; at most {MOST_BYTES} bytes "
            f"are decoded"
        )


def decoded(content: bytes, channels: int, is_wide: bool, ratio: int = 1, lenient: bool = False) -> Array:
    """Return the pixels of an image: uint8, or uint16 if `is_wide`; a GIF has an axis of frames.

    Args:
        channels: 1, 3 or 4, or 0 for as many as the file has.
        ratio: by which a JPEG is made smaller while it is decoded: 1, 2, 4 or 8.
        lenient: whether the missing part of a JPEG that breaks off is gray.

    Raises InvalidArgumentError for invalid and too large images.
    """
    kind = format_of(content)
    if kind == "PNG":
        _check_png(content)
    end_of_image = b"\xff\xd9" if lenient and kind == "JPEG" else b""
    image = opened(content + end_of_image, kind)
    try:
        if kind == "GIF":
            pixels = _frames(image, channels)
        elif kind == "JPEG":
            pixels = _jpeg(image, channels, ratio)
        else:
            pixels = _still(image, content, kind, channels, is_wide)
    except errors.OpError:
        raise
    except Exception as error:  # Pillow raises errors of many classes for damaged files
        raise errors.InvalidArgumentError(f"Invalid {kind} data, size {len(content)} ({error})") from None
    if is_wide and pixels.dtype == np.uint8:  # TensorFlow shifts numbers of 8 bits, but those of PNG
        return pixels.astype(np.uint16) * np.uint16(257 if kind == "PNG" else 256)
    return pixels


def _check_png(content: bytes) -> None:
    """Raise InvalidArgumentError if a checksum of pixels is wrong, which Pillow ignores, or the end is missing."""
    position, kind = 8, b""
    while kind != b"IEND":
        head = content[position : position + 8]
        size, kind = struct.unpack(">I4s", head) if len(head) == 8 else (0, b"")
        end = position + 8 + size
        checksum = content[end : end + 4]
        if len(checksum) < 4:
            raise errors.InvalidArgumentError(f"Invalid PNG data, size {len(content)} (it breaks off)")
        is_needed = kind[:1].isupper()
        if is_needed and zlib.crc32(memoryview(content)[position + 4 : end]) != int.from_bytes(checksum):
            raise errors.InvalidArgumentError(
                f"Invalid PNG data, size {len(content)} (wrong checksum at byte {end})"
            )
        position = end + 4


def _frames(image: Any, channels: int) -> Array:
    if channels not in (0, 3):
        raise errors.InvalidArgumentError(f"channels must be 0 or 3 for GIF, got {channels}")
    check_size(image, 4)
    found: list[Array] = []
    while True:
        try:
            image.seek(len(found))
        except EOFError:
            return np.stack(found)
        check_size(image, 3, len(found) + 1)
        whole = image.convert("RGBA")
        pixels = np.array(whole)
        pixels[pixels[..., 3] == 0] = 0
        found.append(pixels[..., :3])


def _jpeg(image: Any, channels: int, ratio: int) -> Array:
    if channels == 4:
        raise errors.InvalidArgumentError("JPEG does not support 4 channels")
    mode = _MODES[channels] if channels else "L" if image.mode == "L" else "RGB"
    width, height = image.size
    check_size(image, 4)
    if mode == "L" or ratio > 1:
        image.draft(mode, (width / ratio, height / ratio))  # a rounded size may be reached by another ratio
    return _array(image.convert(mode))


def _still(image: Any, content: bytes, kind: str, channels: int, is_wide: bool) -> Array:
    if kind == "BMP" and content[28:30] == b" \0":
        return _bmp_of_four(image, content, channels)
    depth = content[24] if kind == "PNG" and len(content) > 24 else 8
    check_size(image, 4 if depth < 16 else 8)
    if depth == 16 and image.mode not in ("I;16", "I"):
        if is_wide:
            raise errors.UnimplementedError(
                "PNG with 16 bits in color is only decoded to uint8, not to uint16"
            )
    elif depth == 16:
        pixels = np.array(image).astype(np.uint16)[..., None]
        if not is_wide:
            pixels = (pixels >> 8).astype(np.uint8)
        return _with_channels(pixels, channels or 1)
    if image.mode == "LA" and channels != 4:
        pixels = _array(image)
        return pixels if not channels else _with_channels(pixels[..., :1], channels)
    has_alpha = image.mode == "RGBA" or "transparency" in image.info
    is_gray = image.mode in ("1", "L", "LA")
    if kind == "PNG" and channels == 1 and not is_gray:
        return (np.array(image.convert("RGB")).astype(np.int32) @ _PNG_GRAY >> 15).astype(np.uint8)
    own = 1 if is_gray else 4 if has_alpha else 3
    return _array(image.convert(_MODES[channels or own]))


def _bmp_of_four(image: Any, content: bytes, channels: int) -> Array:
    """Return the pixels of a BMP of 32 bits, whose alpha Pillow drops."""
    width, height = image.size
    check_size(image, 4)
    start = int.from_bytes(content[10:14], "little")
    is_top_down = int.from_bytes(content[22:26], "little", signed=True) < 0
    rows = np.frombuffer(content, np.uint8, 4 * width * height, start).reshape(height, width, 4)
    pixels = rows[:: 1 if is_top_down else -1, :, [2, 1, 0, 3]]
    return np.array(image.convert("L"))[..., None] if channels == 1 else pixels[..., : channels or 4]


def _with_channels(gray: Array, channels: int) -> Array:
    color = np.repeat(gray, min(channels, 3), -1)
    if channels < 4:
        return color
    return np.concatenate([color, np.full_like(gray, np.iinfo(gray.dtype).max)], -1)


def _array(image: Any) -> Array:
    pixels = np.array(image)
    return pixels if pixels.ndim == 3 else pixels[..., None]
