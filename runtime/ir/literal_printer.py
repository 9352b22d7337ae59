"""Print constants and attributes exactly: parsing the text gives the same bits.

    1   1.0   true   'abc'                 int32, float32, bool and string scalars
    int64(1)   complex64(1.0+2.0j)         scalars of the other dtypes
    [1, 2]   float64([[1.0, 2.0]])         small arrays
    $1                                     all others: the data are in a block of their own

Attributes are written as in Python, with the names of dtypes: `(0, None)`, `'mean'`, `float32`.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes

Array = np.ndarray[Any, Any]

INLINE = 16
"""The most elements of an array that is printed inline."""

BARE = {dtypes.int32, dtypes.float32, dtypes.bool_, dtypes.string}
"""The dtypes of literals without an explicit dtype."""

_LINE = 96


def show_constant(array: Array) -> str | None:
    """Return `array` as a literal; None if it is too big, or would not read back bit by bit."""
    dtype = dtypes.of_array(array)
    if not 0 < array.size <= INLINE:
        return None
    if dtype is dtypes.string:
        text = _nested(array, show_string)
        return text if len(text) <= _LINE else None
    text = _nested(array, _show_complex if dtype.is_complex else _show_real)
    if dtype.kind in "fc" and _read_again(array).tobytes() != array.tobytes():
        return None
    return text if dtype in BARE else f"{dtype.name}({text})"


def _nested(array: Array, show: Any) -> str:
    if array.ndim == 0:
        return str(show(array[()]))
    return f"[{', '.join(_nested(np.asarray(row, array.dtype), show) for row in array)}]"


def _show_real(number: Any) -> str:
    return str(number).lower()  # true, 1, 1.0, 1e-05, nan, -inf: the shortest text unique in its dtype


def _show_complex(number: Any) -> str:
    sign = "" if str(number.imag).startswith("-") else "+"
    return f"{_show_real(number.real)}{sign}{_show_real(number.imag)}j"


def _read_again(array: Array) -> Array:
    if array.dtype.kind == "c":
        leaves: list[Any] = [complex(float(str(x.real)), float(str(x.imag))) for x in array.flat]
    else:
        leaves = [float(str(x)) for x in array.flat]
    return np.array(leaves, array.dtype)


def show_string(content: bytes) -> str:
    """Return bytes as a string literal; as `b'…'` if they are not UTF-8."""
    try:
        return repr(content.decode())
    except UnicodeDecodeError:
        return repr(content)


def make_constant(literal: Any, dtype: dtypes.DType | None) -> Array:
    """Return the array for a parsed literal: nested lists of numbers or of bytes.

    Raises ValueError if the literal does not fit the dtype.
    """
    own = _dtype_of(literal)
    if own is None:
        raise ValueError("an empty array needs a name and a data block")
    wanted = dtype or own
    if (own is dtypes.string) != (wanted is dtypes.string):
        raise ValueError(f"this is no {wanted.name}")
    if (wanted.is_integer and own is not dtypes.int32) or (wanted.is_bool and own is not dtypes.bool_):
        raise ValueError(f"this is no {wanted.name}")
    try:
        return np.array(literal, wanted.numpy_dtype)
    except (ValueError, OverflowError, TypeError) as error:
        raise ValueError(str(error)) from None


def _dtype_of(literal: Any) -> dtypes.DType | None:
    while isinstance(literal, list):
        if not literal:
            return None
        literal = literal[0]
    by_type = {bool: dtypes.bool_, int: dtypes.int32, float: dtypes.float32, complex: dtypes.complex64}
    return by_type.get(type(literal), dtypes.string)


def data_key(array: Array) -> tuple[str, tuple[int, ...], bytes]:
    """Return a key that is equal for equal constants, so that equal data are written once."""
    return dtypes.of_array(array).name, array.shape, encode(array)


def encode(array: Array) -> bytes:
    """Return the elements in row-major order, little-endian; strings have length prefixes."""
    if array.dtype.kind == "O":
        return b"".join(struct.pack("<I", len(item)) + item for item in array.flat)
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def decode(content: bytes, dtype: dtypes.DType, shape: tuple[int, ...]) -> Array:
    """Return the array for the result of `encode`; ValueError if `content` has the wrong length."""
    if dtype is dtypes.string:
        return _decode_strings(content, shape)
    if dtype.is_bool and content.translate(None, b"\0\1"):
        raise ValueError(
            "a truth value is a byte that is neither 0 nor 1"
        )  # NumPy and native code rely on this
    array = np.frombuffer(content, dtype.numpy_dtype.newbyteorder("<")).reshape(shape)
    return array.astype(dtype.numpy_dtype)


def _decode_strings(content: bytes, shape: tuple[int, ...]) -> Array:
    items = []
    position = 0
    while position < len(content):
        if position + 4 > len(content):
            raise ValueError("the data end within a string")
        (length,) = struct.unpack_from("<I", content, position)
        items.append(content[position + 4 : position + 4 + length])
        position += 4 + length
    if position != len(content) or len(items) != math.prod(shape):
        raise ValueError(f"{len(items)} strings do not fill the shape {shape}")
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def data_lines(content: bytes) -> Iterator[str]:
    """Yield `content` in base64, line by line."""
    text = base64.b64encode(content).decode()
    for start in range(0, len(text), _LINE):
        yield text[start : start + _LINE]


def show_attribute(value: Any) -> str:
    """Return an attribute as text; objects of a running program, such as functions, are in angle brackets."""
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, (tuple, list)):
        items = ", ".join(map(show_attribute, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    return f"<{type(value).__name__} {getattr(value, '__name__', '')}>".replace(" >", ">")
