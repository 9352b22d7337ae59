"""The wire format of protocol buffers, as far as event files and tensors need it (https://protobuf.dev/programming-guides/encoding).

field(1, "loss")        →  tag of field 1, length, the text
field(2, 42)            →  tag of field 2, a varint
fixed64(1, 0.5)         →  tag of field 1, eight bytes of a double
"""

from __future__ import annotations

import struct


def varint(number: int) -> bytes:
    """Return an integer as a varint, seven bits per byte; negative ones as 64 bits in two's complement.

    >>> varint(300).hex()
    'ac02'
    """
    number &= 2**64 - 1
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
