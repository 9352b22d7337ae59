"""Strings: conversion, splitting, joining, hashing, encodings."""

from __future__ import annotations

from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import direct, refuse, writes
from .reductions import axes_of
from .shapes import part, sliced

direct(
    """
    decode_base64=DecodeBase64 decode_compressed=DecodeCompressed encode_base64=EncodeBase64
    fingerprint=Fingerprint(data,method) parse_tensor=ParseTensor regex_full_match=RegexFullMatch
    regex_replace=RegexReplace serialize_tensor=SerializeTensor string_format=StringFormat string_join=StringJoin
    string_length=StringLength string_lower=StringLower string_strip=StringStrip string_to_number=StringToNumber
    string_upper=StringUpper substr=Substr to_hash_bucket=StringToHashBucket
    to_hash_bucket_fast=StringToHashBucketFast to_hash_bucket_strong=StringToHashBucketStrong
    unicode_encode_rows=UnicodeEncode unicode_transcode=UnicodeTranscode unsorted_segment_join=UnsortedSegmentJoin
    """
)

refuse("hash_features ragged_text", "TensorFlow has no such operation")
refuse(
    "parse_example parse_sequence_example ragged_feature_lengths",
    "the columns of records have no form that TensorFlow's operation takes",
)


@writes("as_string")
def _(to: Body, input: NodeResult, **settings: Any) -> Any:
    return to.Identity(input) if input.dtype == "string" else to.AsString(input, **settings)


def _counts(to: Body, coordinates: NodeResult, shape: NodeResult) -> Any:
    """Return the number of elements of each row of a sparse tensor."""
    rows = to.StridedSlice(coordinates, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)
    return to.UnsortedSegmentSum(to.OnesLike(rows), rows, part(to, shape, 0))


@writes("string_split")
def _(to: Body, input: NodeResult, sep: str | None, maxsplit: int) -> Any:
    limit = maxsplit if maxsplit > 0 else -1
    coordinates, values, shape = to.StringSplitV2(input, sep or "", maxsplit=limit)
    return [values, _counts(to, coordinates, shape)]


@writes("string_bytes")
def _(to: Body, input: NodeResult) -> Any:
    coordinates, values, shape = to.StringSplit(input, "", skip_empty=False)
    return [values, _counts(to, coordinates, shape)]


@writes("string_ngrams")
def _(to: Body, data: NodeResult, row_splits: NodeResult, widths: Any, separator: str, padding: Any, padding_width: int,
      preserve_short_sequences: bool) -> Any:  # fmt: skip
    left, right = padding if len(padding) == 2 else ("", "")
    return to.StringNGrams(
        data, row_splits, separator=separator, ngram_widths=list(widths), left_pad=left, right_pad=right,
        pad_width=padding_width, preserve_short_sequences=preserve_short_sequences,
    )  # fmt: skip


@writes("reduce_join")
def _(to: Body, inputs: NodeResult, axis: Any, keepdims: bool, separator: str) -> Any:
    """Join from the last axis to the first if no order is given."""
    axes = axes_of(to, inputs, axis)
    return to.ReduceJoin(inputs, axes, keep_dims=keepdims, separator=separator)


@writes("decode_raw")
def _(to: Body, input_bytes: NodeResult, out_type: Any, little_endian: bool, fixed_length: int | None) -> Any:
    if fixed_length is not None:
        return to.DecodePaddedRaw(input_bytes, fixed_length, out_type=out_type, little_endian=little_endian)
    return to.DecodeRaw(input_bytes, out_type=out_type, little_endian=little_endian)


@writes("decode_csv")
def _(to: Body, records: NodeResult, record_defaults: list[NodeResult], **settings: Any) -> Any:
    settings["select_cols"] = list(settings["select_cols"] or ())
    return to.DecodeCSV(records, record_defaults, **settings)


@writes("serialize_sparse_rows")
def _(to: Body, indices: NodeResult, values: NodeResult, dense_shape: NodeResult) -> Any:
    indices, dense_shape = to.Cast(indices, DstT="int64"), to.Cast(dense_shape, DstT="int64")
    return to.SerializeManySparse(indices, values, dense_shape, out_type="string")


@writes("parse_sparse_rows")
def _(to: Body, serialized_sparse: NodeResult, dtype: Any, rank: int | None) -> Any:
    return to.DeserializeManySparse(serialized_sparse, dtype=dtype)


@writes("unicode_code_points")
def _(to: Body, input: NodeResult, input_encoding: str, errors: str, replacement_char: int,
      replace_control_characters: bool) -> Any:  # fmt: skip
    splits, values, starts = to.UnicodeDecodeWithOffsets(
        to.Reshape(input, [-1]), input_encoding=input_encoding, errors=errors, replacement_char=replacement_char,
        replace_control_characters=replace_control_characters, Tsplits="int64",
    )  # fmt: skip
    return [values, starts, to.Sub(sliced(to, splits, 1, None), sliced(to, splits, None, -1))]
