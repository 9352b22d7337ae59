"""Datasets of files: lines of text, records of a fixed length, TFRecords; plain or compressed.

A TFRecord file is a sequence of

    u64 length    u32 masked crc32c of the length    content    u32 masked crc32c of the content
"""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from .. import dtypes, errors
from ..convert import convert_to_tensor
from ..tensor_spec import TensorSpec
from .checksums import masked_crc32c
from .dataset import Dataset
from .stage import Elements, Stage, number

_COMPRESSIONS = ("", "GZIP", "ZLIB")


class Files(Stage):
    """The records of files, one file after the other."""

    def __init__(self, names: Any, compression: Any) -> None:
        compression = compression or ""
        if compression not in _COMPRESSIONS:
            raise errors.InvalidArgumentError(f"Unsupported compression_type: {compression}")
        self.names, self.compression = _names(names), compression
        self.spec = TensorSpec((), dtypes.string)

    def elements(self) -> Elements:
        for name in self._paths():
            try:
                with opened(name, self.compression) as file:
                    yield from self.rows(file, name)
            except (OSError, EOFError, zlib.error) as error:
                raise errors.DataLossError(f"{name}; {error}") from None

    def _paths(self) -> Iterator[str]:
        if isinstance(self.names, Stage):
            rows = self.names.elements()
            return (item.decode() for (leaf,) in rows for item in np.asarray(leaf).reshape(-1))
        return (item.decode() for item in self.names._array.reshape(-1))

    def rows(self, file: BinaryIO, name: str) -> Elements:
        """The records of a file, as rows."""
        return ((np.array(record, object),) for record in self.records(file, name))

    def records(self, file: BinaryIO, name: str) -> Iterator[bytes]:
        """The records of a file."""
        raise NotImplementedError


def _names(given: Any) -> Any:
    """File names: a tensor of strings, or the stage of a dataset of such."""
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


def opened(name: str, compression: str) -> BinaryIO:
    """A file, to be read. Raises NotFoundError and the like."""
    try:
        if compression == "GZIP":
            return gzip.open(name, "rb")  # type: ignore[return-value]
        if compression == "ZLIB":
            with open(name, "rb") as file:
                return io.BytesIO(zlib.decompress(file.read()))
        return open(name, "rb")
    except FileNotFoundError:
        raise errors.NotFoundError(f"{name}; No such file or directory") from None
    except PermissionError:
        raise errors.PermissionDeniedError(f"{name}; Permission denied") from None
    except (OSError, zlib.error) as error:
        raise errors.DataLossError(f"{name}; {error}") from None


class _Lines(Files):
    name = "TextLineDatasetV2"

    def records(self, file: BinaryIO, name: str) -> Iterator[bytes]:
        for line in file:
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

    def records(self, file: BinaryIO, name: str) -> Iterator[bytes]:
        content = file.read()
        end = len(content) - self.footer
        if (end - self.header) % self.length or end < self.header:
            raise errors.InvalidArgumentError(
                f"Excluding the header ({self.header} bytes) and footer ({self.footer} bytes), input file "
                f'"{name}" has body length {end - self.header} bytes, which is not an exact multiple of the record '
                f"length ({self.length} bytes)."
            )
        for start in range(self.header, end, self.length):
            yield content[start : start + self.length]


class _TFRecords(Files):
    name = "TFRecordDatasetV2"

    def records(self, file: BinaryIO, name: str) -> Iterator[bytes]:
        while head := file.read(12):
            if len(head) < 12:
                raise errors.DataLossError(f"truncated record in {name}")
            length, checksum = struct.unpack("<QI", head)
            if masked_crc32c(head[:8]) != checksum:
                raise errors.DataLossError(f"corrupted record in {name}")
            content = file.read(length + 4)
            if len(content) < length + 4:
                raise errors.DataLossError(f"truncated record in {name}")
            if struct.pack("<I", masked_crc32c(content[:-4])) != content[-4:]:
                raise errors.DataLossError(f"corrupted record in {name}")
            yield content[:-4]


class TextLineDataset(Dataset):
    """The lines of text files, without their ends.

    Args:
        filenames: a name, several, or a dataset of names.
        compression_type: "" (none), "GZIP" or "ZLIB".
        buffer_size, num_parallel_reads: accepted for compatibility.
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
    """Records of `record_bytes` bytes, behind a header and before a footer that are left out.

    Raises InvalidArgumentError, when it is read, for a file that does not consist of whole records.
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
    """The records of TFRecord files, as strings. Raises DataLossError, at the record, for damaged files."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(_TFRecords(filenames, compression_type))


__all__ = ["FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset"]
