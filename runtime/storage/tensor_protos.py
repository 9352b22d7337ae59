"""Tensors in the bytes of TensorFlow's `TensorProto` message, which `tf.io.serialize_tensor` writes.

    1: dtype   2: shape (2: dimension (1: size) …)   4: all elements   8: a string, for each element

Other writers store elements one by one in a field of their dtype; that is read as well, and the last of too few
stands for the rest.

>>> parsed(serialized(np.array([1, 2], np.int32)))
array([1, 2], dtype=int32)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes
from .protobuf import field

Array = Any

NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
    "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
    "float8_e5m2": 24, "float8_e4m3fn": 25,
}  # fmt: skip
"""TensorFlow's numbers of dtypes."""

_BY_NUMBER = {number: name for name, number in NUMBERS.items()}
_FIXED = {5: "<f4", 6: "<f8", 9: "<c8", 12: "<c16"}
_VARINTS = frozenset({7, 10, 11, 13, 16, 17})


def serialized(array: Array) -> bytes:
    """The message for an array."""
    dtype = dtypes.of_array(array)
    sizes = b"".join(field(2, field(1, size) if size else b"") for size in array.shape)
    message = field(1, NUMBERS[dtype.name]) + field(2, sizes)
    if dtype is dtypes.string:
        return message + b"".join(field(8, item) for item in array.ravel().tolist())
    content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return message + (field(4, content) if content else b"")


def parsed(message: bytes) -> Array:
    """The array of a message; ValueError for what is none."""
    name, content = "", b""
    shape: tuple[int, ...] = ()
    strings: list[bytes] = []
    elements: list[Any] = []
    for number, value in _fields(message):
        if number == 1:
            name = _BY_NUMBER.get(value, "")
        elif number == 2:
            shape = tuple(_size(dimension) for kind, dimension in _fields(value) if kind == 2)
        elif number == 4:
            content = value
        elif number == 8:
            strings.append(value)
        elif number in _FIXED or number in _VARINTS:
            elements += _elements(number, value)
    if not name:
        raise ValueError("the message has no dtype that is known")
    return _array(dtypes.as_dtype(name), shape, content, strings, elements)


def _array(
    dtype: dtypes.DType, shape: tuple[int, ...], content: bytes, strings: list[bytes], elements: list[Any]
) -> Array:
    count = math.prod(shape)
    if dtype is dtypes.string:
        if len(strings) not in (0, count):
            raise ValueError(f"{len(strings)} strings do not fill the shape {shape}")
        array = np.empty(count, object)
        array[:] = strings or [b""] * count
        return array.reshape(shape)
    if content:
        if len(content) != count * dtype.size:
            raise ValueError(f"{len(content)} bytes do not fill the shape {shape}")
        return np.frombuffer(content, dtype.numpy.newbyteorder("<")).astype(dtype.numpy).reshape(shape)
    if dtype.is_floating and dtype.size == 2:
        elements = np.array(elements, np.uint16).view(dtype.numpy).tolist()
    if len(elements) > count:
        raise ValueError(f"{len(elements)} elements do not fill the shape {shape}")
    rest = [elements[-1] if elements else 0] * (count - len(elements))
    return np.array(elements + rest).astype(dtype.numpy).reshape(shape)


def _size(dimension: bytes) -> int:
    return next((value for number, value in _fields(dimension) if number == 1), 0)


def _elements(number: int, value: Any) -> list[Any]:
    """Elements that are stored one by one."""
    if number in _FIXED:
        return np.frombuffer(value, _FIXED[number]).tolist()  # type: ignore[no-any-return]
    if isinstance(value, int):
        return [_signed(value)]
    found, at = [], 0
    while at < len(value):
        item, at = _read_varint(value, at)
        found.append(_signed(item))
    return found


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field; ValueError where the message breaks off."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _read_varint(message, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = _read_varint(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError("the message has a field of an unknown kind")
        if at + size > len(message):
            raise ValueError("the message breaks off")
        yield key >> 3, message[at : at + size]
        at += size


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("the message breaks off")
