"""The operation that parses records of `tf.train.Example`; `tf.io.parse_example` is made of it.

records     x: 1 2, v: 7        values of x: [[1, 2], [3, 4]]       a dense column
            x: 3 4              values of v: [7], lengths: [1, 0]   a column of values
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Texts
from ..framework.op import Input, Name, Tensors, op
from ..framework.op_families import STRINGS, require_dtype
from .record_reader import Column, checked_values, column_of, entries, joined, parts

Array = Any

KINDS = frozenset({"dense", "default", "padded", "values"})


@op(name="parse_example")
def parse_examples(
    serialized: Input, defaults: Tensors, columns: Texts, name: Name = None
) -> tuple[TensorType, ...]:
    """Return the columns of records: one tensor for each dense or padded column; values and lengths for the others.

    Args:
        serialized: a scalar or a vector of strings, records of `tf.train.Example`.
        defaults: the values of missing features, for each `default` column, and the padding of each `padded` one.
        columns: texts such as "dense int64 2x3 key", see `Column`.

    Raises InvalidArgumentError for invalid records, and for features of other dtypes and sizes.

    >>> record = b"\\n\\x0c\\n\\n\\n\\x01x\\x12\\x05\\x1a\\x03\\n\\x01\\x03"
    >>> [column.numpy().tolist() for column in parse_examples([record], [], ["dense int64 1 x", "values int64  x"])]
    [[[3]], [3], [1]]
    """
    require_dtype(serialized, STRINGS, "parse_example")
    if serialized.shape is not None and len(serialized.shape) > 1:
        raise ValueError(f"serialized must be a scalar or a vector, not of shape {serialized.shape}")
    check_defaults([column_of(text, KINDS) for text in columns], defaults)
    return tuple(
        result for text in columns for result in column_types(column_of(text, KINDS), serialized.shape)
    )


def check_defaults(columns: Sequence[Column], defaults: Sequence[Any]) -> None:
    """Raise ValueError if the defaults are not those of the columns."""
    wanted = [column for column in columns if column.kind in ("default", "padded")]
    if len(wanted) != len(defaults):
        raise ValueError(f"{len(wanted)} columns have a default, but there are {len(defaults)}")
    for column, default in zip(wanted, defaults, strict=True):
        shape = column.shape if column.kind == "default" else ()
        if default.dtype is not column.dtype or default.shape not in (None, shape):
            raise ValueError(
                f"the default of {column.key!r} must be {column.dtype.name} of shape {shape}, not "
                f"{default.dtype.name} of shape {default.shape}"
            )


def column_types(column: Column, batch: Any) -> tuple[TensorType, ...]:
    """Return the types of the results of a column."""
    if column.kind == "values":
        return TensorType(column.dtype, (None,)), TensorType(dtypes.int64, batch)
    inner = (None, *column.shape) if column.kind == "padded" else column.shape
    return (TensorType(column.dtype, None if batch is None else (*batch, *inner)),)


@parse_examples.kernel
def _(serialized: Array, defaults: list[Array], columns: tuple[str, ...]) -> list[Array]:
    items = np.asarray(serialized, object)
    records = parsed_records(items, lambda record: entries(parts(record)[0]))
    return read_columns(records, columns, defaults, items.shape)


def parsed_records(items: Array, read: Callable[[bytes], Any]) -> list[Any]:
    """Return what `read` returns for each string; InvalidArgumentError for a string that is no record."""
    if items.ndim > 1:
        raise errors.InvalidArgumentError(
            f"serialized must be a scalar or a vector, not of shape {items.shape}"
        )
    found = []
    for index, record in enumerate(items.ravel().tolist()):
        try:
            found.append(read(record))
        except ValueError as error:
            raise errors.InvalidArgumentError(
                f"Could not parse example input {index}, value: {record[:64]!r} ({error})"
            ) from None
    return found


def read_columns(
    records: list[dict[bytes, bytes]], columns: Sequence[str], defaults: list[Array], batch: tuple[int, ...]
) -> list[Array]:
    """Return the results of columns of parsed records, whose number is that of the elements of a batch."""
    results: list[Array] = []
    given = iter(defaults)
    for text in columns:
        column = column_of(text, KINDS)
        key = column.key.encode()
        found = [_values(record.get(key, b""), column, index) for index, record in enumerate(records)]
        if column.kind == "values":
            arrays = [array for array in found if array is not None]
            lengths = np.array([0 if array is None else len(array) for array in found], np.int64)
            results += [joined(arrays, column.dtype), lengths.reshape(batch)]
        elif column.kind == "padded":
            results.append(_padded(found, column, next(given), batch))
        else:
            default = np.ravel(next(given)) if column.kind == "default" else None
            results.append(_dense(found, column, default, batch))
    return results


def _values(feature: bytes, column: Column, index: int) -> Array | None:
    try:
        return checked_values(feature, column, index)
    except ValueError as error:
        if isinstance(error, errors.OpError):
            raise
        raise errors.InvalidArgumentError(
            f"Could not parse example input {index}, key: {column.key} ({error})"
        ) from None


def _dense(found: list[Any], column: Column, default: Array | None, batch: tuple[int, ...]) -> Array:
    size = math.prod(column.shape)
    for index, array in enumerate(found):
        if array is None:
            if default is None:
                raise errors.InvalidArgumentError(
                    f"Feature: {column.key} (data type: {column.dtype.name}) is required but could not be found."
                )
            found[index] = default
        elif len(array) != size:
            raise errors.InvalidArgumentError(
                f"Key: {column.key}, Index: {index}.  Number of {column.dtype.name} values != expected.  "
                f"Values size: {len(array)} but output shape: {list(column.shape)}"
            )
    return joined(found, column.dtype).reshape((*batch, *column.shape))


def _padded(found: list[Any], column: Column, default: Array, batch: tuple[int, ...]) -> Array:
    size = math.prod(column.shape)
    for index, array in enumerate(found):
        if array is not None and (len(array) % size if size else len(array)):
            raise errors.InvalidArgumentError(
                f"Key: {column.key}, Index: {index}.  Number of {column.dtype.name} values is not a multiple of "
                f"stride length. Saw {len(array)} values but output shape is: {list(column.shape)}"
            )
    longest = max((len(array) for array in found if array is not None), default=0)
    result = np.full((len(found), longest), np.asarray(default).item(), column.dtype.numpy_dtype)
    for row, array in zip(result, found, strict=True):
        if array is not None:
            row[: len(array)] = array
    return result.reshape((*batch, longest // size if size else 0, *column.shape))
