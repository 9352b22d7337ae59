"""Named arrays in one file, in the safetensors format (https://huggingface.co/docs/safetensors).

    8 bytes   length of the header, little-endian
    header    {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …} as JSON
    data      the elements in row order, little-endian

The format has neither complex numbers nor strings. Complex numbers are stored with a last axis of two, strings as
length-prefixed bytes; their dtypes and shapes are in the header's `__metadata__`.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .. import dtypes
from ..errors import DataLossError
from ..ir.literal_printer import decode, encode
from . import regular_files
from .atomic_files import replacing
from .corruption import FAULTS, element_count

Array = np.ndarray[Any, Any]

CODES = {
    dtypes.float64: "F64", dtypes.float32: "F32", dtypes.float16: "F16", dtypes.bfloat16: "BF16",
    dtypes.float8_e5m2: "F8_E5M2", dtypes.float8_e4m3fn: "F8_E4M3",
    dtypes.int64: "I64", dtypes.int32: "I32", dtypes.int16: "I16", dtypes.int8: "I8",
    dtypes.uint64: "U64", dtypes.uint32: "U32", dtypes.uint16: "U16", dtypes.uint8: "U8", dtypes.bool_: "BOOL",
}  # fmt: skip
_BY_CODE = {code: dtype for dtype, code in CODES.items()}
_PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


class Hashing:
    """A stream that computes the checksum of the data written to it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def write(self, content: bytes) -> None:
        self._digest.update(content)
        self._stream.write(content)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def write(path: Path, arrays: Mapping[str, Array]) -> str:
    """Write the arrays as the file `path`, and return the file's checksum (SHA-256)."""
    with replacing(path) as stream:
        return write_to(stream, arrays)


def write_to(stream: IO[bytes], arrays: Mapping[str, Array]) -> str:
    """Write the arrays to a stream, and return the checksum of the data."""
    header: dict[str, Any] = {}
    meant: dict[str, str] = {}
    contents = []
    position = 0
    for name, array in arrays.items():
        dtype = dtypes.of_array(array)
        content = encode(array)
        if dtype not in CODES:
            meant[name] = json.dumps([dtype.name, list(array.shape)])
        header[name] = {
            **_stored(dtype, array.shape, len(content)),
            "data_offsets": [position, position + len(content)],
        }
        position += len(content)
        contents.append(content)
    text = json.dumps({"__metadata__": meant, **header} if meant else header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # so that the data are aligned
    hashing = Hashing(stream)
    hashing.write(struct.pack("<Q", len(text)))
    hashing.write(text)
    for content in contents:
        hashing.write(content)
    return hashing.sha256


def _stored(dtype: dtypes.DType, shape: tuple[int, ...], size: int) -> dict[str, Any]:
    """Return the header's description of the elements."""
    if dtype is dtypes.string:
        return {"dtype": "U8", "shape": [size]}
    if dtype in _PARTS:
        return {"dtype": CODES[_PARTS[dtype]], "shape": [*shape, 2]}
    return {"dtype": CODES[dtype], "shape": list(shape)}


def read(path: Path, sha256: str | None = None) -> dict[str, Array]:
    """Return all arrays of a safetensors file.

    Raises NotFoundError when there is no file, DataLossError when it is damaged or its checksum is not `sha256`.
    """
    return arrays_of(regular_files.read(path), path, sha256)


def arrays_of(content: bytes, path: Path, sha256: str | None) -> dict[str, Array]:
    """Return all arrays of the content of the file `path`."""
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise DataLossError(f"{path} is damaged: its checksum does not match its content")
    try:
        return _parsed(content)
    except FAULTS as error:
        raise DataLossError(f"{path} is damaged, or not a safetensors file: {error}") from None


def _parsed(content: bytes) -> dict[str, Array]:
    (length,) = struct.unpack_from("<Q", content)
    if length > len(content) - 8:
        raise ValueError(f"a header of {length} bytes in a file of {len(content)}")
    entries, meant = _header(content[8 : 8 + length])
    data = memoryview(content)[8 + length :]
    return {name: _array(entry, data, meant.get(name)) for name, entry in entries.items()}


def _header(text: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entries by name, and the dtypes that the format lacks."""
    header = json.loads(text)
    meant = header.pop("__metadata__", {})
    last = 0
    for start, end in sorted(entry["data_offsets"] for entry in header.values()):
        if start < last:  # overlapping ranges could expand to a much larger total
            raise ValueError(f"two arrays share the bytes from {start}")
        last = end
    return header, meant


class StoredArrays(Mapping[str, Array]):
    """The arrays of a safetensors file by name; each is read from the file when it is needed.

    Raises NotFoundError when there is no file, DataLossError when it is damaged.

    >>> import contextlib, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.safetensors"
    >>> _ = write(path, {"w": np.ones([2], np.float32)})
    >>> with contextlib.closing(StoredArrays(path)) as arrays:
    ...     arrays["w"].tolist()
    [1.0, 1.0]
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = regular_files.open_inside(path.parent, path.name)
        try:
            (length,) = struct.unpack("<Q", self._stream.read(8))
            if length > os.fstat(self._stream.fileno()).st_size - 8:
                raise ValueError(f"a header of {length} bytes is longer than the file")
            self._start = 8 + length
            self._entries, self._meant = _header(self._stream.read(length))
        except FAULTS as error:
            self._stream.close()
            raise DataLossError(f"{path} is damaged, or not a safetensors file: {error}") from None

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __getitem__(self, name: str) -> Array:
        entry = self._entries[name]
        try:
            start, end = entry["data_offsets"]
            size = os.fstat(self._stream.fileno()).st_size - self._start
            if type(start) is not int or type(end) is not int or not 0 <= start <= end <= size:
                raise ValueError(f"data from {start} to {end} of {size} bytes")
            self._stream.seek(self._start + start)
            content = memoryview(self._stream.read(end - start))
            return _array({**entry, "data_offsets": [0, end - start]}, content, self._meant.get(name))
        except FAULTS as error:
            raise DataLossError(f"{name!r} of {self._path} is damaged: {error}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _array(entry: Mapping[str, Any], data: memoryview, meant: str | None) -> Array:
    start, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    stored = _BY_CODE[entry["dtype"]]
    dtype = stored
    if meant is not None:
        name, dims = json.loads(meant)
        dtype, shape = dtypes.as_dtype(name), tuple(dims)
        if not (dtype is dtypes.string and stored is dtypes.uint8) and _PARTS.get(dtype) is not stored:
            raise ValueError(f"{name} is not stored as {entry['dtype']}")
    count = element_count(shape)
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= len(data):
        raise ValueError(f"data from {start} to {end} of {len(data)} bytes for the shape {shape}")
    if dtype is not dtypes.string and count * dtype.size != end - start:
        raise ValueError(f"{end - start} bytes for {dtype.name}{list(shape)}")
    return decode(bytes(data[start:end]), dtype, shape)
