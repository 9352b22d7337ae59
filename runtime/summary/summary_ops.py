"""Summaries by kind: scalars, histograms, texts, images, sounds, each in the format of its TensorBoard plug-in."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ir.name_scopes import scope_prefix
from ..ops.math.cast import cast
from . import media_encoding, state
from .events import metadata
from .write import Array, Encode, recorded

WAV = b"\x10\x0b"  # for the audio plug-in: the encoding is WAV


def _scoped(name: str, data: Any, step: Any, meaning: bytes, encode: Encode) -> Tensor:
    """Write under the name, prefixed by the enclosing name scopes."""
    return recorded(scope_prefix() + name, data, step, meaning, encode)


@export("summary.scalar")
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a number, as float32.

    Args:
        name: the tag, prefixed by the name scopes.
        data: a number, or a tensor or variable with one element and no axes.
        step: an integer, a tensor or a variable; default: that of `experimental.set_step`, or of the writer.
        description: in Markdown.

    Returns a bool scalar: whether it was written. Raises ValueError for data that are no scalar, and without a
    step.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=3):
    ...     print(bool(tf.summary.scalar("loss", 0.25)))
    True
    """
    number = cast(convert_to_tensor(data), dtypes.float32)
    if number.shape.rank not in (0, None):
        raise ValueError(f"Expected scalar shape, saw shape: {number.shape}.")
    return _scoped(name, number, step, metadata("scalars", description=description), np.asarray)


@export("summary.histogram")
def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> Tensor:
    """Write a histogram of `buckets` (default 30) of equal width between the minimum and the maximum.

    Other arguments, results and errors as for `scalar`; `data` may have any shape.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=3):
    ...     print(bool(tf.summary.histogram("weights", tf.ones([10]))))
    True
    """
    numbers = cast(convert_to_tensor(data), dtypes.float64)
    encode = functools.partial(histogram_of, buckets=30 if buckets is None else int(buckets))
    return _scoped(name, numbers, step, metadata("histograms", description=description), encode)


def histogram_of(data: Array, buckets: int) -> Array:
    """Return rows of (left edge, right edge, count). If all numbers are equal, the last bucket holds all of them.

    >>> histogram_of(np.array([1.0, 2.0, 2.0, 5.0]), 2).tolist()
    [[1.0, 3.0, 3.0], [3.0, 5.0, 1.0]]
    """
    numbers = np.ravel(data)
    if not numbers.size or not buckets:
        return np.zeros((buckets, 3))
    low, high = numbers.min(), numbers.max()
    if low == high:
        counts = np.zeros(buckets)
        counts[-1] = numbers.size
        return np.stack([np.full(buckets, low), np.full(buckets, high), counts], axis=1)
    width = (high - low) / buckets
    bins = np.clip(np.floor((numbers - low) / width).astype(np.int64), 0, buckets - 1)
    edges = np.linspace(low, high, buckets + 1)
    return np.stack([edges[:-1], edges[1:], np.bincount(bins, minlength=buckets)], axis=1)


@export("summary.text")
def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write texts in Markdown: a string, or a tensor of strings of any shape.

    Raises TypeError for data that are no strings; otherwise as `scalar`.

    >>> text("note", "**bold**", step=0).numpy()
    np.False_
    """
    strings = convert_to_tensor(data)
    if strings.dtype is not dtypes.string:
        raise TypeError(f"tensor must be of type tf.string; got {strings.dtype!r}")
    return _scoped(name, strings, step, metadata("text", description=description), np.asarray)


@export("summary.image")
def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Write images as PNG files.

    Args:
        data: [images, height, width, channels] with 1 to 4 channels (gray, gray and alpha, RGB, RGBA); uint8, or
            floats from 0 to 1, clipped to that range. max_outputs: the maximum number of images to write.

    Other arguments and results as for `scalar`. Raises ValueError for data of another rank or number of channels.

    >>> image("gray", [[[[0.5]]]], step=0).numpy()
    np.False_
    """
    pixels = convert_to_tensor(data)
    if pixels.shape.rank not in (4, None):
        raise ValueError(f"Tensor must have rank 4.  Received rank {pixels.shape.rank}, shape {pixels.shape}")
    if pixels.shape.rank == 4 and pixels.shape[3] not in (1, 2, 3, 4, None):
        raise ValueError(f"images have 1 to 4 channels, not {pixels.shape[3]}")
    encode = functools.partial(_images, count=max_outputs)
    return _scoped(name, pixels, step, metadata("images", description=description), encode)


def _images(data: Array, count: int) -> Array:
    pixels = data if data.dtype == np.uint8 else _as_bytes(data)
    height, width = data.shape[1:3]
    files = [media_encoding.png(image) for image in pixels[:count]]
    out = np.empty(2 + len(files), object)
    out[:] = [str(width).encode(), str(height).encode(), *files]
    return out


def _as_bytes(data: Array) -> Array:
    """Convert floats from 0 to 1 to bytes; integers by their range."""
    if data.dtype.kind in "iu":
        scale = max((int(np.iinfo(data.dtype).max) + 1) // 256, 1)
        return np.asarray(np.clip(data // scale, 0, 255), np.uint8)
    return np.asarray(np.clip(np.floor(np.clip(data, 0, 1) * 255.5), 0, 255), np.uint8)


@export("summary.audio")
def audio(
    name: str,
    data: Any,
    sample_rate: int,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Write sounds as WAV files of 16 bits.

    Args:
        data: [clips, frames, channels], floats from -1 to 1, clipped to that range.
        sample_rate: frames per second.
        max_outputs: the maximum number of clips to write.
        encoding: "wav" or None.

    Other arguments and results as for `scalar`. Raises ValueError for data of another rank and other encodings.

    >>> audio("tone", [[[0.0], [0.5]]], 8000, step=0).numpy()
    np.False_
    """
    waves = convert_to_tensor(data)
    if waves.shape.rank not in (3, None):
        raise ValueError(f"Tensor must have rank 3.  Received rank {waves.shape.rank}, shape {waves.shape}")
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    encode = functools.partial(_sounds, rate=int(sample_rate), count=max_outputs)
    return _scoped(name, waves, step, metadata("audio", WAV, description), encode)


def _sounds(data: Array, rate: int, count: int) -> Array:
    clips = data[:count]
    out = np.empty((len(clips), 2), object)
    for number, clip in enumerate(clips):
        out[number] = media_encoding.wav(clip, rate), b""
    return out


@export("summary.flush")
def flush(writer: Any = None, name: str | None = None) -> None:
    """Write the buffered events of a writer, or of the default one, to the disk.

    >>> flush()
    """
    writer = state.current().writer if writer is None else writer
    if writer is not None:
        writer.flush()
