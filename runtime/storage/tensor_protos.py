"""Tensors in the wire format of TensorFlow's `TensorProto` message, which `tf.io.serialize_tensor` writes.

    1: dtype   2: shape (2: dimension (1: size) …)   4: all elements   8: a string, for each element

Other writers store elements one by one in a field of their dtype; that is read as well. The last of too few
elements is repeated, up to `MOST_REPEATED`.

>>> parsed(serialized(np.array([1, 2], np.int32)))
array([1, 2], dtype=int32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .corruption import element_count
from .protobuf import field, fields, varints

Array = Any

NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
    "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
    "float8_e5m2": 24, "float8_e4m3fn": 25,
}  # fmt: skip
"""TensorFlow's numbers of dtypes."""

_OTHER_NAMES = {"float16": "half", "float32": "float", "float64": "double"}
TYPE_LABELS = {number: f"DT_{_OTHER_NAMES.get(name, name).upper()}" for name, number in NUMBERS.items()} | {
    20: "DT_RESOURCE",
    21: "DT_VARIANT",
}
"""The names of dtypes in the text format of messages."""

_BY_NUMBER = {number: name for name, number in NUMBERS.items()}
_FIXED = {5: "<f4", 6: "<f8", 9: "<c8", 12: "<c16"}
_VARINTS = frozenset({7, 10, 11, 13, 16, 17})
_KINDS = {1: int} | dict.fromkeys((2, 4, *_FIXED, 8), bytes)
_FIELDS = {
    "float32": 5, "float64": 6, "complex64": 9, "complex128": 12, "int32": 7, "int16": 7, "int8": 7, "uint8": 7,
    "uint16": 7, "int64": 10, "bool": 11, "float16": 13, "bfloat16": 13, "uint32": 16, "uint64": 17,
}  # fmt: skip
"""The fields that store elements of these dtypes one by one."""

MOST_REPEATED = 64 << 20
"""The maximum number of bytes of repeated elements that are not in a message."""


def serialized(tensor: Array) -> bytes:
    """Return the message for an array."""
    dtype = dtypes.of_array(tensor)
    sizes = b"".join(field(2, field(1, size) if size else b"") for size in tensor.shape)
    message = field(1, NUMBERS[dtype.name]) + field(2, sizes)
    if dtype is dtypes.string:
        return message + b"".join(field(8, item) for item in tensor.ravel().tolist())
    content = tensor.astype(tensor.dtype.newbyteorder("<"), copy=False).tobytes()
    return message + (field(4, content) if content else b"")


class _Contents:
    """The decoded fields of a message."""

    def __init__(self, message: bytes) -> None:
        self.name, self.content = "", b""
        self.shape: tuple[int, ...] = ()
        self.strings: list[bytes] = []
        self.fixed = {number: bytearray() for number in _FIXED}
        self.varints: dict[int, list[Array]] = {number: [] for number in _VARINTS}
        for number, value in fields(message):
            if number in _KINDS and not isinstance(value, _KINDS[number]):
                raise ValueError(f"the field {number} is of another kind")
            self.read(number, value)
        if not self.name:
            raise ValueError("the message has no dtype that is known")

    def read(self, number: int, value: Any) -> None:
        if number == 1:
            self.name = _BY_NUMBER.get(value, "")
        elif number == 2:
            self.shape = tuple(_size(dimension) for kind, dimension in fields(value) if kind == 2)
        elif number == 4:
            self.content = value
        elif number == 8:
            self.strings.append(value)
        elif number in _FIXED:
            self.fixed[number] += value
        elif number in _VARINTS:
            self.varints[number].append(varints(value))

    def elements(self, dtype: Any) -> Array:
        """Return the elements that are stored one by one, in the field of the dtype."""
        number = _FIELDS.get(self.name, 0)
        if number in _FIXED:
            return np.frombuffer(bytes(self.fixed[number]), _FIXED[number]).astype(dtype.numpy_dtype)
        words = np.concatenate([varints(b""), *self.varints.get(number, ())])
        is_half = dtype.is_floating and dtype.size == 2
        return words.astype(np.uint16).view(dtype.numpy_dtype) if is_half else words.astype(dtype.numpy_dtype)


def parsed(message: bytes) -> Array:
    """Return the array of a message; ValueError for an invalid message."""
    found = _Contents(message)
    dtype, shape, content = dtypes.as_dtype(found.name), found.shape, found.content
    count = element_count(shape)
    if dtype is dtypes.string:
        return _filled(_objects(found.strings), b"", count).reshape(shape)
    if not content:
        return _filled(found.elements(dtype), 0, count).reshape(shape)
    if len(content) != count * dtype.size:
        raise ValueError(f"{len(content)} bytes do not fill the shape {shape}")
    if dtype.is_bool:  # native code relies on bytes of 0 and 1
        return (np.frombuffer(content, np.uint8) != 0).reshape(shape)
    return (
        np.frombuffer(content, dtype.numpy_dtype.newbyteorder("<")).astype(dtype.numpy_dtype).reshape(shape)
    )


def _objects(strings: list[bytes]) -> Array:
    found = np.empty(len(strings), object)
    found[:] = strings
    return found


def _filled(elements: Array, default: Any, count: int) -> Array:
    """Return the elements of an array; the last one is repeated for missing ones."""
    missing = count - len(elements)
    if missing < 0:
        raise ValueError(f"{len(elements)} elements do not fill {count} places")
    if missing * elements.itemsize > MOST_REPEATED:
        raise ValueError(
            f"{len(elements)} elements of {count}; at most {MOST_REPEATED >> 20} MiB are filled up"
        )
    result = np.empty(count, elements.dtype)
    result[: len(elements)] = elements
    result[len(elements) :] = elements[-1] if len(elements) else default
    return result


def _size(dimension: Any) -> int:
    if isinstance(dimension, int):
        raise ValueError("a dimension is of another kind")
    size = next((value for number, value in fields(dimension) if number == 1), 0)
    if not isinstance(size, int) or size >> 63:
        raise ValueError("a dimension is negative or unknown")
    return size
