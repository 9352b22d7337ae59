"""Hash functions of bytes, the same on every machine and in every version: those of TensorFlow's hash buckets.

    hash64     a variant of MurmurHash64A (Appleby)
    siphash    SipHash-2-4 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012)

They hash the rows of a matrix of bytes. The third, FarmHash's fingerprint, is in `strings/farmhash.py`.

>>> (hashed(hash64, np.array([b"hello", b"hi"], object)) % 10).tolist()
[8, 9]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .packed import lengths, packed

Array = Any

Words = Any
"""An array of uint64; arithmetic wraps around."""


def hashed(function: Callable[[Array], Words], texts: Array) -> Words:
    """Return the hashes of a vector of strings by a function of matrices, whose rows are strings of one length."""
    sizes = lengths(texts)
    result = np.empty(len(texts), np.uint64)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        here = np.flatnonzero(sizes == size)
        with np.errstate(over="ignore"):
            result[here] = function(packed(texts[here]).reshape(len(here), size))
    return result


def rotated(x: Words, by: int) -> Words:
    """Rotate `x` to the right."""
    return (x >> np.uint64(by)) | (x << np.uint64(64 - by))


def _words(rows: Array) -> Words:
    """Return the bytes as columns of little-endian words, the last of which may be filled up with zeros."""
    padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 8)))
    return np.ascontiguousarray(padded).view("<u8").T.astype(np.uint64)


def hash64(rows: Array, seed: int = 0xDECAFCAFFE) -> Words:
    """Return the hashes of a variant of MurmurHash64A."""
    by, half = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)
    size = rows.shape[1]
    h = np.full(len(rows), seed ^ size * int(by) & (1 << 64) - 1, np.uint64)
    for number, k in enumerate(_words(rows)):
        if 8 * number + 8 <= size:
            k = k * by
            k = (k ^ k >> half) * by
        h = (h ^ k) * by
    h = (h ^ h >> half) * by
    return h ^ h >> half


def siphash(rows: Array, key0: int, key1: int) -> Words:
    """Return the SipHash-2-4 hashes with a key of two 64-bit numbers."""
    size, mask = rows.shape[1], (1 << 64) - 1
    padded = np.pad(rows, ((0, 0), (0, 8 - size % 8)))
    padded[:, -1] = size & 0xFF
    starts = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    keys = key0, key1, key0, key1
    state = [
        np.full(len(rows), (key ^ start) & mask, np.uint64) for key, start in zip(keys, starts, strict=True)
    ]
    for word in _words(padded):
        state[3] = state[3] ^ word
        state = _round(*_round(*state))
        state[0] = state[0] ^ word
    state[2] = state[2] ^ np.uint64(0xFF)
    for _ in range(4):
        state = _round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _round(v0: Words, v1: Words, v2: Words, v3: Words) -> list[Words]:
    v0 = v0 + v1
    v1 = rotated(v1, 51) ^ v0
    v0 = rotated(v0, 32)
    v2 = v2 + v3
    v3 = rotated(v3, 48) ^ v2
    v0 = v0 + v3
    v3 = rotated(v3, 43) ^ v0
    v2 = v2 + v1
    v1 = rotated(v1, 47) ^ v2
    return [v0, v1, rotated(v2, 32), v3]
