"""Datasets of CSV files: records as tuples, or batches of columns by name."""

from __future__ import annotations

import collections
import itertools
import math
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.tensor_spec import TensorSpec
from ..ops.strings.to_number import number, shown
from .compressed import CompressedStream, opened
from .csv_parsing import records_of
from .dataset import Dataset
from .element_spec import Row
from .file_datasets import Files
from .pipeline_stage import Elements
from .prefetch_threads import AUTOTUNE

_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


class _Records(Files):
    """A stage of the records of CSV files as rows, with a leaf for each selected column."""

    name = "CsvDatasetV2"

    def __init__(
        self,
        names: Any,
        defaults: Sequence[Any],
        compression: Any,
        header: bool,
        delimiter: str,
        quoted: bool,
        na_value: str,
        columns: Sequence[int] | None,
    ) -> None:
        super().__init__(names, compression)
        if columns is not None and any(column < 0 for column in columns):
            raise errors.InvalidArgumentError("select_cols should be non-negative indices")
        self.defaults = [_default(value) for value in defaults]
        self.header, self.delimiter, self.quoted, self.na_value = header, delimiter, quoted, na_value.encode()
        self.columns = columns
        self.spec = tuple(TensorSpec((), dtype) for dtype, _ in self.defaults)

    def rows(self, file: CompressedStream) -> Elements:
        records = records_of(file, self.delimiter, self.quoted)
        for record_number in itertools.count(1):
            try:
                record = next(records, None)
                if record is None:
                    return
                row = None if record_number == 1 and self.header else self._row(record)
            except errors.InvalidArgumentError as error:
                message = f"{error.message} [record {record_number} of {file.name}]"
                raise errors.InvalidArgumentError(message) from None
            if row is not None:
                yield row

    def _row(self, record: list[bytes]) -> Row:
        if self.columns is not None:
            if max(self.columns, default=-1) >= len(record):
                raise errors.InvalidArgumentError(
                    f"Expect at least {max(self.columns) + 1} fields but have {len(record)} in record"
                )
            record = [record[column] for column in self.columns]
        if len(record) != len(self.defaults):
            raise errors.InvalidArgumentError(
                f"Expect {len(self.defaults)} fields but have {len(record)} in record"
            )
        return [self._value(i, field) for i, field in enumerate(record)]

    def _value(self, column: int, field: bytes) -> Any:
        dtype, default = self.defaults[column]
        if field in (b"", self.na_value):
            if default is None:
                raise errors.InvalidArgumentError(f"Field {column} is required but missing in record!")
            return default
        if dtype is dtypes.string:
            return np.array(field, object)
        try:
            value = number(field, dtype)
        except errors.InvalidArgumentError:
            raise errors.InvalidArgumentError(
                f"Field {column} in record is not a valid {dtype.name}: {shown(field)}"
            ) from None
        return dtype.numpy_dtype.type(value if abs(value) <= dtype.max else math.copysign(math.inf, value))


def _default(value: Any) -> tuple[dtypes.DType, Any]:
    """Return the dtype of a column, and the default of a missing field: None for a required field."""
    if isinstance(value, (dtypes.DType, type)):
        dtype, array = dtypes.as_dtype(value), None
    else:
        tensor = convert_to_tensor(value)
        dtype = tensor.dtype
        array = np.asarray(tensor._array).reshape(-1)  # type: ignore[attr-defined]
    if dtype not in _TYPES:
        raise TypeError(f"record_defaults: CSV fields are int32, int64, floats or strings, not {dtype.name}")
    if array is None or not array.size:
        return dtype, None
    return dtype, array[0] if dtype is not dtypes.string else np.array(array[0], object)


