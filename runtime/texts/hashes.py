"""Hash functions of bytes, the same on every machine and for ever: those of TensorFlow's hash buckets.

    fingerprint64   FarmHash's (Pike, Alakuijala: github.com/google/farmhash, `farmhashna::Hash64`)
    hash64          a variant of MurmurHash64A (Appleby)
    siphash         SipHash-2-4 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012)

>>> fingerprint64(b"hello") % 10, hash64(b"hello") % 10, siphash(b"hello", 1, 2) % 10
(6, 8, 2)
"""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _rotated(x: int, by: int) -> int:
    """Rotated to the right."""
    return (x >> by | x << (64 - by)) & _MASK if by else x


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _half(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _mixed(x: int) -> int:
    return x ^ x >> 47


def _pair(u: int, v: int, by: int) -> int:
    a = _mixed((u ^ v) * by & _MASK)
    b = _mixed((v ^ a) * by & _MASK)
    return b * by & _MASK


def _short(data: bytes) -> int:
    """Up to 16 bytes."""
    size = len(data)
    if size >= 8:
        by = _K2 + size * 2 & _MASK
        a, b = _word(data, 0) + _K2 & _MASK, _word(data, size - 8)
        c = _rotated(b, 37) * by + a & _MASK
        d = (_rotated(a, 25) + b) * by & _MASK
        return _pair(c, d, by)
    if size >= 4:
        by = _K2 + size * 2 & _MASK
        return _pair(size + (_half(data, 0) << 3) & _MASK, _half(data, size - 4), by)
    if size:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[size - 1] << 2)
        return _mixed((y * _K2 ^ z * _K0) & _MASK) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes) -> int:
    size = len(data)
    by = _K2 + size * 2 & _MASK
    a, b = _word(data, 0) * _K1 & _MASK, _word(data, 8)
    c, d = _word(data, size - 8) * by & _MASK, _word(data, size - 16) * _K2 & _MASK
    u = _rotated(a + b & _MASK, 43) + _rotated(c, 30) + d & _MASK
    v = a + _rotated(b + _K2 & _MASK, 18) + c & _MASK
    return _pair(u, v, by)


def _up_to_64(data: bytes) -> int:
    size = len(data)
    by = _K2 + size * 2 & _MASK
    a, b = _word(data, 0) * _K2 & _MASK, _word(data, 8)
    c, d = _word(data, size - 8) * by & _MASK, _word(data, size - 16) * _K2 & _MASK
    y = _rotated(a + b & _MASK, 43) + _rotated(c, 30) + d & _MASK
    z = _pair(y, a + _rotated(b + _K2 & _MASK, 18) + c & _MASK, by)
    e, f = _word(data, 16) * by & _MASK, _word(data, 24)
    g, h = (y + _word(data, size - 32)) * by & _MASK, (z + _word(data, size - 24)) * by & _MASK
    u = _rotated(e + f & _MASK, 43) + _rotated(g, 30) + h & _MASK
    v = e + _rotated(f + a & _MASK, 18) + g & _MASK
    return _pair(u, v, by)


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes with two seeds."""
    w, x, y, z = (_word(data, at + 8 * i) for i in range(4))
    a = a + w & _MASK
    b = _rotated(b + a + z & _MASK, 21)
    c = a
    a = a + x + y & _MASK
    b = b + _rotated(a, 44) & _MASK
    return a + z & _MASK, b + c & _MASK


def fingerprint64(data: bytes) -> int:
    """FarmHash's fingerprint of 64 bits."""
    size = len(data)
    if size <= 16:
        return _short(data)
    if size <= 32:
        return _up_to_32(data)
    if size <= 64:
        return _up_to_64(data)
    x = 81
    y = x * _K1 + 113 & _MASK
    z = _mixed(y * _K2 + 113 & _MASK) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(data, 0) & _MASK
    end = (size - 1) // 64 * 64
    last = end + ((size - 1) & 63) - 63
    for at in range(0, end, 64):
        x = _rotated(x + y + v[0] + _word(data, at + 8) & _MASK, 37) * _K1 & _MASK
        y = _rotated(y + v[1] + _word(data, at + 48) & _MASK, 42) * _K1 & _MASK
        x ^= w[1]
        y = y + v[0] + _word(data, at + 40) & _MASK
        z = _rotated(z + w[0] & _MASK, 33) * _K1 & _MASK
        v = _weak(data, at, v[1] * _K1 & _MASK, x + w[0] & _MASK)
        w = _weak(data, at + 32, z + w[1] & _MASK, y + _word(data, at + 16) & _MASK)
        z, x = x, z
    by = _K1 + ((z & 0xFF) << 1) & _MASK
    w = (w[0] + ((size - 1) & 63) & _MASK, w[1])
    v = (v[0] + w[0] & _MASK, v[1])
    w = (w[0] + v[0] & _MASK, w[1])
    x = _rotated(x + y + v[0] + _word(data, last + 8) & _MASK, 37) * by & _MASK
    y = _rotated(y + v[1] + _word(data, last + 48) & _MASK, 42) * by & _MASK
    x ^= w[1] * 9 & _MASK
    y = y + v[0] * 9 + _word(data, last + 40) & _MASK
    z = _rotated(z + w[0] & _MASK, 33) * by & _MASK
    v = _weak(data, last, v[1] * by & _MASK, x + w[0] & _MASK)
    w = _weak(data, last + 32, z + w[1] & _MASK, y + _word(data, last + 16) & _MASK)
    z, x = x, z
    inner = _pair(v[0], w[0], by) + _mixed(y) * _K0 + z & _MASK
    return _pair(inner, _pair(v[1], w[1], by) + x & _MASK, by)


def hash64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """A variant of MurmurHash64A."""
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
    """SipHash-2-4 with a key of two numbers of 64 bits."""
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
