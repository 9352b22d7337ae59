"""`cache`, `snapshot`, `save` and `load`: elements cached in memory or in files.

A file holds consecutive rows, in a format of its own:

    "agc rows 1\\n"                              the format
    u32 leaves, for each: u8 dtype name, u8 rank, u64 sizes, u64 bytes, contents
    …
    u32 0xFFFFFFFF                              the end; without it the file is not complete

Numbers are little-endian. Files are written under a temporary name and renamed when they are complete.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from .. import dtypes, errors
from ..core.shapes import compatible
from ..ir.literal_printer import decode, encode
from ..ir.value_types import TensorType
from ..storage.atomic_files import drafts_of, replacing
from ..storage.corruption import read_exactly, reading
from ..storage.locks import remove_leftovers
from ..storage.regular_files import open_inside
from .element_spec import Row, leaf_specs
from .pipeline_stage import UNKNOWN, Elements, PipelineStage
from .reorder_stages import Through

HEAD = b"agc rows 1\n"
_END = 0xFFFFFFFF


class Cached(Through):
    """`cache`: the elements of the first complete iteration, for all later ones.

    An iteration is complete with the last of a known number of elements: a reader that knows the number, such
    as a training loop of so many steps, does not ask for the end.
    """

    name = "CacheDataset"

    def __init__(self, source: PipelineStage, filename: Any) -> None:
        super().__init__(source)
        self.filename = filename
        self.memory: dict[str, list[Row]] = {}

    def renew(self) -> None:
        self.memory = {}

    def elements(self) -> Elements:
        name = self.filename._array.item().decode()
        if name:
            rows_path = f"{name}.rows"
            if os.path.exists(rows_path):
                return read_rows(rows_path, leaf_specs(self.spec))
            return written(self.source.elements(), rows_path, self.source.cardinality())
        if "rows" in self.memory:
            return iter(self.memory["rows"])
        return self._remembered(self.source.elements())

    def _remembered(self, source: Elements) -> Elements:
        rows: list[Row] = []
        count = self.source.cardinality()
        for row in source:
            rows.append(row)
            if len(rows) == count:
                self.memory["rows"] = rows
            yield row
        self.memory["rows"] = rows


class Stored(PipelineStage):
    """`load`: the elements of a file."""

    name = "_LoadDataset"

    def __init__(self, path: str, spec: Any) -> None:
        self.path, self.spec = path, spec

    def elements(self) -> Elements:
        return read_rows(self.path, leaf_specs(self.spec))

    def cardinality(self) -> int:
        return UNKNOWN


def written(rows: Iterator[Row], place: str, count: int = UNKNOWN) -> Elements:
    """Yield the rows, and write them to a file, which appears with the last of `count` rows, or after the end."""
    path = Path(place)
    if not path.parent.is_dir():
        raise errors.NotFoundError(f"{place}; No such file or directory")
    with replacing(path) as file:
        file.write(HEAD)
        last = []
        for number, row in enumerate(rows, 1):
            _write_row(file, row)
            if number == count:
                last = [row]
                break
            yield row
        file.write(struct.pack("<I", _END))
    remove_leftovers(path.parent, drafts_of(path.name))
    yield from last
    yield from rows


def _write_row(file: IO[bytes], row: Row) -> None:
    file.write(struct.pack("<I", len(row)))
    for leaf in row:
        array = np.asarray(leaf)
        dtype = dtypes.of_array(array)
        if dtype is dtypes.variant:
            raise errors.UnimplementedError("datasets in elements cannot be written to a file")
        name, content = dtype.name.encode(), encode(array)
        file.write(struct.pack("<B", len(name)) + name + struct.pack("<B", array.ndim))
        file.write(struct.pack(f"<{array.ndim}QQ", *array.shape, len(content)) + content)


def read_rows(path: str, specs: Sequence[TensorType]) -> Elements:
    """Yield the rows of a file.

    Raises NotFoundError, and DataLossError when the file is damaged, or has other leaves than `specs`.
    """
    file_path = Path(path)
    with open_inside(file_path.parent, file_path.name) as file:
        if file.read(len(HEAD)) != HEAD:
            raise errors.DataLossError(f"{path} is not a file of rows, or has another version")
        while True:
            (count,) = struct.unpack("<I", read_exactly(file, 4, path))
            if count == _END:
                return
            if count != len(specs):
                raise errors.DataLossError(f"{path} is damaged: a row of {count} leaves, not {len(specs)}")
            yield [_read_leaf(file, path, spec) for spec in specs]


def _read_leaf(file: IO[bytes], path: str, spec: TensorType) -> Any:
    (length,) = read_exactly(file, 1, path)
    name = read_exactly(file, length, path).decode("ascii", "replace")
    (rank,) = read_exactly(file, 1, path)
    *shape, size = struct.unpack(f"<{rank}QQ", read_exactly(file, 8 * rank + 8, path))
    if name != spec.dtype.name or not compatible(spec.shape, tuple(shape)):
        raise errors.DataLossError(f"{path} is damaged: a leaf is {name}{shape}, not {spec}")
    content = read_exactly(file, size, path)
    with reading(path):
        return decode(content, spec.dtype, tuple(shape))
