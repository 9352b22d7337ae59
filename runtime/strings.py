"""The namespace `tf.strings`: operations on strings, with TensorFlow's names."""
# Namespace strings: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.strings.hash_buckets import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from .ops.strings.join_format import format, reduce_join, unsorted_segment_join
from .ops.strings.regex import regex_full_match, regex_replace
from .ops.strings.strings import as_string, join, length, lower, strip, substr, upper
from .ops.strings.to_number import to_number
from .ops.strings.unicode_ops import unicode_transcode
from .ragged.split_ngrams import bytes_split, ngrams, split
from .ragged.unicode_decode import (
    unicode_decode, unicode_decode_with_offsets, unicode_encode, unicode_split, unicode_split_with_offsets,
)

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join",
    "regex_full_match", "regex_replace", "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast",
    "to_hash_bucket_strong", "to_number", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode",
    "unicode_split", "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper",
]

_explain(__name__)
