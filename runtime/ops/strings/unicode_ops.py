"""Unicode operations: decoding to code points, encoding, and transcoding.

A code point is the number of a character, int32. `errors` determines how invalid bytes are handled:
"replace", "ignore" or "strict".
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ... import errors as failures
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels import orders
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from .map_bytes import filled

Array = Any

OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
POLICIES = ("replace", "ignore", "strict")
_UNBOUNDED = {"idna", "punycode", "undefined"}
"""Python encodings that take more than linear time, or that decode nothing."""

_MARK, _WIDEST = 0xD800, 0x7FF


class Policy(NamedTuple):
    """The handling of invalid characters."""

    errors: str
    replacement: int
    replaces_controls: bool

    def apply(self, codes: Array, is_error: Array) -> tuple[Array, Array]:
        """Replace errors among code points; return them, and a mask of those that stay."""
        if self.replaces_controls:
            is_error = is_error | (codes <= 0x1F)
        if not is_error.any():
            return codes, np.ones(len(codes), bool)
        if self.errors == "strict":
            raise failures.InvalidArgumentError("Invalid formatting on input string")
        stays = np.full(len(codes), True) if self.errors == "replace" else ~is_error
        return np.where(is_error, self.replacement, codes), stays


def _check(errors: str, encoding: str, replacement_char: int, output: str | None = None) -> None:
    if not 0 <= replacement_char <= 0x10FFFF:
        raise ValueError(f"replacement_char out of unicode codepoint range: {replacement_char}")
    if errors not in POLICIES:
        raise ValueError(
            f"Value for attr 'errors' of {errors!r} is not in the list of allowed values: {', '.join(POLICIES)}"
        )
    if not _is_text_encoding(encoding):
        raise ValueError(f"Could not create converter for input encoding: {encoding}")
    if output is not None and output not in OUTPUTS:
        raise ValueError(
            f"Value for attr 'output_encoding' of {output!r} is not in the list of allowed values: {', '.join(OUTPUTS)}"
        )


def _is_text_encoding(name: str) -> bool:
    """Return whether `name` is a Python text encoding; "zlib" and "rot13" are not.

    >>> _is_text_encoding("utf-8"), _is_text_encoding("zlib"), _is_text_encoding("latin")
    (True, False, True)
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    return found._is_text_encoding and found.name not in _UNBOUNDED


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Return a surrogate in place of invalid bytes; it encodes their number, and valid text contains no surrogates."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(_MARK + min(error.end - error.start, _WIDEST)), error.end


codecs.register_error("agc.mark", _mark)


def _decoded(items: Sequence[bytes], encoding: str, policy: Policy) -> tuple[Array, Array, Array]:
    """Return the code points of texts, their byte offsets, and their number in each text."""
    texts = [item.decode(encoding, "agc.mark") for item in items]
    counts = np.fromiter(map(len, texts), np.int64, len(texts))
    marked = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
    distinct, number = orders.distinct(marked)
    is_error = (distinct >= _MARK) & (distinct <= _MARK + _WIDEST)
    sizes = np.array([len(chr(code).encode(encoding, "replace")) for code in distinct.tolist()], np.int64)
    sizes[is_error] = distinct[is_error] - _MARK
    ends = np.cumsum(sizes[number])
    row = np.repeat(np.arange(len(texts)), counts)
    first = np.cumsum(counts) - counts
    begins = ends - sizes[number]
    offsets = begins - begins[first[row]]
    codes, stays = policy.apply(marked, is_error[number])
    return codes[stays], offsets[stays], np.bincount(row[stays], minlength=len(texts))


def _ends(counts: Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts)])


def _encoded(codes: Array, splits: Array, encoding: str, errors: str = "strict") -> Array:
    """Return the texts of rows of code points, between adjacent `splits`."""
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    rows = (text[begin:end].encode(encoding, errors) for begin, end in itertools.pairwise(splits.tolist()))
    return filled(rows, (max(len(splits) - 1, 0),))


