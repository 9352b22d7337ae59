"""`tf.strings.split`, `bytes_split` and `ngrams`: strings split, and joined with their neighbors.

>>> split(["a b", "c"])
<tf.RaggedTensor [[b'a', b'b'], [b'c']]>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ops.arrays.concat_split import concat
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.math.arithmetic import multiply
from ..ops.reduce.reductions import reduce_prod
from ..ops.strings.split import string_bytes, string_ngrams, string_split
from .string_results import packed_rows, rows_of
from .tensor import RaggedTensor


@export("strings.split")
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Split each string at `sep`.

    Args:
        input: strings of a known rank, as a tensor or RaggedTensor.
        sep: None or "" for runs of whitespace; whitespace at both ends is ignored.
        maxsplit: the maximum number of splits of a string; a negative one is no limit.

    Returns a vector for a scalar, a RaggedTensor with one more axis for others.

    >>> split("a,b,,c", sep=",").numpy().tolist()
    [b'a', b'b', b'', b'c']
    """
    texts = rows_of(input)
    return packed_rows(texts, *string_split(texts.flat, sep, maxsplit))


@export("strings.bytes_split")
def bytes_split(input: Any, name: str | None = None) -> Any:
    """Return the bytes of each string, as strings of one byte; otherwise like `split`.

    >>> bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    texts = rows_of(input)
    return packed_rows(texts, *string_bytes(texts.flat))


@export("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Join runs of neighboring strings along the last axis.

    Args:
        data: strings, as a tensor or RaggedTensor of a rank over 0; the result has the same kind.
        ngram_width: the length of the runs, or several lengths: the runs of the first length come first.
        pad_values: padding before and after each row (a string, or a pair of strings), None for no padding.
        padding_width: maximum number of paddings at each end; by default one less than the run length.
        preserve_short_sequences: whether a row that is too short for any run gives one run by itself.

    Raises ValueError for a scalar, a width below 1, and a padding width without padding.

    >>> ngrams(["a", "b", "c"], [1, 2]).numpy().tolist()
    [b'a', b'b', b'c', b'a b', b'b c']
    """
    widths = (ngram_width,) if isinstance(ngram_width, int) else tuple(ngram_width)
    for width in widths:
        if width < 1:
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    padding, times = _padding(pad_values, padding_width)
    if isinstance(data, RaggedTensor):
        return _of_ragged(data, widths, separator, padding, times, preserve_short_sequences)
    tensor = convert_to_tensor(data)
    if tensor.shape.rank in (0, None):
        raise ValueError("Data must have rank>0")
    lengths = shape_of(tensor)
    outer = lengths[:-1]
    splits = multiply(counted(reduce_prod(outer) + 1), lengths[-1])
    runs, _ = string_ngrams(
        reshape(tensor, [-1]), splits, widths, separator, padding, times, preserve_short_sequences
    )
    return reshape(runs, concat([outer, [-1]], 0))


def _padding(values: Any, width: int | None) -> tuple[tuple[str, str], int]:
    """Return the padding at both ends and its maximum count; -1 for as many as the width allows."""
    if values is None:
        if width is not None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        return ("", ""), 0
    if width is not None and width < 1:
        raise ValueError("padding_width must be greater than 0.")
    left, right = (values, values) if isinstance(values, str) else values
    return (left, right), -1 if width is None else width


def _of_ragged(
    data: Any, widths: Sequence[int], separator: str, padding: tuple[str, str], times: int, preserve: bool
) -> Any:
    if isinstance(data.values, RaggedTensor):
        return data.with_values(_of_ragged(data.values, widths, separator, padding, times, preserve))
    runs, splits = string_ngrams(data.values, data.row_splits, widths, separator, padding, times, preserve)
    return RaggedTensor.from_row_splits(runs, splits, validate=False)
