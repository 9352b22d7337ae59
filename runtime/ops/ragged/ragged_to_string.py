"""The text of a ragged tensor, in TensorFlow's format."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...ir.value_types import TensorType
from ..framework.op import Input, Inputs, Name, op

Array = Any


@op
def ragged_text(row_splits: Inputs, values: Input, summarize: int = 3, name: Name = None) -> TensorType:
    """Format nested rows as text; longer rows show the first and last `summarize` items (-1: all).

    >>> ragged_text([[0, 2, 3]], [1.0, 2.5, 3.0]).numpy()
    b'[[1.000000, 2.500000], [3.000000]]'
    """
    for splits in row_splits:
        if not splits.dtype.is_integer or (splits.shape is not None and len(splits.shape) != 1):
            raise ValueError("row_splits must be vectors of integers")
    if values.shape is not None and not values.shape:
        raise ValueError("the values of rows must not be a scalar")
    return TensorType(dtypes.string, ())


@ragged_text.kernel
def _(row_splits: list[Array], values: Array, summarize: int) -> Array:
    rows: Sequence[Any] = values.tolist()
    for splits in reversed(row_splits):
        ends = splits.tolist()
        rows = [rows[start:end] for start, end in itertools.pairwise(ends)]
    return np.array(_text(rows, summarize, _shown_as(values.dtype)).encode(), object)


def _shown_as(dtype: np.dtype[Any]) -> Callable[[Any], str]:
    """Return the formatter of an element."""
    if dtype.kind == "f":
        return lambda item: f"{item:f}"
    if dtype.kind == "c":
        return lambda item: f"({item.real:f},{item.imag:f})"
    if dtype.kind == "b":
        return lambda item: "true" if item else "false"
    if dtype.kind == "O":
        return lambda item: f"'{item.decode(errors='replace')}'"
    return str


def _text(items: Any, summarize: int, shown: Callable[[Any], str]) -> str:
    if not isinstance(items, list):
        return shown(items)
    if summarize >= 0 and len(items) > 2 * summarize:
        tail = items[len(items) - summarize :]
        texts = [*(_text(item, summarize, shown) for item in items[:summarize]), "..."]
        texts += [_text(item, summarize, shown) for item in tail]
    else:
        texts = [_text(item, summarize, shown) for item in items]
    return f"[{', '.join(texts)}]"
