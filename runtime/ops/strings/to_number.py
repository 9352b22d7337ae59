"""The operation that parses numbers from strings."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.strings.packed import decimals
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype

Array = Any

TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)

# Possessive quantifiers do not backtrack: each takes time linear in the text. Groups have none, since Python before
# 3.11.5 does not go back when the second part of such a group fails.
_INTEGER = re.compile(rb"([+-]?+)0*+(\d*+)")
_DECIMAL = re.compile(rb"[+-]?+(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?+\d++)?")
_HEXADECIMAL = re.compile(
    rb"[+-]?+0[xX](?:[0-9a-fA-F]++(?:\.[0-9a-fA-F]*+)?|\.[0-9a-fA-F]++)(?:[pP][+-]?+\d++)?"
)
_NAMED = re.compile(rb"([+-]?)(inf|infinity|nan)(\(\w*\))?", re.IGNORECASE)
_BLANKS = b" \t\n\r\v\f"
_LONGEST_INTEGER = 20  # digits of the largest uint64
_SHOWN = 100  # characters of a text in a message


@export("strings.to_number")
@op(name="string_to_number", element_operands=1)
def to_number(input: Input, out_type: DType = dtypes.float32, name: Name = None) -> TensorType:
    """Parse numbers from strings: float32, float64, int32, int64, uint32 or uint64; surrounding whitespace is ignored.

    Raises InvalidArgumentError for strings that are no numbers, or no integers of that dtype. A float that is
    too large becomes infinite.

    >>> to_number(["1.5", " -2e3 "]).numpy().tolist()
    [1.5, -2000.0]
    """
    require_dtype(input, STRINGS, "string_to_number")
    if out_type not in TYPES:
        names = ", ".join(dtype.name for dtype in TYPES)
        raise ValueError(
            f"Value for attr 'out_type' of {out_type.name} is not in the list of allowed values: {names}"
        )
    return TensorType(out_type, input.shape)


@to_number.kernel
def _(input: Array, out_type: Any) -> Array:
    items = np.asarray(input, object)
    return numbers(items.ravel(), out_type).reshape(items.shape)


def numbers(texts: Array, dtype: Any) -> Array:
    """Parse numbers from a vector of strings; InvalidArgumentError for the first that is invalid.

    >>> numbers(np.array([b"7", b" -1 "], object), dtypes.int32).tolist()
    [7, -1]
    """
    found = decimals(texts, dtype.is_floating, bool(dtype.min))
    if found is not None and (dtype.is_floating or not ((found < dtype.min) | (found > dtype.max)).any()):
        with np.errstate(over="ignore"):
            return found.astype(dtype.numpy_dtype)
    return np.fromiter((number(item, dtype) for item in texts.tolist()), dtype.numpy_dtype, len(texts))


def number(item: bytes, dtype: Any) -> Any:
    """Parse a number from a string; InvalidArgumentError if it is invalid.

    >>> number(b" 0x1p3 ", dtypes.float32), number(b"+7", dtypes.int32)
    (8.0, 7)
    """
    text = item.strip(_BLANKS)
    found = _integer(text, dtype) if dtype.is_integer else _float(text)
    if found is None:
        raise errors.InvalidArgumentError(
            f"StringToNumberOp could not correctly convert string: {shown(item)}"
        )
    return found


def shown(item: bytes) -> str:
    """Return the beginning of a string, for an error message.

    >>> shown(b"x" * 1000).endswith("x… (1000 bytes)")
    True
    """
    text = item[:_SHOWN].decode("utf-8", "backslashreplace")
    return text if len(item) <= _SHOWN else f"{text}… ({len(item)} bytes)"


def _integer(text: bytes, dtype: Any) -> int | None:
    found = _INTEGER.fullmatch(text)
    # Check the number of digits first: Python parses long integers in quadratic time.
    if (
        found is None
        or not text[-1:].isdigit()
        or len(found[2]) > _LONGEST_INTEGER
        or (found[1] and not dtype.min)
    ):
        return None
    value = int(found[1] + (found[2] or b"0"))
    return value if dtype.min <= value <= dtype.max else None


def _float(text: bytes) -> float | None:
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text.decode())
        except OverflowError:
            return -math.inf if text[:1] == b"-" else math.inf
    named = _NAMED.fullmatch(text)
    if named is None or (named[3] and named[2].lower() != b"nan"):
        return None
    value = float(named[2])
    return -value if named[1] == b"-" else value
