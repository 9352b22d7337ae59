"""Distributions from random bits: uniform, normal, truncated normal.

uniform    the low bits of a word become the mantissa of a number in [1, 2); then 1 is subtracted
normal     two uniform numbers give two normal ones (Box and Muller)
truncated  normal numbers beyond 2 are rejected; the next ones of the same run of blocks replace them
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from .philox import Stream

Array = Any

BLOCKS_PER_ELEMENT = 256
"""The number of blocks that an operation reserves for each element, used or not; the same as TensorFlow's."""

_MANTISSA, _ONE = 0x7FFFFF, 0x3F800000
_UNIT = 2.0**-23
_UNITS = np.array([_UNIT, _UNIT * (2 * math.pi)])  # the scales of a radius's uniform number and of an angle
_SMALLEST = 1.0e-7  # lower bound for the argument of the logarithm
_AT_ONCE = 1 << 14  # words per chunk, so that the numbers stay in the cache


def words(stream: Stream, count: int, dtype: dtypes.DType) -> Array:
    """Return the words for `count` numbers of `dtype`; 64-bit numbers take two each."""
    first = stream.reserve(count * BLOCKS_PER_ELEMENT)
    return stream.bits(first, -(-count * (2 if dtype.size == 8 else 1) // 4)).reshape(-1)


def uniforms(stream: Stream, sizes: tuple[int, ...], dtype: dtypes.DType) -> Array:
    """Return uniform numbers in [0, 1), in an array of these sizes."""
    count = math.prod(sizes)
    if count == 1 and dtype is dtypes.float32:
        word = stream.block(stream.reserve(BLOCKS_PER_ELEMENT))[0]
        return np.array((word & _MANTISSA) * _UNIT, np.float32).reshape(sizes)
    return uniform(words(stream, count, dtype), dtype)[:count].reshape(sizes)


def normals(stream: Stream, sizes: tuple[int, ...], dtype: dtypes.DType) -> Array:
    """Return standard normal numbers, in an array of these sizes."""
    count = math.prod(sizes)
    if count == 1 and dtype is dtypes.float32:
        first, second, _, _ = stream.block(stream.reserve(BLOCKS_PER_ELEMENT))
        return np.array(_one_normal(first, second)).reshape(sizes)
    return normal(words(stream, count, dtype), dtype)[:count].reshape(sizes)


def uniform(bits: Array, dtype: dtypes.DType) -> Array:
    """Return numbers in [0, 1): one from each word, or from each two words for float64.

    >>> uniform(np.array([0, 1 << 22], np.uint32), dtypes.float32).tolist()
    [0.0, 0.5]
    """
    if dtype is dtypes.float16:
        return (bits & 0x3FF | 0x3C00).astype(np.uint16).view(np.float16) - np.float16(1)
    if dtype is dtypes.bfloat16:
        return (bits & 0x7F | 0x3F80).astype(np.uint16).view(dtype.numpy) - dtype.numpy.type(1)
    if dtype is dtypes.float32:
        numbers = (bits & _MANTISSA | _ONE).view(np.float32)
        numbers -= np.float32(1)
        return numbers
    high, low = bits[0::2].astype(np.uint64), bits[1::2].astype(np.uint64)
    pattern = (high & np.uint64(0xFFFFF) | np.uint64(0x3FF00000)) << np.uint64(32) | low
    return pattern.view(np.float64) - 1.0


def integers(stream: Stream, sizes: tuple[int, ...], low: int, high: int, dtype: dtypes.DType) -> Array:
    """Return integers in [low, high), in an array of these sizes."""
    count = math.prod(sizes)
    return between(words(stream, count, dtype), low, high, dtype)[:count].reshape(sizes)


def between(bits: Array, low: int, high: int, dtype: dtypes.DType) -> Array:
    """Return integers in [low, high): one from each word, or from two words for 64 bits.

    >>> between(np.array([7, 12], np.uint32), 100, 110, dtypes.int32).tolist()
    [107, 102]
    """
    drawn = bits.astype(np.uint64)
    if dtype.size == 8:
        drawn = drawn[0::2] | drawn[1::2] << np.uint64(32)
    drawn %= np.uint64(high - low)
    drawn += np.uint64(low & (1 << 64) - 1)
    return drawn.astype(dtype.numpy)


def any_integers(bits: Array, dtype: dtypes.DType) -> Array:
    """Return integers uniform over the full range of `dtype`.

    >>> any_integers(np.array([3, 1 << 31], np.uint32), dtypes.int32).tolist()
    [3, -2147483648]
    """
    if dtype.size == 8:
        bits = bits[0::2].astype(np.uint64) | bits[1::2].astype(np.uint64) << np.uint64(32)
    return bits.view(dtype.numpy)


def normal(bits: Array, dtype: dtypes.DType) -> Array:
    """Return as many normal numbers as `uniform` returns uniform ones.

    Functions are evaluated in float64 and rounded after every step, like correctly rounded float32 functions.
    """
    if dtype is dtypes.float64:
        pairs = uniform(bits, dtype).reshape(-1, 2)
        radius = np.sqrt(-2 * np.log(np.maximum(pairs[:, 0], np.float64(_SMALLEST))))
        angle = 2 * math.pi * pairs[:, 1]
        return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=-1).reshape(-1)
    if len(bits) <= _AT_ONCE:
        return _normal(bits).astype(dtype.numpy, copy=False)
    parts = [_normal(bits[start : start + _AT_ONCE]) for start in range(0, len(bits), _AT_ONCE)]
    return np.concatenate(parts, dtype=dtype.numpy, casting="unsafe")


def _normal(bits: Array) -> Array:
    units = (bits & _MANTISSA).astype(np.float64).reshape(-1, 2)
    units *= _UNITS
    first = units[:, 0]
    np.maximum(first, float(np.float32(_SMALLEST)), out=first)
    np.log(first, out=first)
    numbers = units.astype(np.float32)
    radius = numbers[:, :1] * np.float32(-2)
    np.sqrt(radius, out=radius)
    angle = numbers[:, 1].astype(np.float64)
    numbers[:, 0], numbers[:, 1] = np.sin(angle), np.cos(angle)
    numbers *= radius
    return numbers.reshape(-1)


def _one_normal(first: int, second: int) -> Any:
    """Return the first of the two normal numbers from two words."""
    unit = max((first & _MANTISSA) * _UNIT, float(np.float32(_SMALLEST)))
    radius = math.sqrt(-2.0 * float(np.float32(np.log(unit))))
    angle = float(np.float32((second & _MANTISSA) * _UNIT * 2 * math.pi))
    return np.float32(np.sin(angle)) * np.float32(radius)


def truncated_normal(stream: Stream, count: int, dtype: dtypes.DType) -> Array:
    """Return `count` normal numbers between -2 and 2.

    The numbers come in groups of four (two for float64). Each group draws from its own run of blocks, so
    rejections in one group do not change the numbers of another.
    """
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    size = 2 if wide is dtypes.float64 else 4
    run = size * BLOCKS_PER_ELEMENT // 4
    first = stream.reserve(count * BLOCKS_PER_ELEMENT)
    kept: list[list[Any]] = [[] for _ in range(-(-count // size))]
    pending, used = list(range(len(kept))), 0
    while pending:
        blocks = stream.bits(first + used, pending[-1] + 1, run)[pending]
        candidates = normal(blocks.reshape(-1), wide).reshape(len(pending), -1)
        for group, drawn in zip(pending, candidates, strict=True):
            kept[group].extend(drawn[np.abs(drawn) < 2].tolist())
        pending, used = [group for group in pending if len(kept[group]) < size], used + 1
    return np.array([group[:size] for group in kept], dtype.numpy).reshape(-1)[:count]
