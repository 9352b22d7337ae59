"""Initializers of static tables: keys and values from tensors, or from the lines of a text file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor
from ..ir.builder import eagerly
from ..storage.gfile import GFile

Array = Any


class TableInitializer:
    """The base class: `initialize(table)` fills a table that was made empty."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> dtypes.DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        return self._value_dtype

    def initialize(self, table: Any) -> None:
        """Fill a table that was made with this initializer."""
        table.fill(*self.rows())

    def rows(self) -> tuple[Array, Array]:
        """Return the keys and their values as arrays."""
        raise NotImplementedError


@export("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializer):
    """Keys and values that are tensors of the same shape. In a traced function they must be constants.

    Args:
        keys, values: values that convert to tensors.
        key_dtype, value_dtype: their dtypes; by default those of the tensors, and int64 for Python's integers.

    Raises ValueError for tensors whose values are not known.

    >>> KeyValueTensorInitializer(["a"], [1]).key_dtype
    tf.string
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        self._keys, self._values = (
            _constant(keys, key_dtype, "keys"),
            _constant(values, value_dtype, "values"),
        )
        super().__init__(self._keys.dtype, self._values.dtype)

    def rows(self) -> tuple[Array, Array]:
        keys, values = self._keys._array, self._values._array
        if not keys.size or not values.size:
            raise errors.InvalidArgumentError("keys and values cannot be empty tensors.")
        if keys.shape != values.shape:
            raise errors.InvalidArgumentError(
                f"Expected shape {list(keys.shape)} for value, got {list(values.shape)}"
            )
        return keys.reshape(-1), values.reshape(-1)


def _constant(value: Any, dtype: Any, what: str) -> EagerTensor:
    with eagerly():
        tensor = convert_to_tensor(value, dtype)
    if not isinstance(tensor, EagerTensor):
        raise ValueError(
            f"The {what} of a static table are computed when the graph runs. Make the table outside of tf.function, or "
            "use tf.lookup.experimental.MutableHashTable, and insert them."
        )
    return tensor


@export("lookup.TextFileIndex")
class TextFileIndex:
    """The parts of a line besides its columns: the whole line, and its number.

    >>> TextFileIndex.WHOLE_LINE, TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@export("lookup.TextFileInitializer")
class TextFileInitializer(TableInitializer):
    """Keys and values from the lines of a text file; the file is read when the table is made.

    Args:
        filename: the path; `tf.saved_model.save` stores the rows with the functions that use the table.
        key_dtype, value_dtype: string, int32, int64, float32 or float64; int64 for line numbers.
        key_index, value_index: a column from 0, `TextFileIndex.WHOLE_LINE` or `TextFileIndex.LINE_NUMBER`.
        vocab_size: the number of lines to read; the file must have as many. Default: all lines.
        delimiter: the character between columns.
        value_index_offset: added to values that are line numbers.

    Raises ValueError for an index that does not fit its dtype. The table raises NotFoundError without the file, and
    InvalidArgumentError for an empty line, a column that a line lacks, or text that is no number.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "vocabulary.txt")
    >>> with open(path, "w") as file:
    ...     print("emerson 10\\nlake 20", file=file)
    >>> from agc.runtime import lookup, string, int64
    >>> reader = TextFileInitializer(path, string, 0, int64, 1, delimiter=" ")
    >>> lookup.StaticHashTable(reader, -1).lookup(["lake", "palmer"]).numpy().tolist()
    [20, -1]
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._filename = filename.numpy().decode() if isinstance(filename, EagerTensor) else filename
        if not self._filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        _check_index("key", key_index, self.key_dtype)
        _check_index("value", value_index, self.value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}.")
        self._indices = key_index, value_index
        self._vocab_size, self._delimiter, self._offset = vocab_size, delimiter, value_index_offset

    def rows(self) -> tuple[Array, Array]:
        lines = self._lines()
        key, value = self._indices
        keys = self._column(lines, key, self.key_dtype, 0)
        return keys, self._column(lines, value, self.value_dtype, self._offset)

    def _lines(self) -> list[bytes]:
        with GFile(self._filename, "rb") as file:
            lines: list[bytes] = file.read().replace(b"\r", b"").split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        limit = self._vocab_size
        if limit is not None and len(lines) < limit:
            raise errors.InvalidArgumentError(
                f"Invalid vocab_size in {self._filename}: expected {limit} but got {len(lines)}"
            )
        lines = lines[:limit]
        if b"" in lines:
            raise errors.InvalidArgumentError(
                f"Invalid content in {self._filename}: line {lines.index(b'')} is empty"
            )
        return lines

    def _column(self, lines: list[bytes], index: int, dtype: dtypes.DType, offset: int) -> Array:
        if index == TextFileIndex.LINE_NUMBER:
            return np.arange(offset, offset + len(lines))
        cells = lines if index == TextFileIndex.WHOLE_LINE else self._cells(lines, index)
        if dtype is dtypes.string:
            return np.array([*cells, None], object)[:-1]  # None prevents an array of fixed-size strings
        number: Callable[[bytes], Any] = int if dtype.is_integer else float
        try:
            return np.array([number(line) for line in cells], dtype.numpy_dtype)
        except (ValueError, OverflowError):
            at = next(i for i, cell in enumerate(cells) if not _is_number(cell, number, dtype))
            raise errors.InvalidArgumentError(
                f"Field {cells[at].decode(errors='replace')} in line {at} of {self._filename} is not a valid "
                f"{dtype.name}."
            ) from None

    def _cells(self, lines: list[bytes], index: int) -> list[bytes]:
        rows = [line.split(self._delimiter.encode()) for line in lines]
        for number, row in enumerate(rows):
            if len(row) <= index:
                raise errors.InvalidArgumentError(
                    f"Invalid number of columns in {self._filename} line {number} ({lines[number].decode()}) : "
                    f"expected at least {index + 1} got {len(row)}"
                )
        return [row[index] for row in rows]


def _check_index(what: str, index: int, dtype: dtypes.DType) -> None:
    if index < -2:
        raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
        raise ValueError(f"`{what}_dtype` must be int64 if `{what}_index` is -1, received: {dtype.name}")


def _is_number(cell: bytes, number: Callable[[bytes], Any], dtype: dtypes.DType) -> bool:
    try:
        np.array([number(cell)], dtype.numpy_dtype)
    except (ValueError, OverflowError):
        return False
    return True
