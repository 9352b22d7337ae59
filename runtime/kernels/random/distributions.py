"""Distributions from random bits: uniform, normal, truncated normal, categorical.

uniform    the low bits of a word are the binary digits of a number in [0, 1)
normal     two uniform numbers give two normal ones (Box and Muller)
truncated  normal numbers beyond 2 are rejected; the next ones of the same run of blocks replace them
category   the index at which the accumulated weights of a row exceed a uniform number
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from ..orders import places_in_rows
from . import philox
from .philox import Stream

Array = Any

BLOCKS_PER_ELEMENT = 256
"""The number of blocks that an operation reserves for each element, used or not; the same as TensorFlow's."""

_DIGITS = {dtypes.float16: 10, dtypes.bfloat16: 7, dtypes.float32: 23, dtypes.float64: 52}
"""The number of bits of a word that become a uniform number."""

_MANTISSA = 0x7FFFFF
_UNIT = 2.0**-23
_SMALLEST = 1.0e-7  # lower bound for the argument of the logarithm
_AT_ONCE = 1 << 14  # words per chunk, so that the numbers stay in the cache


def words(stream: Stream, count: int, dtype: dtypes.DType) -> Array:
    """Return the words for `count` numbers of `dtype`; 64-bit numbers take two each."""
    first = stream.reserve(count * BLOCKS_PER_ELEMENT)
    return stream.bits(first, -(-count * (2 if dtype.size == 8 else 1) // 4)).reshape(-1)


def _native(fill: Any, stream: Stream, sizes: int | tuple[int, ...], step: int = 1) -> Array:
    """Return numbers of float32, in an array of these sizes, that a function of the extension draws."""
    found = np.empty(sizes, np.float32)
    first = stream.reserve(found.size * BLOCKS_PER_ELEMENT)
    fill(found, stream.key, first, first >> 64, step)
    return found


def uniforms(stream: Stream, sizes: tuple[int, ...], dtype: dtypes.DType) -> Array:
    """Return uniform numbers in [0, 1), in an array of these sizes."""
    if philox.native is not None and dtype is dtypes.float32:
        return _native(philox.native.uniform, stream, sizes)
    count = math.prod(sizes)
    return uniform(words(stream, count, dtype), dtype)[:count].reshape(sizes)


def normals(stream: Stream, sizes: tuple[int, ...], dtype: dtypes.DType) -> Array:
    """Return standard normal numbers, in an array of these sizes."""
    if philox.native is not None and dtype is not dtypes.float64:
        return _native(philox.native.normal, stream, sizes).astype(dtype.numpy_dtype, copy=False)
    count = math.prod(sizes)
    return normal(words(stream, count, dtype), dtype)[:count].reshape(sizes)


def uniform(bits: Array, dtype: dtypes.DType) -> Array:
    """Return numbers in [0, 1): one from each word, or from each two words for float64.

    >>> uniform(np.array([0, 1 << 22], np.uint32), dtypes.float32).tolist()
    [0.0, 0.5]
    """
    kind: Any = np.float64 if dtype is dtypes.float64 else np.float32
    if dtype is dtypes.float64:
        high, low = bits[::2] & np.uint32((1 << 20) - 1), bits[1::2]
        return high * 2.0**-20 + low * 2.0**-52  # the products and the sum are exact
    digits = _DIGITS[dtype]
    numbers = (bits & bits.dtype.type((1 << digits) - 1)).astype(kind)
    numbers *= kind(2.0**-digits)
    return numbers.astype(dtype.numpy_dtype, copy=False)


def _joined(bits: Array) -> Array:
    """Return a number of 64 bits for each two words, the lower one first."""
    return bits.astype("<u4", copy=False).view("<u8").astype(np.uint64, copy=False)


def integers(stream: Stream, sizes: tuple[int, ...], low: int, high: int, dtype: dtypes.DType) -> Array:
    """Return integers in [low, high), in an array of these sizes."""
    count = math.prod(sizes)
    return between(words(stream, count, dtype), low, high, dtype)[:count].reshape(sizes)


def between(bits: Array, low: int, high: int, dtype: dtypes.DType) -> Array:
    """Return integers in [low, high): one from each word, or from two words for 64 bits.

    >>> between(np.array([7, 12], np.uint32), 100, 110, dtypes.int32).tolist()
    [107, 102]
    """
    drawn = _joined(bits) if dtype.size == 8 else bits
    kind = drawn.dtype.type
    number = drawn // kind(high - low)  # faster than a remainder
    number *= kind(high - low)
    np.subtract(drawn, number, out=number)
    number += kind(low & (1 << 8 * dtype.size) - 1)
    return number.view(dtype.numpy_dtype)


def any_integers(bits: Array, dtype: dtypes.DType) -> Array:
    """Return integers uniform over the full range of `dtype`.

    >>> any_integers(np.array([3, 1 << 31], np.uint32), dtypes.int32).tolist()
    [3, -2147483648]
    """
    return (_joined(bits) if dtype.size == 8 else bits).view(dtype.numpy_dtype)


def normal(bits: Array, dtype: dtypes.DType) -> Array:
    """Return as many normal numbers as `uniform` returns uniform ones.

    Functions are evaluated in float64 and rounded after every step, like correctly rounded float32 functions.
    """
    if dtype is dtypes.float64:
        pairs = uniform(bits, dtype).reshape(-1, 2)
        radius = np.sqrt(-2 * np.log(np.maximum(pairs[:, 0], np.float64(_SMALLEST))))
        angle = 2 * math.pi * pairs[:, 1]
        np.multiply(np.sin(angle), radius, out=pairs[:, 0])
        np.multiply(np.cos(angle), radius, out=pairs[:, 1])
        return pairs.reshape(-1)
    if len(bits) <= _AT_ONCE:
        return _normal(bits).astype(dtype.numpy_dtype, copy=False)
    parts = [_normal(bits[start : start + _AT_ONCE]) for start in range(0, len(bits), _AT_ONCE)]
    return np.concatenate(parts, dtype=dtype.numpy_dtype, casting="unsafe")


def _normal(bits: Array) -> Array:
    pairs = (bits & _MANTISSA).reshape(-1, 2)
    radius = np.log(np.maximum(pairs[:, 0] * _UNIT, float(np.float32(_SMALLEST)))).astype(np.float32)
    radius *= np.float32(-2)
    np.sqrt(radius, out=radius)
    angle = (pairs[:, 1] * (_UNIT * (2 * math.pi))).astype(np.float32).astype(np.float64)
    numbers = np.empty(pairs.shape, np.float32)
    np.multiply(np.sin(angle).astype(np.float32), radius, out=numbers[:, 0])
    np.multiply(np.cos(angle).astype(np.float32), radius, out=numbers[:, 1])
    return numbers.reshape(-1)


def truncated_normal(stream: Stream, count: int, dtype: dtypes.DType) -> Array:
    """Return `count` normal numbers between -2 and 2.

    The numbers come in groups of four (two for float64). Each group draws from its own run of blocks, so
    rejections in one group do not change the numbers of another.
    """
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    size = 2 if wide is dtypes.float64 else 4
    run = size * BLOCKS_PER_ELEMENT // 4
    if philox.native is not None and wide is dtypes.float32:
        return _native(philox.native.truncated, stream, count, run).astype(dtype.numpy_dtype, copy=False)
    first = stream.reserve(count * BLOCKS_PER_ELEMENT)
    found = np.empty((-(-count // size), size), wide.numpy_dtype)
    kept, used = np.zeros(len(found), np.int64), 0
    while len(pending := np.flatnonzero(kept < size)):
        blocks = stream.bits(first + used, int(pending[-1]) + 1, run)[pending]
        drawn = normal(blocks.reshape(-1), wide).reshape(len(pending), -1)
        fits = np.abs(drawn) < 2
        place = kept[pending, None] + fits.cumsum(1) - 1
        row, column = np.nonzero(fits & (place < size))
        found[pending[row], place[row, column]] = drawn[row, column]
        kept[pending] += fits.sum(1)
        used += 1
    return found.reshape(-1)[:count].astype(dtype.numpy_dtype, copy=False)


def categories(stream: Stream, logits: Array, count: int) -> Array:
    """Return `count` indices for each row of unnormalized log-probabilities, drawn with these probabilities."""
    rows = logits.shape[0]
    rounded = -(-count // 4) * 4
    first = stream.reserve(rows * rounded * BLOCKS_PER_ELEMENT * 2)
    drawn = stream.bits(first, -(-rows * count * 2 // 4)).reshape(-1)
    return picked(logits, uniform(drawn, dtypes.float64)[: rows * count].reshape(rows, count))


def picked(logits: Array, units: Array) -> Array:
    """Return for each row of logits the indices selected by its row of numbers in [0, 1).

    >>> picked(np.array([[0.0, 0.0, 0.0]]), np.array([[0.1, 0.5, 0.9]])).tolist()
    [[0, 1, 2]]
    """
    wide = logits.astype(np.float64)
    weights = np.exp(wide - np.maximum.reduce(wide, axis=1, keepdims=True))
    weights[~np.isfinite(wide)] = 0.0
    heights = np.add.accumulate(weights, 1)
    return places_in_rows(heights, units * heights[:, -1, None], "right")
