"""NumPy's archives of arrays (`.npz`), each read when it is needed; no pickled objects.

    w.npy, b.npy, in a zip file      ==>      {"w": …, "b": …}

The size that the header of an array declares is compared with that of its file before memory is allocated.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .. import dtypes
from ..errors import DataLossError
from . import regular_files
from .corruption import FAULTS, element_count, read_exactly

Array = Any
_SUFFIX = ".npy"
_MOST_EXPANSION = 1100  # bytes out of one, at most, by the algorithm of zip files
_FAULTS = (*FAULTS, zipfile.BadZipFile, NotImplementedError, RuntimeError, SyntaxError, OSError)


class NpzArrays(Mapping[str, Array]):
    """The arrays of an archive by name.

    Raises NotFoundError when there is no file, DataLossError when it is damaged or holds Python objects.

    >>> import contextlib, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.npz"
    >>> np.savez(path, w=np.ones([2]))
    >>> with contextlib.closing(NpzArrays(path)) as arrays:
    ...     arrays["w"].tolist()
    [1.0, 1.0]
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        stream = regular_files.open_inside(path.parent, path.name)
        try:
            self._archive = zipfile.ZipFile(stream)
            found = self._archive.infolist()
            self._entries = {each.filename.removesuffix(_SUFFIX): each for each in found}
            if len(self._entries) < len(found):
                raise ValueError("two arrays have the same name")
        except _FAULTS as error:
            stream.close()
            raise DataLossError(f"{path} is damaged, or not an .npz file: {error}") from None
        self._stream = stream

    def close(self) -> None:
        """Close the file."""
        self._archive.close()
        self._stream.close()

    def __getitem__(self, name: str) -> Array:
        entry = self._entries[name]
        try:
            return self._read(entry)
        except _FAULTS as error:
            raise DataLossError(f"{name!r} of {self._path} is damaged: {error}") from None

    def _read(self, entry: zipfile.ZipInfo) -> Array:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"NumPy does not write the compression {entry.compress_type}")
        if entry.file_size > _MOST_EXPANSION * entry.compress_size + 1024:
            raise ValueError(f"{entry.compress_size} bytes cannot hold {entry.file_size}")
        with self._archive.open(entry) as stream:
            shape, is_transposed, dtype = _header(stream)
            if dtype.kind not in "US":
                dtypes.as_dtype(dtype)
            if dtype.hasobject or dtype.names is not None or dtype.itemsize == 0:
                raise ValueError(f"its dtype is {dtype}")
            size = element_count(shape) * dtype.itemsize
            if size > entry.file_size:
                raise ValueError(f"{entry.file_size} bytes do not fill {dtype}{list(shape)}")
            content = read_exactly(stream, size, self._path)
        return _elements(content, dtype).reshape(shape, order="F" if is_transposed else "C")

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the first axis is the fastest one, and the dtype."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"the version {version} of its format is not known")
    is_first = version == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    try:
        return read(stream)
    except Exception as error:  # the header is read by Python's parser, which raises more than ValueError
        raise ValueError(f"its header cannot be read: {error}") from None


def _elements(content: bytes, dtype: np.dtype[Any]) -> Array:
    """Return a vector of the elements; strings as bytes."""
    if dtype.kind == "b":  # native code relies on bytes of 0 and 1
        return np.frombuffer(content, np.uint8) != 0
    if dtype.kind not in "US":
        return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))
    if dtype.kind == "U":
        points = np.frombuffer(content, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if points.size and points.max() > sys.maxunicode:
            raise ValueError("a character is not one of Unicode")
    items = np.frombuffer(content, dtype).tolist()
    texts = np.empty(len(items), object)
    texts[:] = [item.encode() if isinstance(item, str) else item for item in items]
    return texts
