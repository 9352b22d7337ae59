"""Operations that split each string of a vector into parts; the number of parts varies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...ir.value_types import TensorType
from ...kernels.strings.packed import lengths, packed
from ..framework.attribute_parsers import Axes, Texts
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from .map_bytes import filled

Array = Any


def _parts(input: Any, name: str) -> tuple[TensorType, TensorType]:
    """Return the types of all parts, concatenated, and of the number of parts of each string."""
    require_dtype(input, STRINGS, name)
    if input.shape is not None and len(input.shape) != 1:
        raise ValueError(f"{name} takes a vector, not a tensor of shape {input.shape}")
    count = None if input.shape is None else input.shape[0]
    return TensorType(dtypes.string, (None,)), TensorType(dtypes.int64, (count,))


def _flat(rows: Sequence[Sequence[bytes]]) -> tuple[Array, Array]:
    parts = [part for row in rows for part in row]
    return filled(parts, (len(parts),)), np.array([len(row) for row in rows], np.int64)


@op
def string_split(
    input: Input, sep: str | None = None, maxsplit: int = -1, name: Name = None
) -> tuple[TensorType, TensorType]:
    """Split each string at `sep`, or at whitespace if that is None, at most `maxsplit` times.

    >>> parts, counts = string_split(["a b", "c"])
    >>> parts.numpy().tolist(), counts.numpy().tolist()
    ([b'a', b'b', b'c'], [2, 1])
    """
    return _parts(input, "string_split")


@string_split.kernel
def _(input: Array, sep: str | None, maxsplit: int) -> tuple[Array, Array]:
    items, between = input.tolist(), sep.encode() if sep else None
    if maxsplit == 0:
        return _flat([[item] for item in items])
    if maxsplit > 0 or (between is not None and _may_overlap(between)):
        rows = [item.split(between, max(maxsplit, -1)) for item in items]
        # TensorFlow's rest after the last split at whitespace is a part, even if it is empty.
        return _flat([[*row, b""] if between is None and len(row) == maxsplit else row for row in rows])
    whole = (between or b" ").join(items)
    parts = whole.split(between) if items else []
    counts = (
        _word_counts(whole, items)
        if between is None
        else np.array([item.count(between) + 1 for item in items])
    )
    return filled(parts, (len(parts),)), counts.astype(np.int64)


def _may_overlap(separator: bytes) -> bool:
    """Return whether two matches can overlap, so that a text of joined strings may be split elsewhere."""
    return any(separator.endswith(separator[:size]) for size in range(1, len(separator)))


_IS_SPACE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
"""Whether `bytes.split` splits at a byte."""


def _word_counts(whole: bytes, items: list[bytes]) -> Array:
    """Return the number of words of each string; `whole` joins them by spaces."""
    is_space = _IS_SPACE[np.frombuffer(b" " + whole, np.uint8)]
    begins = np.flatnonzero(is_space[:-1] & ~is_space[1:])
    ends = np.cumsum(np.fromiter(map(len, items), np.int64, len(items)) + 1)
    return np.diff(np.searchsorted(begins, ends), prepend=0)


@op
def string_bytes(input: Input, name: Name = None) -> tuple[TensorType, TensorType]:
    """Split each string into its bytes.

    >>> parts, counts = string_bytes(["ab", ""])
    >>> parts.numpy().tolist(), counts.numpy().tolist()
    ([b'a', b'b'], [2, 0])
    """
    return _parts(input, "string_bytes")


@string_bytes.kernel
def _(input: Array) -> tuple[Array, Array]:
    return _SINGLE[packed(input)], lengths(input)


_SINGLE = np.array([bytes([code]) for code in range(256)], object)


@op
def string_ngrams(
    data: Input,
    row_splits: Input,
    widths: Axes,
    separator: str,
    padding: Texts,
    padding_width: int,
    preserve_short_sequences: bool,
    name: Name = None,
) -> tuple[TensorType, TensorType]:
    """Join adjacent strings of each row to n-grams; return them and their row splits.

    `padding` holds the strings before and after each row. They are repeated at most `padding_width` times; if
    that is negative, as often as the widest n-grams allow.

    >>> runs, splits = string_ngrams(["a", "b", "c"], [0, 3], (2,), " ", ("", ""), 0, False)
    >>> runs.numpy().tolist(), splits.numpy().tolist()
    ([b'a b', b'b c'], [0, 2])
    """
    require_dtype(data, STRINGS, "string_ngrams")
    require_dtype(row_splits, frozenset({dtypes.int32, dtypes.int64}), "string_ngrams")
    for operand in (data, row_splits):
        if operand.shape is not None and len(operand.shape) != 1:
            raise ValueError(f"string_ngrams takes vectors, not a tensor of shape {operand.shape}")
    return TensorType(dtypes.string, (None,)), row_splits.spec


@string_ngrams.kernel
def _(
    data: Array,
    row_splits: Array,
    widths: tuple[int, ...],
    separator: str,
    padding: tuple[str, ...],
    padding_width: int,
    preserve_short_sequences: bool,
) -> tuple[Array, Array]:
    items, splits = data.tolist(), row_splits.tolist()
    left, right, between = padding[0].encode(), padding[1].encode(), separator.encode()
    rows: list[list[bytes]] = []
    for start, stop in itertools.pairwise(splits):
        row = items[start:stop]
        runs: list[bytes] = []
        for width in widths:
            pad = width - 1 if padding_width < 0 else min(padding_width, width - 1)
            padded = [left] * pad + row + [right] * pad
            runs += [between.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if preserve_short_sequences and row and not runs:
            pad = max(padding_width, 0)
            runs = [between.join([left] * pad + row + [right] * pad)]
        rows.append(runs)
    ends = np.cumsum([0, *map(len, rows)]).astype(row_splits.dtype)
    return _flat(rows)[0], ends
