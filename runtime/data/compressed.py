"""Possibly compressed files as streams, with a size limit for each line or record.

    with opened("a.gz", "GZIP") as file:
        file.line()             the next line, b"" at the end
        file.exactly(count)     the next bytes, DataLossError when there are fewer

A few bytes of a compressed file can expand to gigabytes. So one of its lines or records may take ten times the bytes
of the file, and 32 MiB in any case. Uncompressed files have no limit.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from typing import Any

from .. import errors
from ..storage.corruption import read_exactly

COMPRESSIONS = ("", "GZIP", "ZLIB")
LEAST_LIMIT = 32 << 20
_PIECE = 1 << 16


class CompressedStream:
    """An open file; errors include its name."""

    def __init__(self, raw: Any, file: Any, name: str, limit: int | None) -> None:
        self._raw, self._file, self.name, self._limit = raw, file, name, limit

    @property
    def size(self) -> int | None:
        """Return the number of bytes, if it is known without reading."""
        if self._limit is not None:
            return None
        found = os.fstat(self._file.fileno())
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def line(self) -> bytes:
        """Return the next line, with its end; b"" at the end of the file."""
        if self._limit is None:
            return self._file.readline()  # type: ignore[no-any-return]
        line: bytes = self._file.readline(self._limit + 1)
        self.check(len(line))
        return line

    def piece(self, count: int) -> bytes:
        """Return the next `count` bytes, or fewer at the end of the file."""
        return self._file.read(count)  # type: ignore[no-any-return]

    def exactly(self, count: int) -> bytes:
        """Return the next `count` bytes; DataLossError when there are fewer."""
        self.check(count)
        return read_exactly(self._file, count, self.name)

    def check(self, count: int) -> None:
        """Raise DataLossError for a line or record that is longer than the limit."""
        if self._limit is not None and count > self._limit:
            raise errors.DataLossError(
                f"{self.name} is damaged, or decompresses to too much: a line or record of a compressed file has at "
                f"most {self._limit} bytes; decompress the file to read longer ones"
            )

    def __enter__(self) -> CompressedStream:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        self._raw.close()  # a GzipFile does not close it


def opened(name: str, compression: str) -> CompressedStream:
    """Open a file for reading. Raises NotFoundError, PermissionDeniedError, or DataLossError for other failures."""
    try:
        file = open(name, "rb")  # noqa: SIM115  # closed with the stream
    except FileNotFoundError:
        raise errors.NotFoundError(f"{name}; No such file or directory") from None
    except PermissionError:
        raise errors.PermissionDeniedError(f"{name}; Permission denied") from None
    except (OSError, ValueError) as error:
        raise errors.DataLossError(f"{name}; {error}") from None
    if not compression:
        return CompressedStream(file, file, name, None)
    limit = max(LEAST_LIMIT, 10 * os.fstat(file.fileno()).st_size)
    unpacked: Any = gzip.GzipFile(fileobj=file) if compression == "GZIP" else _Inflated(file)
    return CompressedStream(file, io.BufferedReader(unpacked, _PIECE), name, limit)


class _Inflated(io.RawIOBase):
    """The decompressed content of a file of the zlib format."""

    def __init__(self, file: Any) -> None:
        self._file, self._unpacker = file, zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        content = b""
        while not content and not self._unpacker.eof:
            packed = self._unpacker.unconsumed_tail or self._file.read(_PIECE)
            content = self._unpacker.decompress(packed, len(target))
            if not packed and not content:
                raise EOFError("incomplete or truncated stream")
        target[: len(content)] = content
        return len(content)
