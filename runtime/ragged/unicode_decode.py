"""`tf.strings.unicode_*`: strings as the code points of their characters, or as characters.

The result for several strings is a RaggedTensor, since each has its own number of characters.

>>> unicode_decode("aé", "UTF-8").numpy().tolist()
[97, 233]
"""

from __future__ import annotations

from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.shape_ops import size
from ..ops.reduce.reductions import reduce_prod
from ..ops.strings.unicode_ops import unicode_code_points, unicode_encode_rows
from .string_results import packed_rows, rows_of
from .tensor import RaggedTensor

ERRORS = "replace"
REPLACEMENT = 65533


@export("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = ERRORS,
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Return the code points of each string, int32; arguments and errors as for `unicode_transcode`.

    The result is a vector of code points for a scalar, a RaggedTensor with one more axis for other tensors.

    >>> import agc.runtime as tf
    >>> tf.strings.unicode_decode(["aé", "b"], "UTF-8").to_list()
    [[97, 233], [98]]
    """
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters)[0]


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = ERRORS,
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return the result of `unicode_decode`, and the byte offsets of the characters, int64.

    >>> codes, offsets = unicode_decode_with_offsets(["aé"], "UTF-8")
    >>> codes.to_list(), offsets.to_list()
    ([[97, 233]], [[0, 1]])
    """
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters)


@export("strings.unicode_split")
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = ERRORS,
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    r"""Return the characters of each string, as strings in its encoding; otherwise like `unicode_decode`.

    >>> unicode_split("aé", "UTF-8").numpy().tolist()
    [b'a', b'\xc3\xa9']
    """
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = ERRORS,
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    r"""Return the result of `unicode_split`, and the byte offsets of the characters, int64.

    >>> characters, offsets = unicode_split_with_offsets(["éa"], "UTF-8")
    >>> characters.to_list(), offsets.to_list()
    ([[b'\xc3\xa9', b'a']], [[0, 2]])
    """
    texts = rows_of(input)
    codes, offsets, counts = unicode_code_points(texts.flat, input_encoding, errors, replacement_char)
    characters = unicode_encode_rows(
        codes, counted(size(codes) + 1), input_encoding, errors, replacement_char
    )
    return packed_rows(texts, characters, counts), packed_rows(texts, offsets, counts)


def _decoded(
    input: Any, encoding: str, errors: str, replacement: int, replaces_controls: bool
) -> tuple[Any, Any]:
    texts = rows_of(input)
    codes, offsets, counts = unicode_code_points(texts.flat, encoding, errors, replacement, replaces_controls)
    return packed_rows(texts, codes, counts), packed_rows(texts, offsets, counts)


@export("strings.unicode_encode")
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = ERRORS,
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    """Encode code points (int32), along the last axis of a tensor or RaggedTensor, as strings.

    Args:
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" invalid code points by `replacement_char`, "ignore" them, or be "strict".

    Raises ValueError for a scalar, InvalidArgumentError for invalid code points when "strict".

    >>> unicode_encode([97, 233], "UTF-8").numpy() == "aé".encode()
    True
    """
    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor) or input.values.shape.rank != 1:
            return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char))
        return unicode_encode_rows(input.values, input.row_splits, output_encoding, errors, replacement_char)
    codes: Tensor = convert_to_tensor(input, dtype_hint="int32")
    if codes.shape.rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    lengths = shape_of(codes)
    splits = counted(reduce_prod(lengths[:-1]) + 1) * lengths[-1]
    texts = unicode_encode_rows(reshape(codes, [-1]), splits, output_encoding, errors, replacement_char)
    return reshape(texts, lengths[:-1])
