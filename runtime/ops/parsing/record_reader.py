"""Read features out of the bytes of records, without making objects of them (see `tf.train.Example`).

features_of(b"…")               {b"x": b"…", b"y": b"…"}
values_of(b"…")                 array([3])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...storage.protobuf import fields, varints

Array = Any

_DTYPES = {1: dtypes.string, 2: dtypes.float32, 3: dtypes.int64}
"""The dtypes of features, by the numbers of the fields of the message `Feature`."""

DTYPES = {dtype.name: dtype for dtype in _DTYPES.values()}


class Column(NamedTuple):
    """A feature that an operation reads; `str` and `column_of` convert it from and to an attribute."""

    kind: str
    """dense: a tensor for each record; default: the same, may be missing; padded: a list of tensors; values: a list
    of any length."""
    dtype: dtypes.DType
    shape: tuple[int, ...]
    key: str

    def __str__(self) -> str:
        return f"{self.kind} {self.dtype.name} {'x'.join(map(str, self.shape))} {self.key}"


def column_of(text: str, kinds: frozenset[str]) -> Column:
    """Return the column of its text; ValueError for another text."""
    parts = text.split(" ", 3)
    sizes = parts[2].split("x") if len(parts) == 4 and parts[2] else []
    if (
        len(parts) != 4
        or parts[0] not in kinds
        or parts[1] not in DTYPES
        or not all(size.isdecimal() for size in sizes)
    ):
        raise ValueError(f"{text!r} is not a column of records")
    return Column(parts[0], DTYPES[parts[1]], tuple(map(int, sizes)), parts[3])


def entries(content: bytes) -> dict[bytes, bytes]:
    """Return the entries of a map from strings to messages; of two entries for a key the last one."""
    found = {}
    for number, entry in fields(content):
        if number == 1:
            pair = dict(fields(_whole(entry)))
            found[_whole(pair.get(1, b""))] = _whole(pair.get(2, b""))
    return found


def parts(record: bytes) -> tuple[bytes, bytes]:
    """Return the content of the fields 1 and 2 of a record: features, and lists of features."""
    found = {1: b"", 2: b""}
    for number, content in fields(record):
        if number in found:
            found[number] += _whole(content)
    return found[1], found[2]


def values_of(feature: bytes) -> Array | None:
    """Return the values of a feature, strings as an array of objects; None for a feature of no dtype."""
    found = None
    for number, content in fields(feature):
        if number not in _DTYPES:
            continue
        lists = [value for inside, value in fields(_whole(content)) if inside == 1]
        if number == 1:
            found = np.empty(len(lists), object)
            found[:] = [_whole(value) for value in lists]
        elif number == 2:
            found = np.frombuffer(b"".join(map(_whole, lists)), "<f4").astype(np.float32)
        elif lists:
            arrays = [varints(value) for value in lists]
            found = np.concatenate(arrays).view(np.int64) if len(arrays) > 1 else arrays[0].view(np.int64)
        else:
            found = np.empty(0, np.int64)
    return found


def checked_values(feature: bytes, column: Column, record: int) -> Array | None:
    """Return the values of a feature, or None; InvalidArgumentError if their dtype is not that of the column."""
    values = values_of(feature)
    if values is not None and dtypes.of_array(values) is not column.dtype:
        raise errors.InvalidArgumentError(
            f"Key: {column.key}, Index: {record}.  Data types don't match. Expected type: {column.dtype.name}, "
            f"Actual type: {dtypes.of_array(values).name}"
        )
    return values


def joined(arrays: list[Array], dtype: dtypes.DType) -> Array:
    """Return vectors as one vector."""
    return np.concatenate([np.empty(0, dtype.numpy_dtype), *arrays])


def _whole(content: Any) -> bytes:
    if isinstance(content, int):
        raise ValueError("a field is of another kind")
    found: bytes = content
    return found
