"""What readers of files share: errors that name the file, and lengths that are checked against the bytes there are.

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
"""What Python raises where the content of a file is not what a reader takes it for."""

_PIECE = 1 << 20
_MOST_AXES = 64  # which an array of NumPy can have


@contextlib.contextmanager
def reading(path: object) -> Iterator[None]:
    """Raise DataLossError with the name of a file for what its content makes Python raise.

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
    """Return how many elements a shape from a file has; ValueError for what is no shape of an array.

    >>> element_count((2, 3))
    6
    """
    if len(shape) > _MOST_AXES:
        raise ValueError(f"a shape of {len(shape)} axes, of at most {_MOST_AXES}")
    if not all(type(size) is int and 0 <= size < 2**63 for size in shape):
        raise ValueError(f"{str(shape)[:200]} is no shape")
    return math.prod(shape)


def read_exactly(file: IO[bytes], count: int, path: object) -> bytes:
    """Return the next `count` bytes of a file; DataLossError when there are less. Memory grows with what is there."""
    pieces = []
    missing = count
    while missing > 0:
        piece = file.read(min(missing, _PIECE))
        if not piece:
            raise DataLossError(f"{path} is truncated: it ends {missing} bytes too early")
        pieces.append(piece)
        missing -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
