"""Sorted tables of byte strings, the index files of TensorFlow's checkpoints (a variant of LevelDB's tables).

    blocks of entries, each followed by its compression and its checksum       "m/b" → …, "m/w" → …
    an empty block of metadata, and the index block                            last key of a block → its place
    a footer of 48 bytes: the places of both, and a magic number

A key is stored without the part that it shares with the key before it, except at restarts, each 16 entries.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...storage.crc32c import crc32c, masked
from ...storage.protobuf import read_varint, varint

MAGIC = bytes.fromhex("57fb808b247547db")
"""The last bytes of a table."""

_FOOTER, _TRAILER = 48, 5
_INTERVAL, _BLOCK = 16, 1 << 18
_LONGEST_KEY, _MOST_KEYS = 1 << 16, 1 << 28  # bytes of one key, and of all


class _Place(NamedTuple):
    """The place of a block in a table."""

    offset: int
    size: int

    @property
    def encoded(self) -> bytes:
        return varint(self.offset) + varint(self.size)


def write_table(entries: Mapping[bytes, bytes]) -> bytes:
    """Return the table of these entries, which are sorted by their keys.

    >>> read_table(write_table({b"b": b"2", b"a": b"1"}))
    {b'a': b'1', b'b': b'2'}
    """
    content, places = bytearray(), {}
    for part in _parts(sorted(entries.items())):
        places[part[-1][0]] = _append(content, _block(part, _INTERVAL))
    metadata = _append(content, _block([], 1))
    index = _append(content, _block([(key, place.encoded) for key, place in places.items()], 1))
    return bytes(content) + (metadata.encoded + index.encoded).ljust(_FOOTER - len(MAGIC), b"\0") + MAGIC


def _parts(entries: list[tuple[bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes]]]:
    """Yield the entries of each block."""
    part, size = [], 0
    for entry in entries:
        part.append(entry)
        size += len(entry[0]) + len(entry[1])
        if size >= _BLOCK:
            yield part
            part, size = [], 0
    if part:
        yield part


def _append(content: bytearray, block: bytes) -> _Place:
    place = _Place(len(content), len(block))
    plain = block + b"\0"
    content += plain + struct.pack("<I", masked(crc32c(plain)))
    return place


def _block(entries: list[tuple[bytes, bytes]], interval: int) -> bytes:
    content, restarts, last = bytearray(), [0], b""
    for number, (key, value) in enumerate(entries):
        shared = 0
        if number % interval:
            shared = next((i for i, (a, b) in enumerate(zip(last, key, strict=False)) if a != b), len(last))
        elif number:
            restarts.append(len(content))
        content += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    return bytes(content) + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def read_table(content: bytes) -> dict[bytes, bytes]:
    """Return the entries of a table; ValueError for a damaged one.

    >>> read_table(b"")
    Traceback (most recent call last):
    ValueError: it does not end like a table
    """
    if len(content) < _FOOTER or not content.endswith(MAGIC):
        raise ValueError("it does not end like a table")
    footer, at = content[-_FOOTER:], 0
    numbers = []
    for _ in range(4):
        number, at = read_varint(footer, at)
        numbers.append(number)
    body = content[:-_FOOTER]
    found: dict[bytes, bytes] = {}
    total = end = 0
    for _, encoded in _entries(body, _Place(*numbers[2:])):
        place = _place(encoded)
        if place.offset < end:
            raise ValueError(f"two blocks share the bytes from {place.offset}")
        end = place.offset + place.size
        for key, value in _entries(body, place):
            total += len(key)
            if total > _MOST_KEYS or key in found:
                raise ValueError(f"the key {key[:100]!r} occurs twice, or all keys are too long")
            found[key] = value
    return found


def _place(encoded: bytes) -> _Place:
    offset, at = read_varint(encoded, 0)
    return _Place(offset, read_varint(encoded, at)[0])


def _entries(content: bytes, place: _Place) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of a block, whose checksum is verified."""
    block = content[place.offset : place.offset + place.size + _TRAILER]
    if len(block) != place.size + _TRAILER or place.size < 8:
        raise ValueError(f"a block from {place.offset} of {place.size} bytes is outside of the file")
    if masked(crc32c(block[:-4])) != struct.unpack("<I", block[-4:])[0]:
        raise ValueError(f"the checksum of the block from {place.offset} does not match its content")
    if block[-_TRAILER]:
        raise ValueError("a block is compressed: TensorFlow writes blocks of checkpoints as they are")
    (restarts,) = struct.unpack("<I", block[-_TRAILER - 4 : -_TRAILER])
    end = place.size - 4 * (restarts + 1)
    if end < 0:
        raise ValueError(f"a block of {place.size} bytes has {restarts} restarts")
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        rest, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or shared + rest > _LONGEST_KEY or at + rest + size > end:
            raise ValueError("an entry of a block is larger than the block")
        key = key[:shared] + block[at : at + rest]
        at += rest + size
        yield key, block[at - size : at]
