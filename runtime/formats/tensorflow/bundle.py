"""Bundles of tensors, the files of TensorFlow's checkpoints (TensorBundle).

    ckpt-1.index                    a table of the tensors' dtypes, shapes, places and checksums
    ckpt-1.data-00000-of-00002      their elements, little-endian, one after the other

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     write_bundle(f"{folder}/b", {"w": np.ones([2, 3], np.float32), "s": np.array([b"a", b"bc"], object)})
...     reader = BundleReader(f"{folder}/b")
...     sorted(reader.entries), reader.read("s").tolist()
(['s', 'w'], [b'a', b'bc'])
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ... import dtypes
from ...errors import NotFoundError, UnimplementedError
from ...storage import regular_files
from ...storage.atomic_files import drafted
from ...storage.corruption import element_count, read_exactly, reading
from ...storage.crc32c import crc32c, masked
from ...storage.tensor_protos import NUMBERS
from .bundle_entries import BundleEntry, BundleHeader
from .slices import index_of, sizes, slice_key
from .string_tensor import decode_strings, encode_strings
from .table import read_table, write_table

Array = Any
_BY_NUMBER = {number: name for name, number in NUMBERS.items()}


def index_path(prefix: str) -> Path:
    """Return the path of the index of the bundle with this prefix."""
    return Path(f"{prefix}.index")


def data_path(prefix: str, shard: int = 0, shards: int = 1) -> Path:
    """Return the path of a data file.

    >>> data_path("ckpt-1").name
    'ckpt-1.data-00000-of-00001'
    """
    return Path(f"{prefix}.data-{shard:05d}-of-{shards:05d}")


def write_bundle(prefix: str, tensors: Mapping[str, Array], shards: int = 1) -> None:
    """Write arrays by name as a bundle of one data file; strings are bytes in an array of objects.

    Files of the same names are replaced one after the other, once both are written: a full disk changes none. With
    another number of `shards`, of which only the first has tensors, the data have another name.
    """
    header = BundleHeader(shards)
    entries = {b"": header.serialized()}
    offset = 0
    data = data_path(prefix, 0, shards)
    with drafted(data) as draft:
        for name, array in sorted(tensors.items(), key=lambda item: item[0].encode()):
            dtype, shape = dtypes.of_array(array), tuple(array.shape)
            if dtype is dtypes.string:
                content, crc = encode_strings(array.ravel().tolist())
            else:
                content = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False).tobytes()
                crc = crc32c(content)
            draft.stream.write(content)
            entry = BundleEntry(NUMBERS[dtype.name], shape, 0, offset, len(content), masked(crc))
            entries[name.encode()] = entry.serialized()
            offset += len(content)
        draft.complete()
        with drafted(index_path(prefix)) as index:
            index.stream.write(write_table(entries))
            index.complete()
            draft.publish(data)
            index.publish(index_path(prefix))


class BundleReader:
    """The tensors of a bundle; each is read from its file, and verified, when it is needed.

    Args:
        prefix: the path of the files without `.index` and `.data-…`.
        folder: a folder around the files that must not lead outside, such as that of a saved model. By default it is
            that of the files, and the index may be a link, as the program names it.

    Attributes: `entries`, the entries by name, without those of the parts of tensors in slices; `data`, the path of the
    first data file.

    Raises NotFoundError when there is no such file, DataLossError when it is damaged.
    """

    def __init__(self, prefix: str | os.PathLike[str], folder: Path | None = None) -> None:
        self.prefix = os.fspath(prefix)
        self.index = index_path(self.prefix)
        self._folder = self.index.parent if folder is None else folder
        with reading(self.index):
            table = read_table(self._index_content(is_own=folder is None))
            self._header = BundleHeader.parse(table.pop(b""))
            found = {key: BundleEntry.parse(message) for key, message in table.items()}
            self.data = data_path(self.prefix, 0, self._header.shards)
            self._check_places(found.values())
            self._parts = {key: entry for key, entry in found.items() if key.startswith(b"\0")}
            self.entries = {key.decode(): entry for key, entry in found.items() if key not in self._parts}

    def _check_places(self, entries: Iterable[BundleEntry]) -> None:
        """Raise ValueError if tensors share bytes, whose copies could exceed the size of the file by far."""
        ends: dict[int, int] = {}
        for entry in sorted(entries, key=lambda entry: (entry.shard, entry.offset, entry.size)):
            if entry.shard >= self._header.shards:
                raise ValueError(f"a tensor is in the data file {entry.shard} of {self._header.shards}")
            if entry.size and entry.offset < ends.get(entry.shard, 0):
                raise ValueError(f"two tensors share the bytes from {entry.offset}")
            ends[entry.shard] = entry.offset + entry.size

    def _index_content(self, is_own: bool) -> bytes:
        if is_own:
            return regular_files.read(self.index)
        with self._open(self.index) as stream:
            return stream.read()

    def _open(self, path: Path) -> IO[bytes]:
        return regular_files.open_inside(self._folder, path.relative_to(self._folder).as_posix())

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def dtype(self, name: str) -> dtypes.DType:
        """Return the dtype of a tensor, also of one that cannot be read (see `read`)."""
        with reading(self.index):
            return dtypes.as_dtype(self.entries[name].dtype)

    def read(self, name: str) -> Array:
        """Return a tensor as an array; strings are bytes in an array of objects.

        Raises NotFoundError for a name that the bundle lacks or a missing data file, DataLossError for damaged
        content, UnimplementedError for a dtype without tensors here.
        """
        if name not in self.entries:
            raise NotFoundError(f"there is no tensor {name!r} in {self.prefix!r}")
        entry = self.entries[name]
        self._check_dtype(name, entry)
        return self._joined(name, entry) if entry.slices else self._content(entry)

    def _check_dtype(self, name: str, entry: BundleEntry) -> None:
        if entry.dtype not in _BY_NUMBER:
            with reading(self.index):
                kind = dtypes.as_dtype(entry.dtype).name
            raise UnimplementedError(
                f"{name!r} of {self.prefix!r} is a tensor of {kind}, which agc cannot hold"
            )

    def _content(self, entry: BundleEntry) -> Array:
        """Return the elements of one entry."""
        dtype = dtypes.as_dtype(_BY_NUMBER[entry.dtype])
        path = data_path(self.prefix, entry.shard, self._header.shards)
        count = element_count(entry.shape)
        with reading(path):
            if dtype is not dtypes.string and count * dtype.size != entry.size:
                raise ValueError(f"{entry.size} bytes for {dtype.name}{list(entry.shape)}")
            with self._open(path) as stream:
                if entry.offset + entry.size > os.fstat(stream.fileno()).st_size:
                    raise ValueError(f"it ends before the byte {entry.offset + entry.size}")
                stream.seek(entry.offset)
                content = read_exactly(stream, entry.size, path)
            if dtype is dtypes.string:
                array, crc = decode_strings(content, count)
            else:
                if dtype.is_bool and content.translate(None, b"\0\1"):
                    raise ValueError("a truth value is a byte that is neither 0 nor 1")
                order = ">" if self._header.is_big_endian else "<"
                array = np.frombuffer(content, dtype.numpy_dtype.newbyteorder(order)).astype(
                    dtype.numpy_dtype
                )
                crc = crc32c(content)
            if masked(crc) != entry.crc:
                raise ValueError(f"the checksum of the bytes from {entry.offset} does not match")
            return array.reshape(entry.shape)

    def _joined(self, name: str, entry: BundleEntry) -> Array:
        """Return a tensor whose parts are stored one by one."""
        with reading(self.index):
            parts = []
            for extents in entry.slices:
                part, index = self._parts[slice_key(name.encode(), extents)], index_of(extents, entry.shape)
                if part.dtype != entry.dtype or part.shape != sizes(index) or part.slices:
                    raise ValueError(f"a part of {name!r} has another dtype or shape than its slice")
                parts.append((index, self._content(part)))
            if sum(array.size for _, array in parts) != element_count(entry.shape):
                raise ValueError(f"the parts of {name!r} do not fill its shape {list(entry.shape)}")
            result = np.empty(entry.shape, dtypes.as_dtype(_BY_NUMBER[entry.dtype]).numpy_dtype)
            is_set = np.zeros(entry.shape, bool)
            for index, array in parts:
                result[index], is_set[index] = array, True
            if not is_set.all():
                raise ValueError(f"the parts of {name!r} overlap")
            return result
