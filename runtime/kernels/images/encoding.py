"""Encode images: PNG by zlib, JPEG by Pillow."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from ... import errors
from .decoding import pillow

Array = Any

_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png(pixels: Array, compression: int = -1) -> bytes:
    """Return an image of uint8 or uint16 [height, width, 1 to 4 channels] as PNG.

    >>> png(np.zeros((1, 2, 3), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width, channels = pixels.shape
    if not height or not width:
        raise errors.InvalidArgumentError(f"PNG encoding failed: the image {pixels.shape} is empty")
    depth = 8 * pixels.itemsize
    rows = (
        np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">"))).view(np.uint8).reshape(height, -1)
    )
    if depth == 8:  # differences to the row above compress better
        filtered = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))
        rows = np.concatenate([np.full((height, 1), 2, np.uint8), filtered], 1)
    else:
        rows = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1)
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPES[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), compression)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def jpeg(pixels: Array, **options: Any) -> bytes:
    """Return an image of uint8 [height, width, 1 or 3 channels] as JPEG, with options of Pillow."""
    if not pixels.size:
        raise errors.InvalidArgumentError(f"JPEG encoding failed: the image {pixels.shape} is empty")
    image = pillow().fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()
