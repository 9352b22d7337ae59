"""Helpers for readers of files: errors that name the file, and lengths checked against the available bytes.

with reading("model.json"):      ==>     DataLossError: model.json is damaged: KeyError: 'class_name'
    document["class_name"]
"""

from __future__ import annotations

import contextlib
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

from ..errors import DataLossError, OpError

FAULTS = (
    ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, TypeError, ValueError, struct.error,
    zlib.error,
)  # fmt: skip
"""The Python exceptions that invalid file content can cause."""

_PIECE = 1 << 20
_MOST_AXES = 64  # the maximum rank of a NumPy array


@contextlib.contextmanager
def reading(path: object) -> Iterator[None]:
    """Turn exceptions caused by a file's content into DataLossError with the file's name.

    >>> try:
    ...     with reading("index.json"):
    ...         {}["content"]
    ... except DataLossError as error:
    ...     print(error)
    index.json is damaged: KeyError: 'content'
    """
    try:
        yield
    except OpError:
        raise
    except FAULTS as error:
        raise DataLossError(f"{path} is damaged: {type(error).__name__}: {str(error)[:500]}") from error


def element_count(shape: Sequence[Any]) -> int:
    """Return the number of elements of a shape read from a file; ValueError for an invalid shape.

    >>> element_count((2, 3))
    6
    """
    if len(shape) > _MOST_AXES:
        raise ValueError(f"a shape of {len(shape)} axes, of at most {_MOST_AXES}")
    if not all(type(size) is int and 0 <= size < 2**63 for size in shape):
        raise ValueError(f"{str(shape)[:200]} is not a shape")
    return math.prod(shape)


def read_exactly(file: IO[bytes], count: int, path: object) -> bytes:
    """Return the next `count` bytes of a file; DataLossError when there are fewer. Memory grows with the bytes read."""
    pieces = []
    missing = count
    while missing > 0:
        piece = file.read(min(missing, _PIECE))
        if not piece:
            raise DataLossError(f"{path} is truncated: it ends {missing} bytes too early")
        pieces.append(piece)
        missing -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
