"""String tensors in bundles: the lengths as varints, their checksum, and the bytes of all strings.

["a", "bc"]     ==>     1 2  |  masked CRC of the lengths, 4 bytes  |  a b c
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ...storage.crc32c import crc32c, masked
from ...storage.protobuf import read_varint, varint

Array = Any


def encode_strings(strings: list[bytes]) -> tuple[bytes, int]:
    """Return the stored form of strings, and its checksum."""
    lengths = list(map(len, strings))
    crc = _crc_of_lengths(lengths)
    check = struct.pack("<I", masked(crc))
    text = b"".join(strings)
    return b"".join(map(varint, lengths)) + check + text, crc32c(text, crc32c(check, crc))


def decode_strings(content: bytes, count: int) -> tuple[Array, int]:
    """Return `count` strings as an array of objects, and the checksum of their stored form.

    ValueError for content that has not this form.
    """
    if count > len(content):
        raise ValueError(f"{count} strings in {len(content)} bytes")
    at, lengths = 0, []
    for _ in range(count):
        length, at = read_varint(content, at)
        lengths.append(length)
    check, at = content[at : at + 4], at + 4
    if len(content) - at != sum(lengths):
        raise ValueError(f"the lengths of strings do not add up to {len(content) - at}")
    crc = _crc_of_lengths(lengths)
    if check != struct.pack("<I", masked(crc)):
        raise ValueError("the lengths of strings do not match their checksum")
    crc = crc32c(content[at:], crc32c(check, crc))
    found = np.empty(count, object)
    for number, length in enumerate(lengths):
        found[number] = content[at : at + length]
        at += length
    return found, crc


def _crc_of_lengths(lengths: list[int]) -> int:
    """Return the checksum of lengths as numbers of four bytes, or eight for longer strings."""
    return crc32c(b"".join(struct.pack("<I" if length < 1 << 32 else "<Q", length) for length in lengths))
