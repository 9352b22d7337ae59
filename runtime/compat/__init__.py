"""`tf.compat`: conversion of text and bytes, and the names of TensorFlow 1 and 2.

>>> as_bytes("ä"), as_str(b"a"), as_text("b")
(b'\\xc3\\xa4', 'a', 'b')
"""

from __future__ import annotations

import importlib
import numbers
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.missing_names import missing_name

if TYPE_CHECKING:
    from . import v1, v2


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Return text as bytes; bytes, bytearrays and memoryviews unchanged. TypeError for anything else."""
    if isinstance(bytes_or_text, (bytes, bytearray, memoryview)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Return bytes as text; text unchanged. TypeError for anything else."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Return bytes as text, anything else as `str` formats it."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> str:
    """Return a path, text or bytes, as text."""
    return as_str_any(os.fspath(path) if hasattr(path, "__fspath__") else path)


def path_to_bytes(path: Any) -> bytes:
    """Return a path, text or bytes, as bytes."""
    return as_bytes(os.fspath(path) if hasattr(path, "__fspath__") else path)


def dimension_value(dimension: Any) -> Any:
    """Return a dimension of a shape unchanged."""
    return dimension


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Return True, like a TensorFlow that was released after that day."""
    return True


bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)


if not TYPE_CHECKING:  # mypy only sees the names that are imported above

    def __getattr__(name: str) -> Any:
        if name in ("v1", "v2"):
            return importlib.import_module(f"{__name__}.{name}")
        raise missing_name(__name__, name)


__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_value",
    "forward_compatible", "integral_types", "path_to_bytes", "path_to_str", "real_types", "v1", "v2",
]  # fmt: skip
