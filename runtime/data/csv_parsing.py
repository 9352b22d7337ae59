"""A parser of CSV files that reads records like TensorFlow's CsvDataset, in linear time.

    1,"a ""b""
    c",                ==>     [b"1", b'a "b"\\nc', b""]

Fields are separated by the delimiter; records end with a line feed, a carriage return or both. Inside quotes, all
these are part of a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import errors
from .compressed import CompressedStream


def records_of(file: CompressedStream, delimiter: str, quoted: bool) -> Iterator[list[bytes]]:
    """Yield the fields of each record. Raises InvalidArgumentError for quotes that violate RFC 4180."""
    if len(delimiter.encode()) != 1:
        raise errors.InvalidArgumentError(f"field_delim should be only 1 char, not {delimiter!r}")
    return _Records(file, delimiter.encode(), quoted).records()


class _Records:
    def __init__(self, file: CompressedStream, delimiter: bytes, quoted: bool) -> None:
        self._file, self._delimiter, self._quoted = file, delimiter, quoted
        self._end = re.compile(rb"[\r\n" + re.escape(delimiter) + (rb'"]' if quoted else rb"]"))

    def records(self) -> Iterator[list[bytes]]:
        while line := self._file.line():
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            if b"\r" in text or (self._quoted and b'"' in text):
                yield from self._parsed(line)
            else:
                yield text.split(self._delimiter)

    def _parsed(self, line: bytes) -> Iterator[list[bytes]]:
        """Yield the records that begin in a line, the last of which may end in a later line."""
        fields: list[bytes] = []
        at = 0
        while at < len(line):
            is_quoted = self._quoted and line[at : at + 1] == b'"'
            field, line, at = self._quotes(line, at + 1) if is_quoted else self._plain(line, at)
            fields.append(field)
            if line.startswith(self._delimiter, at):
                at += len(self._delimiter)
                if at == len(line):  # at the end of the file
                    fields.append(b"")
            else:
                at += 2 if line.startswith(b"\r\n", at) else 1
                yield fields
                fields = []
        if fields:
            yield fields

    def _plain(self, line: bytes, at: int) -> tuple[bytes, bytes, int]:
        """Return an unquoted field, the line, and the position after the field."""
        found = self._end.search(line, at)
        end = len(line) if found is None else found.start()
        if line[end : end + 1] == b'"' and self._quoted:
            raise errors.InvalidArgumentError("Unquoted fields cannot have quotes inside")
        return line[at:end], line, end

    def _quotes(self, line: bytes, at: int) -> tuple[bytes, bytes, int]:
        """Return a field whose quote is before `at`, the line that it ends in, and the position after it."""
        pieces: list[bytes] = []
        length = 0
        while True:
            end = line.find(b'"', at)
            if end < 0:
                pieces.append(line[at:])
                length += len(line)
                self._file.check(length)
                line, at = self._file.line(), 0
                if not line:
                    raise errors.InvalidArgumentError(
                        "Reached end of file without closing quoted field in record"
                    )
                continue
            if line[end + 1 : end + 2] != b'"':
                break
            pieces.append(line[at : end + 1])
            at = end + 2
        pieces.append(line[at:end])
        if line[end + 1 : end + 2] not in (b"", b"\r", b"\n") and not line.startswith(
            self._delimiter, end + 1
        ):
            raise errors.InvalidArgumentError("Quote inside a string has to be escaped by another quote")
        return b"".join(pieces), line, end + 1
