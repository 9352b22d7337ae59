"""The operation that reads numbers from strings."""

from __future__ import annotations

import re
from typing import Any

from .. import dtypes, errors
from ..ir.specs import Spec
from .attributes import DType
from .declare import Input, Name, op
from .each import each
from .families import STRINGS, demand

Array = Any

TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)

_DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_HEXADECIMAL = re.compile(rb"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?\d+)?")
_NAMED = re.compile(rb"([+-]?)(inf|infinity|nan)(\(\w*\))?", re.IGNORECASE)
_BLANKS = b" \t\n\r\v\f"


@op(name="string_to_number")
def to_number(input: Input, out_type: DType = dtypes.float32, name: Name = None) -> Spec:
    """The numbers that strings say: float32, or float64, int32, int64, uint32 or uint64. Blanks around are left out.

    Raises InvalidArgumentError for what is no number, or no integer of that dtype; a float that is too large is
    infinite.

    >>> to_number(["1.5", " -2e3 "]).numpy().tolist()
    [1.5, -2000.0]
    """
    demand(input, STRINGS, "string_to_number")
    if out_type not in TYPES:
        names = ", ".join(dtype.name for dtype in TYPES)
        raise ValueError(
            f"Value for attr 'out_type' of {out_type.name} is not in the list of allowed values: {names}"
        )
    return Spec(out_type, input.shape)


@to_number.kernel
def _(input: Array, out_type: Any) -> Array:
    return each(lambda item: number(item, out_type), input, dtype=out_type.numpy)


def number(item: bytes, dtype: Any) -> Any:
    """The number that a string says; InvalidArgumentError for none.

    >>> number(b" 0x1p3 ", dtypes.float32), number(b"+7", dtypes.int32)
    (8.0, 7)
    """
    text = item.strip(_BLANKS)
    found = _integer(text, dtype) if dtype.is_integer else _float(text)
    if found is None:
        shown = item.decode("utf-8", "backslashreplace")
        raise errors.InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown}")
    return found


def _integer(text: bytes, dtype: Any) -> int | None:
    if re.fullmatch(rb"[+-]?[0-9]+" if dtype.min else rb"[0-9]+", text) is None:
        return None
    value = int(text)
    return value if dtype.min <= value <= dtype.max else None


def _float(text: bytes) -> float | None:
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.decode())
    named = _NAMED.fullmatch(text)
    if named is None or (named[3] and named[2].lower() != b"nan"):
        return None
    value = float(named[2])
    return -value if named[1] == b"-" else value
