"""Slices of tensors: the parts in which partitioned variables and large tensors are stored.

{"emb", rows 4 to 7 of 10}     ==>     the key b"\\0emb\\0\\1…" of the part in the table

The key is an ordered code: byte strings whose order is that of the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...storage.protobuf import field, fields

_FULL = -1  # a whole axis, in keys
_ESCAPED = {0: b"\0\xff", 255: b"\xff\0"}
_SHORTEST = 6  # bits of the numbers of one byte


class Extent(NamedTuple):
    """The part of one axis; a length of None is the whole axis."""

    start: int
    length: int | None


Slice = tuple[Extent, ...]


def parse_slice(message: bytes) -> Slice:
    """Return the slice of a TensorSliceProto; ValueError for an invalid one."""
    found = []
    for number, content in fields(message):
        if number == 1 and isinstance(content, bytes):
            parts = dict(fields(content))
            start, length = parts.get(1, 0), parts.get(2)
            if (
                not isinstance(start, int)
                or not isinstance(length, int | None)
                or max(start, length or 0) >> 62
            ):
                raise ValueError("a slice has an extent that is not valid")
            found.append(Extent(start, length))
    return tuple(found)


def serialize_slice(extents: Slice) -> bytes:
    """Return the TensorSliceProto of a slice."""
    return b"".join(
        field(1, (field(1, start) if start else b"") + (b"" if length is None else field(2, length)))
        for start, length in extents
    )


def slice_key(name: bytes, extents: Slice) -> bytes:
    """Return the key of a part of a tensor.

    >>> slice_key(b"emb", (Extent(4, 3), Extent(0, None)))
    b'\\x00emb\\x00\\x01\\x01\\x02\\x84\\x83\\x80\\x7f'
    """
    numbers = [each for start, length in extents for each in (start, _FULL if length is None else length)]
    text = b"".join(_ESCAPED.get(byte, bytes([byte])) for byte in name)
    return b"\0" + text + b"\0\1" + _unsigned(len(extents)) + b"".join(map(_signed, numbers))


def _unsigned(number: int) -> bytes:
    content = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(content)]) + content


def _signed(number: int) -> bytes:
    """Return a number with its length in the leading bits: ones for a positive number, zeros for a negative one."""
    bits = (~number if number < 0 else number).bit_length()
    length = 1 + max(0, bits - _SHORTEST + 6) // 7
    header = ((1 << length) - 1) << (7 * length)
    return ((number & ((1 << (8 * length)) - 1)) ^ header).to_bytes(length, "big")


def index_of(extents: Slice, shape: Sequence[int]) -> tuple[slice, ...]:
    """Return the slice as an index of an array of this shape; ValueError if it is outside of it."""
    if len(extents) != len(shape):
        raise ValueError(f"a slice of {len(extents)} axes of a tensor of the shape {list(shape)}")
    found = []
    for (start, length), size in zip(extents, shape, strict=True):
        stop = size if length is None else start + length
        if stop > size or (length is None and start):
            raise ValueError(f"a slice from {start} to {stop} of an axis of {size}")
        found.append(slice(start, stop))
    return tuple(found)


def sizes(index: Iterable[slice]) -> tuple[int, ...]:
    """Return the shape of the part that an index from `index_of` selects."""
    return tuple(each.stop - each.start for each in index)
