"""Operations for records of `tf.train.SequenceExample`, and for the partitions of ragged features.

steps a: [1] [2 3]              steps int64  a: not of one size; values int64  a: [1, 2, 3], [1, 2], [2]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...ir.value_types import TensorType
from ...storage.protobuf import fields
from ..framework.attribute_parsers import Texts
from ..framework.op import Input, Name, Tensors, op
from ..framework.op_families import STRINGS, require_dtype
from .parse_examples import KINDS, check_defaults, column_types, parsed_records, read_columns
from .record_reader import Column, checked_values, column_of, entries, joined, parts

Array = Any

_STEPS = frozenset({"steps", "any_steps", "values"})


@op(name="parse_sequence_example")
def parse_sequences(
    serialized: Input, defaults: Tensors, columns: Texts, steps: Texts, name: Name = None
) -> tuple[TensorType, ...]:
    """Return the columns of the context of records, as `parse_examples`, and then of their lists of features.

    A list of `steps` that have one shape is padded with zeros: the result is a tensor and the numbers of steps. Lists
    of `any_steps` may be missing. A list of `values` is all values, the number in each step, and the numbers of steps.

    >>> [result.numpy().tolist() for result in parse_sequences([b""], [], [], ["any_steps int64  a"])]
    [[[]], [0]]
    """
    require_dtype(serialized, STRINGS, "parse_sequence_example")
    batch = serialized.shape
    if batch is not None and len(batch) > 1:
        raise ValueError(f"serialized must be a scalar or a vector, not of shape {batch}")
    context = [column_of(text, KINDS) for text in columns]
    check_defaults(context, defaults)
    results = [result for column in context for result in column_types(column, batch)]
    counts = TensorType(dtypes.int64, batch)
    for text in steps:
        column = column_of(text, _STEPS)
        if column.kind == "values":
            results += [TensorType(column.dtype, (None,)), TensorType(dtypes.int64, (None,)), counts]
        else:
            shape = None if batch is None else (*batch, None, *column.shape)
            results += [TensorType(column.dtype, shape), counts]
    return tuple(results)


@parse_sequences.kernel
def _(
    serialized: Array, defaults: list[Array], columns: tuple[str, ...], steps: tuple[str, ...]
) -> list[Array]:
    items = np.asarray(serialized, object)
    records = parsed_records(items, lambda record: tuple(map(entries, parts(record))))
    results = read_columns([context for context, _ in records], columns, defaults, items.shape)
    for text in steps:
        column = column_of(text, _STEPS)
        lists = [_steps(found.get(column.key.encode()), column, at) for at, (_, found) in enumerate(records)]
        counts = np.array([len(one) for one in lists], np.int64).reshape(items.shape)
        if column.kind == "values":
            values = [np.empty(0, column.dtype.numpy_dtype) if v is None else v for one in lists for v in one]
            lengths = np.array([len(value) for value in values], np.int64)
            results += [joined(values, column.dtype), lengths, counts]
        else:
            results += [_padded(lists, column, items.shape), counts]
    return results


def _steps(content: bytes | None, column: Column, index: int) -> list[Array | None]:
    """Return the values of each step of a list of features."""
    if content is None:
        if column.kind == "steps":
            raise errors.InvalidArgumentError(
                f"Name: <unknown>, Feature list '{column.key}' is required but could not be found.  Did you mean "
                f"to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        return []
    try:
        features = [feature for number, feature in fields(content) if number == 1]
        return [checked_values(feature, column, index) for feature in features]
    except (ValueError, TypeError) as error:
        if isinstance(error, errors.OpError):
            raise
        raise errors.InvalidArgumentError(
            f"Could not parse example input {index}, key: {column.key} ({error})"
        ) from None


def _padded(lists: list[list[Any]], column: Column, batch: tuple[int, ...]) -> Array:
    size, longest = math.prod(column.shape), max(map(len, lists), default=0)
    result = np.zeros((len(lists), longest, size), column.dtype.numpy_dtype)
    if column.dtype is dtypes.string:
        result.fill(b"")
    for rows, steps in zip(result, lists, strict=True):
        for at, step in enumerate(steps):
            if step is None or len(step) != size:
                raise errors.InvalidArgumentError(
                    f"Key: {column.key}, Index: {at}.  Number of {column.dtype.name} values != expected.  "
                    f"values size: {0 if step is None else len(step)} but output shape: {list(column.shape)}"
                )
            rows[at] = step
    return result.reshape((*batch, longest, *column.shape))


@op(name="ragged_feature_lengths")
def partition_lengths(
    values: Input, lengths: Input, counts: Input, kind: str, name: Name = None
) -> tuple[TensorType, TensorType]:
    """Return row lengths of the partitions of ragged features, and the number of rows of each record.

    Args:
        values: int64, the partitions of all records, in the encoding `kind`: RowSplits, RowLengths, RowStarts,
            RowLimits, ValueRowIds.
        lengths: int64, the number of `values` of each record.
        counts: int64, the number of values of each record that its partition divides.

    Raises InvalidArgumentError for a partition that does not have as many values.

    >>> from agc.runtime import constant
    >>> splits, count = constant([0, 2, 3], dtypes.int64), constant([3], dtypes.int64)
    >>> rows, numbers = partition_lengths(splits, count, count, "RowSplits")
    >>> rows.numpy().tolist(), numbers.numpy().tolist()
    ([2, 1], [2])
    """
    for operand in (values, lengths, counts):
        require_dtype(operand, frozenset({dtypes.int64}), "ragged_feature_lengths")
    if kind not in _ROWS:
        raise ValueError(f"{kind!r} is no encoding of a partition")
    return TensorType(dtypes.int64, (None,)), TensorType(dtypes.int64, lengths.shape)


_ROWS: dict[str, Any] = {
    "RowSplits": lambda part, count: np.diff(part),
    "RowLengths": lambda part, count: part,
    "RowStarts": lambda part, count: np.diff(np.append(part, count)) if len(part) else part,
    "RowLimits": lambda part, count: np.diff(np.append(0, part)),
    "ValueRowIds": lambda part, count: np.bincount(part).astype(np.int64),
}
"""Row lengths of a partition of `count` values, by the names of the encodings."""


@partition_lengths.kernel
def _(values: Array, lengths: Array, counts: Array, kind: str) -> tuple[Array, Array]:
    if np.shape(lengths) != np.shape(counts) or np.sum(lengths) != len(values) or np.any(lengths < 0):
        raise errors.InvalidArgumentError(
            f"{len(values)} elements of partitions do not belong to {np.size(counts)} records"
        )
    parts = np.split(values, np.cumsum(np.ravel(lengths))[:-1])
    rows = []
    for part, count in zip(parts, np.ravel(counts).tolist(), strict=False):
        found = _ROWS[kind](part, count) if kind != "ValueRowIds" or _are_row_ids(part, count) else None
        if (
            found is None
            or ((found < 0) | (found > count)).any()
            or found.sum() != count
            or (kind == "RowSplits" and part[:1].any())
        ):
            raise errors.InvalidArgumentError(
                f"the {kind} {part[:10].tolist()} do not form a valid partition of {count} values"
            )
        rows.append(found)
    numbers = np.array([len(row) for row in rows], np.int64).reshape(np.shape(lengths))
    return joined(rows, dtypes.int64), numbers


def _are_row_ids(part: Array, count: int) -> bool:
    if len(part) != count:
        return False
    return not count or bool(part[0] >= 0 and part[-1] <= _MOST_ROWS and (np.diff(part) >= 0).all())


_MOST_ROWS = 1 << 26
"""The maximum number of rows of the value row ids of a record."""