class CsvDataset(Dataset):
    r"""A dataset of the records of CSV files: tuples of scalars.

    Args:
        filenames: a name, several, or a dataset of names.
        record_defaults: for each selected column its dtype, if the field is required, or its default.
        compression_type: "" (none), "GZIP" or "ZLIB".
        header: whether the first line of each file is skipped.
        field_delim, use_quote_delim: the separator of fields; whether fields may be quoted.
        na_value: the text of a missing field, besides an empty one.
        select_cols: the sorted indices of the columns to read; or `exclude_cols`: those to skip.

    A field that does not fit raises InvalidArgumentError when its record is read.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_text("1,a\n2,b\n")
    ...     [(int(n), text.numpy()) for n, text in CsvDataset(path, [0, ""])]
    [(1, b'a'), (2, b'b')]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        if select_cols is not None and list(select_cols) != sorted(set(select_cols)):
            raise errors.InvalidArgumentError("select_cols should be strictly increasing indices")
        if exclude_cols is not None:
            if select_cols is not None:
                raise errors.InvalidArgumentError("Either select_cols or exclude_cols should be empty")
            count = len(record_defaults) + len(exclude_cols)
            select_cols = [column for column in range(count) if column not in set(exclude_cols)]
        stage = _Records(
            filenames, record_defaults, compression_type, bool(header), field_delim, use_quote_delim, na_value,
            select_cols,
        )  # fmt: skip
        super().__init__(stage)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    r"""Return batches of the records of CSV files: dicts of columns; with `label_name` pairs of these and the labels.

    Without `column_defaults`, the dtypes of the columns are inferred from the first `num_rows_for_inference`
    records. `select_columns` are names or indices. The files are read `num_epochs` times, infinitely when that is
    None. `encoding` is that of the names in the header line; texts of records stay bytes. `sloppy` has no effect.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_text("n,text\n1,a\n2,b\n")
    ...     batch = next(iter(make_csv_dataset(str(path), 2, shuffle=False, num_epochs=1)))
    >>> batch["n"].numpy().tolist()
    [1, 2]
    """
    files = [os.fsdecode(name.numpy()) for name in Dataset.list_files(file_pattern, shuffle=False)]
    heads = _heads(files[0], compression_type, field_delim, use_quote_delim, num_rows_for_inference)
    all_names = _names(heads, header, column_names, files[0], encoding)
    chosen = _numbers(select_columns, all_names)
    if column_defaults is None:
        _check_widths(heads, len(all_names), files[0])
        column_defaults = _inferred(heads[1:] if header else heads, chosen, na_value.encode())
    if len(column_defaults) != len(chosen):
        raise ValueError(f"{len(column_defaults)} column_defaults do not fit {len(chosen)} columns.")
    names = [all_names[column] for column in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def records(filename: Any) -> Any:
        found: Any = CsvDataset(
            filename, column_defaults, compression_type, None, header, field_delim, use_quote_delim, na_value,
            chosen,
        )  # fmt: skip
        return found.ignore_errors() if ignore_errors else found

    def columns(*batch: Any) -> Any:
        features = collections.OrderedDict(zip(names, batch, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    found: Any = Dataset.from_tensor_slices(files)
    if shuffle:
        found = found.shuffle(len(files), shuffle_seed)
    found = found.interleave(records, cycle_length=num_parallel_reads or 1)
    if shuffle:
        found = found.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        found = found.repeat(num_epochs)
    found = found.batch(batch_size, drop_remainder=num_epochs is None).map(columns)
    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return found.prefetch(ahead)  # type: ignore[no-any-return]


def _names(heads: list[list[bytes]], header: bool, given: Any, file: str, encoding: str) -> list[Any]:
    """Return the names of all columns: those that are given, or those in the header line of `file`."""
    if header and heads[:1] in ([], [[b""]]):
        raise ValueError(f"Failed when reading the header line of {file}. Is it an empty file?")
    if given is None and not header:
        raise ValueError("Cannot infer column names without a header line.")
    try:
        names = [name.decode(encoding) for name in heads[0]] if given is None else list(given)
    except UnicodeDecodeError as error:
        error.reason += f" in the header line of {file}: pass its `encoding`"
        raise
    if len(names) != len(set(names)):
        raise ValueError(f"Cannot have duplicate column names: {names} [{file}]")
    return names


def _heads(name: str, compression: Any, delimiter: str, quoted: bool, count: int | None) -> list[list[bytes]]:
    """Return the first records of a file."""
    try:
        with opened(name, compression or "") as file:
            records = records_of(file, delimiter, quoted)
            return list(itertools.islice(records, None if count is None else count + 1))
    except errors.InvalidArgumentError as error:
        raise errors.InvalidArgumentError(f"{error.message} [{name}]") from None
    except (OSError, EOFError, zlib.error) as error:
        raise errors.DataLossError(f"{name}; {error}") from None


def _check_widths(records: list[list[bytes]], count: int, name: str) -> None:
    """Raise ValueError for a record with more or fewer fields than there are columns."""
    for row, record in enumerate(records, 1):
        found = 0 if record == [b""] and count > 1 else len(record)
        if found != count:
            raise ValueError(
                f"Problem inferring types: CSV row {row} has {found} number of fields. Expected: {count}. [{name}]"
            )


def _numbers(selected: Any, names: list[str]) -> list[int]:
    """Return the indices of the selected columns, in order."""
    if selected is None:
        return list(range(len(names)))
    found = []
    for column in selected:
        if isinstance(column, str) and column not in names:
            raise ValueError(f"Column names `column_names` of CSV files have no {column!r}.")
        found.append(names.index(column) if isinstance(column, str) else int(column))
    if not all(0 <= column < len(names) for column in found):
        raise ValueError(f"The selected columns {found} are not among {len(names)} columns.")
    if len(set(found)) < len(found):
        raise ValueError("The selected columns are not unique.")
    return sorted(found)


def _inferred(records: list[list[bytes]], columns: list[int], na_value: bytes) -> list[Any]:
    """Return a default of the narrowest dtype that holds all fields, column by column."""
    defaults = []
    for column in columns:
        fields = [record[column] for record in records if record[column] not in (b"", na_value)]
        dtype = next(dtype for dtype in _TYPES if all(_HOLDS[dtype](field) for field in fields))
        dtype = dtype if fields else dtypes.string
        defaults.append(np.array([b""], object) if dtype is dtypes.string else np.zeros(1, dtype.numpy_dtype))
    return defaults


def _number(read: Callable[[bytes], Any], low: float, high: float) -> Callable[[bytes], bool]:
    def holds(field: bytes) -> bool:
        try:
            return bool(low <= read(field) <= high)
        except ValueError:
            return False

    return holds


_HOLDS: dict[dtypes.DType, Callable[[bytes], bool]] = {
    dtypes.int32: _number(int, -(2**31), 2**31 - 1),
    dtypes.int64: _number(int, -(2**63), 2**63 - 1),
    dtypes.float32: _number(float, float(dtypes.float32.min), float(dtypes.float32.max)),
    dtypes.float64: _number(float, float(dtypes.float64.min), float(dtypes.float64.max)),
    dtypes.string: lambda field: True,
}
