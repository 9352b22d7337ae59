"""`tf.io.TFRecordWriter`: writes files that `TFRecordDataset` reads."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from typing import Any

from .. import errors
from ..core.export import export
from ..storage.crc32c import masked_crc32c
from ..storage.gfile import calling


@export("io.TFRecordOptions")
class TFRecordOptions:
    """Compression of records: `compression_type` is "", "GZIP" or "ZLIB", `compression_level` 0 to 9.

    >>> TFRecordOptions("GZIP", compression_level=9).compression_type
    'GZIP'
    """

    def __init__(
        self,
        compression_type: str | None = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: int | None = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            raise ValueError(f"Not a valid compression_type: {compression_type!r}")
        self.compression_type = compression_type or ""
        self.compression_level = compression_level


@export("io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a TFRecord file; `with` closes it.

    Args:
        path: of the file, which is overwritten.
        options: a TFRecordOptions, or the name of a compression.

    Raises NotFoundError if the file cannot be created.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/a.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> [record.numpy() for record in tf.data.TFRecordDataset(path)]
    [b'one']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if options is None or isinstance(options, str):
            options = TFRecordOptions(options)
        level = -1 if options.compression_level is None else options.compression_level
        self._compressor = zlib.compressobj(level) if options.compression_type == "ZLIB" else None
        name = os.fspath(path)
        name = name.rstrip("/" if isinstance(name, str) else b"/") or name  # as TensorFlow does
        self._name = name
        try:
            if options.compression_type == "GZIP":
                self._file: Any = gzip.open(name, "wb", 9 if level < 0 else level)  # noqa: SIM115  # see close()
            else:
                self._file = open(name, "wb")  # noqa: SIM115  # see close()
        except OSError as error:
            raise errors.NotFoundError(f"{name}; {error.strerror}") from None

    def write(self, record: Any) -> None:
        """Append a record: bytes, or text as UTF-8."""
        if hasattr(record, "numpy"):
            record = record.numpy()
        content = record.encode() if isinstance(record, str) else bytes(record)
        head = struct.pack("<Q", len(content))
        self._put(head + struct.pack("<I", masked_crc32c(head)))
        self._put(content + struct.pack("<I", masked_crc32c(content)))

    def _put(self, content: bytes) -> None:
        if self._file.closed:
            raise errors.FailedPreconditionError("Writer is closed.")
        packed = content if self._compressor is None else self._compressor.compress(content)
        calling(lambda: self._file.write(packed), self._name)

    def flush(self) -> None:
        """Write buffered data."""
        if self._compressor is not None:
            packed = self._compressor.flush(zlib.Z_SYNC_FLUSH)
            calling(lambda: self._file.write(packed), self._name)
        calling(self._file.flush, self._name)

    def close(self) -> None:
        """Finish the file."""
        if not self._file.closed:
            calling(self._finish, self._name)

    def _finish(self) -> None:
        try:
            if self._compressor is not None:
                self._file.write(self._compressor.flush())
        finally:
            self._file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *problem: Any) -> None:
        self.close()
