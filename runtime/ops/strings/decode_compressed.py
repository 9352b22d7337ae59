"""The operation that decompresses strings."""

from __future__ import annotations

import zlib
from typing import Any

from ... import errors
from ...core.export import export
from ...ir.value_types import TensorType
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from .map_bytes import each

Array = Any
_WINDOWS = {"GZIP": 16 + zlib.MAX_WBITS, "ZLIB": zlib.MAX_WBITS}


@export("io.decode_compressed")
@op(element_operands=1)
def decode_compressed(bytes: Input, compression_type: str = "", name: Name = None) -> TensorType:
    """Return the content of each compressed string.

    Args:
        bytes: strings of any shape.
        compression_type: "GZIP", "ZLIB", or "" for strings that are not compressed.

    Raises InvalidArgumentError for another type, and DataLossError for strings of another form.

    >>> import zlib
    >>> decode_compressed([zlib.compress(b"text")], "ZLIB").numpy().tolist()
    [b'text']
    """
    require_dtype(bytes, STRINGS, "decode_compressed")
    if compression_type and compression_type not in _WINDOWS:
        raise ValueError(f"Only ZLIB, GZIP or NONE are supported compressions, not {compression_type!r}")
    return TensorType(bytes.dtype, bytes.shape)


@decode_compressed.kernel
def _(bytes: Array, compression_type: str) -> Array:
    if not compression_type:
        return bytes
    return each(lambda content: _content(content, _WINDOWS[compression_type]), bytes)


def _content(compressed: Any, window: int) -> Any:
    try:
        return zlib.decompress(compressed, window)
    except zlib.error as error:
        raise errors.DataLossError(f"decode_compressed: {error}") from None
