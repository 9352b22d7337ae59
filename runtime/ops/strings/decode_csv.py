"""The operation that parses lines of comma-separated values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Name, Tensors, op
from ..framework.op_families import STRINGS, require_dtype
from .map_bytes import filled
from .to_number import number, numbers, shown

Array = Any

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


@op(name="decode_csv", traits=LENIENT)
def csv_columns(
    records: Input,
    record_defaults: Tensors,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Axes = None,
    name: Name = None,
) -> tuple[TensorType, ...]:
    """Parse records of RFC 4180 into a tensor for each column; see `tf.io.decode_csv`.

    >>> numbers, names = csv_columns(["1,a", ",b"], [7, ""])
    >>> numbers.numpy().tolist(), names.numpy().tolist()
    ([1, 7], [b'a', b'b'])
    """
    require_dtype(records, STRINGS, "decode_csv")
    if len(field_delim) != 1:
        raise ValueError(f"field_delim should be only 1 char, not {field_delim!r}")
    if select_cols is not None and (
        len(select_cols) != len(record_defaults) or list(select_cols) != sorted(set(select_cols))
    ):
        raise ValueError("select_cols should be as many increasing numbers as there are record_defaults")
    for field_number, default in enumerate(record_defaults):
        if default.dtype not in _TYPES:
            raise ValueError(
                f"Value for attr 'OUT_TYPE' of {default.dtype.name} is not in the list of allowed values: "
                f"{', '.join(dtype.name for dtype in _TYPES)}"
            )
        if default.shape is not None and len(default.shape) > 1:
            raise ValueError("Each record default should be at most rank 1")
        if default.shape not in (None, (), (0,), (1,), (None,)):
            raise ValueError(
                f"There should only be 1 default per field but field {field_number} has {default.shape[0]}"
            )
    return tuple(TensorType(default.dtype, records.shape) for default in record_defaults)


@csv_columns.kernel
def _(
    records: Array,
    record_defaults: list[Array],
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: tuple[int, ...] | None,
) -> list[Array]:
    items = np.asarray(records, object)
    delimiter, missing = field_delim.encode(), na_value.encode()
    lines: list[bytes] = items.ravel().tolist()
    whole = b"".join(lines)
    use_quotes = use_quote_delim and _has_marks(whole)
    rows: list[list[bytes]] = []
    for row, record in enumerate(lines):
        fields = _fields(record, delimiter, use_quotes)
        if select_cols is not None:
            fields = [fields[column] for column in select_cols if column < len(fields)]
        if len(fields) != len(record_defaults):
            raise errors.InvalidArgumentError(
                f"Expect {len(record_defaults)} fields but have {len(fields)} in record {row}"
            )
        rows.append(fields)
    columns = zip(*rows, strict=True) if rows else [()] * len(record_defaults)
    return [
        _column(column, missing, np.asarray(default), field_number).reshape(items.shape)
        for field_number, (column, default) in enumerate(zip(columns, record_defaults, strict=True))
    ]


def _column(fields: Sequence[bytes], missing: bytes, default: Array, field_number: int) -> Array:
    """Return the values of a column: those of all its texts at once, and the default where they are missing."""
    dtype = dtypes.of_array(default)
    is_full = b"" not in fields and missing not in fields
    try:
        if is_full:
            return _of_texts(fields, dtype)
        if default.size:
            is_given = [field != b"" and field != missing for field in fields]
            return _spread(_of_texts([*itertools.compress(fields, is_given)], dtype), is_given, default)
    except errors.InvalidArgumentError:
        pass  # name the field
    values = (_value(field, missing, default, field_number, row) for row, field in enumerate(fields))
    return filled(values, (len(fields),), default.dtype)


def _of_texts(texts: Sequence[bytes], dtype: Any) -> Array:
    array = filled(texts, (len(texts),))
    return array if dtype is dtypes.string else numbers(array, dtype)


def _spread(values: Array, places: list[bool], default: Array) -> Array:
    """Return a column with these values where `places` is true, and the default elsewhere."""
    column = np.full(len(places), default.ravel()[0], default.dtype)
    column[places] = values
    return column


def _value(field: bytes, missing: bytes, default: Array, field_number: int, row: int) -> Any:
    if not field or field == missing:
        if not default.size:
            raise errors.InvalidArgumentError(
                f"Field {field_number} is required but missing in record {row}!"
            )
        return default.ravel()[0]
    dtype = dtypes.of_array(default)
    if dtype is dtypes.string:
        return field
    try:
        return number(field, dtype)
    except errors.InvalidArgumentError:
        raise errors.InvalidArgumentError(
            f"Field {field_number} in record {row} is not a valid {dtype.name}: {shown(field)}"
        ) from None


def _fields(record: bytes, delimiter: bytes, use_quotes: bool) -> list[bytes]:
    """Return the fields of a record; InvalidArgumentError for quotes that violate RFC 4180."""
    if not record:
        return []
    if not (use_quotes and _has_marks(record)):
        return record.split(delimiter)
    return _of_whole_quotes(record, delimiter) or list(_parsed(record, delimiter, use_quotes))


def _has_marks(text: bytes) -> bool:
    """Return whether a text has a quote or the end of a line."""
    return b'"' in text or b"\n" in text or b"\r" in text


def _of_whole_quotes(record: bytes, delimiter: bytes) -> list[bytes] | None:
    """Return the fields if each pair of quotes is around a whole field; None otherwise.

    >>> _of_whole_quotes(b'1,"a,b",2', b",")  # the quoted fields are split off, and then 1,",2
    [b'1', b'a,b', b'2']
    """
    texts = record.split(b'"')
    outside, quoted = b'"'.join(texts[::2]), texts[1::2]
    fields = outside.split(delimiter)
    if b"\n" in outside or b"\r" in outside or fields.count(b'"') != len(quoted):
        return None
    following = iter(quoted)
    return [next(following) if field == b'"' else field for field in fields]


def _parsed(record: bytes, delimiter: bytes, use_quotes: bool) -> Iterator[bytes]:
    """Yield the fields of a record; InvalidArgumentError for quotes that violate RFC 4180."""
    at = 0
    while True:
        if use_quotes and record[at : at + 1] == b'"':
            field, at = _quoted(record, at + 1, delimiter)
        else:
            end = record.find(delimiter, at)
            end = len(record) if end < 0 else end
            field, at = record[at:end], end
            if use_quotes and any(char in field for char in b'"\r\n'):
                raise errors.InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside")
        yield field
        if at >= len(record):
            return
        at += 1


def _quoted(record: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    """Return the field that a quote before `at` begins, and its end index."""
    parts = []  # joined once: repeated concatenation takes time quadratic in the number of quotes
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise errors.InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
        parts.append(record[at:end])
        following = record[end + 1 : end + 2]
        if following in (b"", delimiter):
            return b'"'.join(parts), end + 1
        if following != b'"':
            raise errors.InvalidArgumentError("Quote inside a string has to be escaped by another quote")
        at = end + 2
