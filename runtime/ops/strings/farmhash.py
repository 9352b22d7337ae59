"""FarmHash fingerprints: hashes of 64 bits, the same on every machine.

    Farm Fingerprint64 (Pike and Alakuijala, 2014): multiplications by three odd constants, and rotations; with
    different formulas for strings of up to 16 bytes, up to 32, up to 64, and above.

Strings of one length are computed together.

>>> hex(int(fingerprints(np.array([list(b"abc")], np.uint8))[0]))
'0x24a5b3a074e7f369'
"""

from __future__ import annotations

import math

import numpy as np

from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...dtypes import string, uint8
from ...ir.value_types import TensorType
from ...kernels.strings.hashes import Words, hashed, rotated
from ..framework.op import Input, Name, op
from ..framework.op_families import Array

_K0, _K1, _K2 = (np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))


def mixed(x: Words) -> Words:
    """Return words whose upper bits are mixed into the lower ones."""
    return x ^ (x >> np.uint64(47))


def _word(rows: Array, at: int) -> Words:
    """Return eight bytes of each row as a little-endian word."""
    return np.ascontiguousarray(rows[:, at : at + 8]).view("<u8")[:, 0]


def _half(rows: Array, at: int) -> Words:
    return np.ascontiguousarray(rows[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64)


def _joined(u: Words, v: Words, factor: Words) -> Words:
    a = mixed((u ^ v) * factor)
    return mixed((v ^ a) * factor) * factor


def fingerprints(rows: Array) -> Words:
    """Return the fingerprints of strings of one length: the rows of a matrix of bytes."""
    length = rows.shape[1]
    formula = _of_16 if length <= 16 else _of_32 if length <= 32 else _of_64 if length <= 64 else _of_many
    with np.errstate(over="ignore"):
        return formula(rows, length)


def _of_16(rows: Array, n: int) -> Words:
    size = np.uint64(n)
    factor = _K2 + size * np.uint64(2)
    if n >= 8:
        a, b = _word(rows, 0) + _K2, _word(rows, n - 8)
        return _joined(rotated(b, 37) * factor + a, (rotated(a, 25) + b) * factor, factor)
    if n >= 4:
        return _joined(size + (_half(rows, 0) << np.uint64(3)), _half(rows, n - 4), factor)
    if n > 0:
        first, middle, last = (rows[:, at].astype(np.uint64) for at in (0, n >> 1, n - 1))
        y, z = first + (middle << np.uint64(8)), size + (last << np.uint64(2))
        return mixed(y * _K2 ^ z * _K0) * _K2
    return np.full(len(rows), _K2)


def _of_32(rows: Array, n: int) -> Words:
    factor = _K2 + np.uint64(2 * n)
    a, b = _word(rows, 0) * _K1, _word(rows, 8)
    c, d = _word(rows, n - 8) * factor, _word(rows, n - 16) * _K2
    one = rotated(a + b, 43) + rotated(c, 30) + d
    return _joined(one, a + rotated(b + _K2, 18) + c, factor)


def _of_64(rows: Array, n: int) -> Words:
    factor = _K2 + np.uint64(2 * n)
    a, b = _word(rows, 0) * _K2, _word(rows, 8)
    c, d = _word(rows, n - 8) * factor, _word(rows, n - 16) * _K2
    y = rotated(a + b, 43) + rotated(c, 30) + d
    z = _joined(y, a + rotated(b + _K2, 18) + c, factor)
    e, f = _word(rows, 16) * factor, _word(rows, 24)
    g, h = (y + _word(rows, n - 32)) * factor, (z + _word(rows, n - 24)) * factor
    return _joined(rotated(e + f, 43) + rotated(g, 30) + h, e + rotated(f + a, 18) + g, factor)


def _weak(rows: Array, at: int, a: Words, b: Words) -> tuple[Words, Words]:
    """Mix 32 bytes into two words."""
    w, x, y, z = (_word(rows, at + 8 * i) for i in range(4))
    a = a + w
    b = rotated(b + a + z, 21)
    c = a
    a = a + x + y
    return a + z, b + rotated(a, 44) + c


def _of_many(rows: Array, n: int) -> Words:
    seed = np.uint64(81)
    x = np.full(len(rows), seed)
    y = x * _K1 + np.uint64(113)
    z = mixed(y * _K2 + np.uint64(113)) * _K2
    v = w = (np.zeros_like(x), np.zeros_like(x))
    x = x * _K2 + _word(rows, 0)
    end, at = (n - 1) // 64 * 64, 0
    while at < end:
        x = rotated(x + y + v[0] + _word(rows, at + 8), 37) * _K1
        y = rotated(y + v[1] + _word(rows, at + 48), 42) * _K1
        x = x ^ w[1]
        y = y + v[0] + _word(rows, at + 40)
        z = rotated(z + w[0], 33) * _K1
        v = _weak(rows, at, v[1] * _K1, x + w[0])
        w = _weak(rows, at + 32, z + w[1], y + _word(rows, at + 16))
        z, x = x, z
        at += 64
    return _last_block(rows, n, (x, y, z), v, w)


def _last_block(
    rows: Array, n: int, state: tuple[Words, Words, Words], v: tuple[Words, Words], w: tuple[Words, Words]
) -> Words:
    """Mix in the last 64 bytes, which may overlap the previous block."""
    x, y, z = state
    factor = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    at = n - 64
    w = (w[0] + np.uint64((n - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x = rotated(x + y + v[0] + _word(rows, at + 8), 37) * factor
    y = rotated(y + v[1] + _word(rows, at + 48), 42) * factor
    x = x ^ w[1] * np.uint64(9)
    y = y + v[0] * np.uint64(9) + _word(rows, at + 40)
    z = rotated(z + w[0], 33) * factor
    v = _weak(rows, at, v[1] * factor, x + w[0])
    w = _weak(rows, at + 32, z + w[1], y + _word(rows, at + 16))
    z, x = x, z
    one = _joined(v[0], w[0], factor) + mixed(y) * _K0 + z
    return _joined(one, _joined(v[1], w[1], factor) + x, factor)


def of_strings(texts: Array) -> Words:
    """Return the fingerprints of byte strings in a vector of objects.

    >>> [hex(int(print)) for print in of_strings(np.array([b"", b"d"], object))]
    ['0x9ae16a3b2f90404f', '0x3e0ae463957d9a21']
    """
    return hashed(fingerprints, texts)


@export("fingerprint")
def fingerprint(data: TensorLike, method: str = "farmhash64", name: Name = None) -> Tensor:
    """Return a fingerprint of each row of `data`, as eight bytes; a string's fingerprint is that of its bytes.

    A row of several strings has the fingerprint of their fingerprints, one after another.

    >>> fingerprint(["abc"]).numpy().tolist()
    [[105, 243, 231, 116, 160, 179, 165, 36]]
    """
    return row_fingerprints(data, method, name)  # type: ignore[no-any-return]


@op(name="fingerprint")
def row_fingerprints(data: Input, method: str = "farmhash64", name: Name = None) -> TensorType:
    """Compute `fingerprint`.

    >>> row_fingerprints([[1, 2], [3, 4]]).numpy()[0].tolist()
    [76, 18, 253, 133, 168, 204, 240, 10]
    """
    if method != "farmhash64":
        raise ValueError(f"Unsupported method: {method}; there is 'farmhash64'")
    if data.shape == ():
        raise ValueError(f"`data` should have at least one dimension: {shapes.show(data.shape)}")
    return TensorType(uint8, (None if data.shape is None else data.shape[0], 8))


@row_fingerprints.kernel
def _(data: Array, method: str) -> Array:
    rows = np.ascontiguousarray(data).reshape(len(data), math.prod(data.shape[1:]))
    if string.numpy_dtype == data.dtype:
        words = of_strings(rows.reshape(-1))
        if data.ndim == 1:
            return words[:, None].astype("<u8").view(np.uint8)
        rows = words.reshape(rows.shape)
    size = rows.dtype.itemsize * rows.shape[1]
    raw = np.frombuffer(rows.tobytes(), np.uint8).reshape(len(data), size)
    return fingerprints(raw)[:, None].astype("<u8").view(np.uint8)
