"""The messages of a bundle's index: its header, and the place of each tensor.

""           →  BundleHeader(shards=1)
"m/w"        →  BundleEntry(FLOAT, [2, 3], shard 0, offset 24, size 24, checksum)
"emb"        →  BundleEntry(FLOAT, [10, 3], slices=[rows 0 to 4, rows 4 to 7, …]), whose parts have their own entries
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...storage.corruption import element_count
from ...storage.protobuf import field, fields, fixed32
from .slices import Slice, parse_slice, serialize_slice

_MOST_SHARDS = 99_999
_NEWEST = 1  # the version of the format


class BundleHeader(NamedTuple):
    """The number of data files, and the byte order of their numbers."""

    shards: int = 1
    is_big_endian: bool = False

    def serialized(self) -> bytes:
        """Return the BundleHeaderProto."""
        order = field(2, 1) if self.is_big_endian else b""
        return field(1, self.shards) + order + field(3, field(1, _NEWEST))

    @classmethod
    def parse(cls, message: bytes) -> BundleHeader:
        """Return the header of a message; ValueError for an invalid one, and one of a newer format."""
        parts = _parts(message, {1: int, 2: int, 3: bytes})
        if _parts(parts.get(3, b""), {2: int}).get(2, 0) > _NEWEST:
            raise ValueError("it needs a newer reader")
        shards = parts.get(1, 0)
        if not 1 <= shards <= _MOST_SHARDS:
            raise ValueError(f"it has {shards} data files")
        return cls(shards, bool(parts.get(2, 0)))


class BundleEntry(NamedTuple):
    """The place of a tensor in the data files; a tensor in slices has none of its own."""

    dtype: int
    """TensorFlow's number of the dtype."""
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    crc: int = 0
    """The masked checksum of the content."""
    slices: tuple[Slice, ...] = ()

    def serialized(self) -> bytes:
        """Return the BundleEntryProto."""
        sizes = b"".join(field(2, field(1, size) if size else b"") for size in self.shape)
        places = ((3, self.shard), (4, self.offset), (5, self.size))
        numbers = b"".join(field(number, value) for number, value in places if value)
        crc = fixed32(6, self.crc) if self.crc else b""
        slices = b"".join(field(7, serialize_slice(each)) for each in self.slices)
        return field(1, self.dtype) + field(2, sizes) + numbers + crc + slices

    @classmethod
    def parse(cls, message: bytes) -> BundleEntry:
        """Return the entry of a message; ValueError for an invalid one."""
        parts = _parts(message, {1: int, 2: bytes, 3: int, 4: int, 5: int, 6: bytes})
        shape = _shape(parts.get(2, b""))
        crc = int.from_bytes(parts.get(6, b""), "little")
        slices = tuple(
            parse_slice(content)
            for number, content in fields(message)
            if number == 7 and isinstance(content, bytes)
        )
        shard, offset, size = (parts.get(number, 0) for number in (3, 4, 5))
        return cls(parts.get(1, 0), shape, shard, offset, size, crc, slices)


def _parts(message: bytes, kinds: dict[int, type]) -> dict[int, Any]:
    """Return the last value of each of these fields."""
    found = {}
    for number, value in fields(message):
        if number in kinds:
            if not isinstance(value, kinds[number]):
                raise ValueError(f"the field {number} is of another kind")
            found[number] = value
    return found


def _shape(message: bytes) -> tuple[int, ...]:
    shape = tuple(
        _parts(content, {1: int}).get(1, 0)
        for number, content in fields(message)
        if number == 2 and isinstance(content, bytes)
    )
    element_count(shape)  # raises for an invalid shape
    return shape
