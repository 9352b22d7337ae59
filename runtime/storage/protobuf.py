"""The wire format of protocol buffers, as far as events, tensors and examples need it (https://protobuf.dev/programming-guides/encoding).

field(1, "loss")        →  tag of field 1, length, the text
field(2, 42)            →  tag of field 2, a varint
fixed64(1, 0.5)         →  tag of field 1, eight bytes of a double
fields(message)         →  (1, b"loss"), (2, 42) …
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = Any
_WORD = 2**64 - 1


def varint(number: int) -> bytes:
    """Return an integer as a varint, seven bits per byte; negative ones as 64 bits in two's complement.

    >>> varint(300).hex()
    'ac02'
    """
    number &= _WORD
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a message: an integer, or a length-prefixed text, bytes or message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def fixed64(number: int, value: float) -> bytes:
    """Return a field that is a double."""
    return varint(number << 3 | 1) + struct.pack("<d", value)


def fixed32(number: int, value: int) -> bytes:
    """Return a field that is an unsigned integer of four bytes."""
    return varint(number << 3 | 5) + struct.pack("<I", value)


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield (number, value) of each field: an integer or bytes; ValueError for a truncated message.

    >>> list(fields(field(1, "a") + field(2, 300)))
    [(1, b'a'), (2, 300)]
    """
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        kind = key & 7
        if not 0 < key >> 3 < 1 << 29:
            raise ValueError("the message has a field of an invalid number")
        if kind == 0:
            value, at = read_varint(message, at)
            yield key >> 3, value & _WORD
            continue
        if kind == 2:
            size, at = read_varint(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError("the message has a field of an unknown kind")
        if at + size > len(message):
            raise ValueError("the message breaks off")
        yield key >> 3, message[at : at + size]
        at += size


def varints(content: int | bytes) -> Array:
    """Return the content of a field of integers, one number or several packed ones, as an array of uint64.

    >>> varints(field(1, 300)[1:]).tolist()
    [300]
    """
    if isinstance(content, int):
        return np.array([content], np.uint64)
    data = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(data < 128) + 1
    if len(ends) == len(data):  # one byte each
        return data.astype(np.uint64)
    if not len(ends) or ends[-1] != len(data):
        raise ValueError("the message breaks off")
    starts = np.concatenate([[0], ends[:-1]])
    lengths = ends - starts
    if lengths.max() > 10:
        raise ValueError("the message has an integer of more than 64 bits")
    shifts = 7 * (np.arange(len(data)) - np.repeat(starts, lengths))
    return np.bitwise_or.reduceat((data & 127).astype(np.uint64) << shifts.astype(np.uint64), starts)


def read_varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the varint at a position, and the position after it; ValueError if the message breaks off.

    >>> read_varint(varint(300), 0)
    (300, 2)
    """
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("the message breaks off")
