"""Hash functions of bytes, the same on every machine and in every version: those of TensorFlow's hash buckets.

    hash64     a variant of MurmurHash64A (Appleby)
    siphash    SipHash-2-4 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012)

The third, FarmHash's fingerprint, is in `strings/farmhash.py`.

>>> hash64(b"hello") % 10, siphash(b"hello", 1, 2) % 10
(8, 2)
"""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1


def _rotated(x: int, by: int) -> int:
    """Rotate `x` to the right."""
    return (x >> by | x << (64 - by)) & _MASK if by else x


def hash64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """Return the hash of a variant of MurmurHash64A."""
    by = 0xC6A4A7935BD1E995
    h = (seed ^ len(data) * by) & _MASK
    whole = len(data) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * by & _MASK
        k = (k ^ k >> 47) * by & _MASK
        h = (h ^ k) * by & _MASK
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * by & _MASK
    h = (h ^ h >> 47) * by & _MASK
    return h ^ h >> 47


def siphash(data: bytes, key0: int, key1: int) -> int:
    """Return the SipHash-2-4 hash with a key of two 64-bit numbers."""
    v0, v1 = key0 ^ 0x736F6D6570736575, key1 ^ 0x646F72616E646F6D
    v2, v3 = key0 ^ 0x6C7967656E657261, key1 ^ 0x7465646279746573
    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 0xFF])
    state = (v0 & _MASK, v1 & _MASK, v2 & _MASK, v3 & _MASK)
    for (word,) in struct.iter_unpack("<Q", padded):
        v0, v1, v2, v3 = state
        v0, v1, v2, v3 = _round(*_round(v0, v1, v2, v3 ^ word))
        state = v0 ^ word, v1, v2, v3
    v0, v1, v2, v3 = state
    state = v0, v1, v2 ^ 0xFF, v3
    for _ in range(4):
        state = _round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = v0 + v1 & _MASK
    v1 = _rotated(v1, 51) ^ v0
    v0 = _rotated(v0, 32)
    v2 = v2 + v3 & _MASK
    v3 = _rotated(v3, 48) ^ v2
    v0 = v0 + v3 & _MASK
    v3 = _rotated(v3, 43) ^ v0
    v2 = v2 + v1 & _MASK
    v1 = _rotated(v1, 47) ^ v2
    return v0, v1, _rotated(v2, 32), v3
