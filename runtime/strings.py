"""The namespace `tf.strings`.

>>> format("{} of {}", [1, 2]).numpy()
b'1 of 2'
"""

from __future__ import annotations

from typing import Any

from .core.missing_names import explain as _explain
from .core.tensor import Tensor
from .ops.strings.hash_buckets import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from .ops.strings.join_format import reduce_join, string_format, unsorted_segment_join
from .ops.strings.regex import regex_full_match, regex_replace
from .ops.strings.strings import as_string, join, length, lower, strip, substr, upper
from .ops.strings.to_number import to_number
from .ops.strings.unicode_ops import unicode_transcode
from .ragged.split_ngrams import bytes_split, ngrams, split
from .ragged.unicode_decode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
)


def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """Replace the placeholders in the template by the values of `inputs`, formatted as by `tf.print`.

    Args:
        inputs: a tensor, or a list of them, as many as there are placeholders (ValueError for another number).
        summarize: how many elements to show at both ends of each axis; -1 for all.
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return string_format(values, template, placeholder, summarize, name=name)  # type: ignore[no-any-return]


__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip",
    "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number", "unicode_decode",
    "unicode_decode_with_offsets", "unicode_encode", "unicode_split", "unicode_split_with_offsets", "unicode_transcode",
    "unsorted_segment_join", "upper",
]  # fmt: skip

_explain(__name__)