@export("strings.unicode_transcode")
@op(element_operands=1)
def unicode_transcode(
    input: Input,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: Name = None,
) -> TensorType:
    """Convert texts to another encoding.

    Args:
        input_encoding: an encoding of Python, such as "UTF-8", "UTF-16-BE" or "latin-1".
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" invalid bytes by the code point `replacement_char`, "ignore" them, or raise an error
            ("strict").
        replace_control_characters: whether control characters before the space count as errors, too.

    Raises InvalidArgumentError for invalid bytes if `errors` is "strict".

    >>> unicode_transcode("é", "UTF-8", "UTF-16-BE").numpy()
    b'\\x00\\xe9'
    """
    require_dtype(input, STRINGS, "unicode_transcode")
    _check(errors, input_encoding, replacement_char, output_encoding)
    return TensorType(dtypes.string, input.shape)


@unicode_transcode.kernel
def _(
    input: Array,
    input_encoding: str,
    output_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
) -> Array:
    policy = Policy(errors, replacement_char, replace_control_characters)
    items = np.asarray(input, object)
    codes, _, counts = _decoded(items.ravel().tolist(), input_encoding, policy)
    return _encoded(codes, _ends(counts), OUTPUTS[output_encoding], "replace").reshape(items.shape)


@op
def unicode_code_points(
    input: Input,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: Name = None,
) -> tuple[TensorType, TensorType, TensorType]:
    """Decode a vector of texts to code points; arguments as for `unicode_transcode`.

    Returns the concatenated code points, their byte offsets, and the number of code points of each text.

    >>> codes, places, counts = unicode_code_points(["é€", "a"], "UTF-8")
    >>> codes.numpy().tolist(), places.numpy().tolist(), counts.numpy().tolist()
    ([233, 8364, 97], [0, 2, 0], [2, 1])
    """
    require_dtype(input, STRINGS, "unicode_decode")
    _check(errors, input_encoding, replacement_char)
    if input.shape is not None and len(input.shape) != 1:
        raise ValueError(f"unicode_code_points takes a vector, not a tensor of shape {input.shape}")
    count = None if input.shape is None else input.shape[0]
    return (
        TensorType(dtypes.int32, (None,)),
        TensorType(dtypes.int64, (None,)),
        TensorType(dtypes.int64, (count,)),
    )


@unicode_code_points.kernel
def _(
    input: Array, input_encoding: str, errors: str, replacement_char: int, replace_control_characters: bool
) -> tuple[Array, Array, Array]:
    policy = Policy(errors, replacement_char, replace_control_characters)
    codes, offsets, counts = _decoded(input.tolist(), input_encoding, policy)
    return codes.astype(np.int32), offsets, counts


@op
def unicode_encode_rows(
    values: Input,
    row_splits: Input,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: Name = None,
) -> TensorType:
    """Encode rows of code points as texts: row i is `values[row_splits[i]:row_splits[i + 1]]`.

    Other arguments are as for `unicode_transcode`.

    >>> unicode_encode_rows([233, 8364, 97], [0, 2, 3], "UTF-8").numpy().tolist() == ["é€".encode(), b"a"]
    True
    """
    require_dtype(values, frozenset({dtypes.int32}), "unicode_encode")
    require_dtype(row_splits, frozenset({dtypes.int32, dtypes.int64}), "unicode_encode")
    _check(errors, "utf-8", replacement_char, output_encoding)
    if any(operand.shape is not None and len(operand.shape) != 1 for operand in (values, row_splits)):
        raise ValueError("unicode_encode_rows takes vectors")
    count = None if row_splits.shape is None else row_splits.shape[0]
    return TensorType(dtypes.string, (None if count is None else max(count - 1, 0),))


@unicode_encode_rows.kernel
def _(values: Array, row_splits: Array, output_encoding: str, errors: str, replacement_char: int) -> Array:
    policy = Policy(errors, replacement_char, False)
    codes = values.astype(np.int64)
    is_error = (codes < 0) | (codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))
    codes, stays = policy.apply(codes, is_error)
    return _encoded(codes[stays], _ends(stays)[row_splits], OUTPUTS[output_encoding])
