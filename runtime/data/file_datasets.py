"""Datasets of files: lines of text, records of a fixed length, TFRecords; plain or compressed.

A TFRecord file is a sequence of

    u64 length    u32 masked crc32c of the length    content    u32 masked crc32c of the content
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.tensor_spec import TensorSpec
from ..storage.crc32c import masked_crc32c
from .compressed import COMPRESSIONS, CompressedStream, opened
from .dataset import Dataset
from .pipeline_stage import Elements, PipelineStage, number

_PIECE = 1 << 16


class Files(PipelineStage):
    """A stage of the records of files, one file after the other."""

    def __init__(self, names: Any, compression: Any) -> None:
        compression = compression or ""
        if compression not in COMPRESSIONS:
            raise errors.InvalidArgumentError(f"Unsupported compression_type: {compression}")
        self.names, self.compression = _names(names), compression
        self.spec = TensorSpec((), dtypes.string)

    def elements(self) -> Elements:
        for name in self._paths():
            try:
                with opened(name, self.compression) as file:
                    yield from self.rows(file)
            except (OSError, EOFError, zlib.error) as error:
                raise errors.DataLossError(f"{name}; {error}") from None

    def _paths(self) -> Iterator[str]:
        if isinstance(self.names, PipelineStage):
            rows = self.names.elements()
            return (os.fsdecode(item) for (leaf,) in rows for item in np.asarray(leaf).reshape(-1))
        return (os.fsdecode(item) for item in self.names._array.reshape(-1))

    def rows(self, file: CompressedStream) -> Elements:
        """Return the records of a file, as rows."""
        return ((np.array(record, object),) for record in self.records(file))

    def records(self, file: CompressedStream) -> Iterator[bytes]:
        """Yield the records of a file."""
        raise NotImplementedError


def _names(given: Any) -> Any:
    """Return file names: a tensor of strings, or the stage of a dataset of strings."""
    if isinstance(given, Dataset):
        spec = given.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.string:
            raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got {spec!r}.")
        return given._stage
    tensor = convert_to_tensor(_as_text(given))
    if tensor.dtype is not dtypes.string:
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got `{tensor.dtype!r}` elements."
        )
    return tensor


def _as_text(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return [_as_text(item) for item in given] or np.array([], object)
    return given.__fspath__() if hasattr(given, "__fspath__") else given


class _Lines(Files):
    name = "TextLineDatasetV2"

    def records(self, file: CompressedStream) -> Iterator[bytes]:
        while line := file.line():
            yield line.removesuffix(b"\n").removesuffix(b"\r")


class _Fixed(Files):
    name = "FixedLengthRecordDatasetV2"

    def __init__(self, names: Any, length: Any, header: Any, footer: Any, compression: Any) -> None:
        super().__init__(names, compression)
        self.length, self.header, self.footer = length, header, footer

    def check(self) -> None:
        for what, value, least in (
            ("record_bytes", self.length, 1),
            ("header_bytes", self.header, 0),
            ("footer_bytes", self.footer, 0),
        ):
            if isinstance(value, int) and value < least:
                raise errors.InvalidArgumentError(
                    f"{what} must be {'positive' if least else 'non-negative'}, got {value}"
                )

    def records(self, file: CompressedStream) -> Iterator[bytes]:
        if file.size is not None:
            self._demand_whole(file.size, file.name)
        size = 0
        while size < self.header and (piece := file.piece(min(self.header - size, _PIECE))):
            size += len(piece)
        needed, content, at = self.length + self.footer, b"", 0
        while True:
            if len(content) - at < needed:
                piece = file.piece(max(needed, _PIECE))
                size += len(piece)
                content, at = content[at:] + piece, 0
                if len(content) < needed:
                    break
            yield content[at : at + self.length]
            at += self.length
        self._demand_whole(size, file.name)

    def _demand_whole(self, size: int, name: str) -> None:
        """Raise InvalidArgumentError unless `size` bytes are a header, whole records and a footer."""
        body = size - self.header - self.footer
        if body < 0 or body % self.length:
            raise errors.InvalidArgumentError(
                f"Excluding the header ({self.header} bytes) and footer ({self.footer} bytes), input file "
                f'"{name}" has body length {body} bytes, which is not an exact multiple of the record '
                f"length ({self.length} bytes)."
            )


class _TFRecords(Files):
    name = "TFRecordDatasetV2"

    def records(self, file: CompressedStream) -> Iterator[bytes]:
        while head := file.piece(12):
            if len(head) < 12:
                raise errors.DataLossError(f"truncated record in {file.name}")
            length, checksum = struct.unpack("<QI", head)
            if masked_crc32c(head[:8]) != checksum:
                raise errors.DataLossError(f"corrupted record in {file.name}")
            content = file.exactly(length)
            if struct.pack("<I", masked_crc32c(content)) != file.exactly(4):
                raise errors.DataLossError(f"corrupted record in {file.name}")
            yield content


class TextLineDataset(Dataset):
    """A dataset of the lines of text files, without their ends.

    Args:
        filenames: a name, several, or a dataset of names.
        compression_type: "" (none), "GZIP" or "ZLIB".
        buffer_size, num_parallel_reads: accepted for compatibility.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.write_file(f"{folder}/a.txt", "one\\ntwo\\n")
    ...     print([line.numpy() for line in tf.data.TextLineDataset(f"{folder}/a.txt")])
    [b'one', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(_Lines(filenames, compression_type))


class FixedLengthRecordDataset(Dataset):
    """A dataset of records of `record_bytes` bytes, without the header and footer of each file.

    A file that does not consist of whole records raises InvalidArgumentError when it is read.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.write_file(f"{folder}/a.bin", b"HEADaabb")
    ...     records = tf.data.FixedLengthRecordDataset(f"{folder}/a.bin", record_bytes=2, header_bytes=4)
    ...     print([record.numpy() for record in records])
    [b'aa', b'bb']
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        header, footer = (0 if value is None else number(value) for value in (header_bytes, footer_bytes))
        super().__init__(_Fixed(filenames, number(record_bytes), header, footer, compression_type))


class TFRecordDataset(Dataset):
    """A dataset of the records of TFRecord files, as strings. A damaged record raises DataLossError when it is read.

    >>> import tempfile
    >>> from agc.runtime.io import TFRecordWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TFRecordWriter(folder + "/a") as writer:
    ...         writer.write(b"one")
    ...     [record.numpy() for record in TFRecordDataset(folder + "/a")]
    [b'one']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(_TFRecords(filenames, compression_type))
