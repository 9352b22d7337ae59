"""Unicode operations: decoding to code points, encoding, and transcoding.

A code point is the number of a character, int32. `errors` determines how invalid bytes are handled:
"replace", "ignore" or "strict".
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ... import errors as failures
from ...core.export import export
from ...ir.value_types import TensorType
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from .map_bytes import each, filled

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

    def read(self, code: int | None) -> int | None:
        """Map a code point, or None for an error, to its replacement; None means to omit it."""
        if code is not None and not (self.replaces_controls and code <= 0x1F):
            return code
        if self.errors == "strict":
            raise failures.InvalidArgumentError("Invalid formatting on input string")
        return self.replacement if self.errors == "replace" else None


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


def _characters(item: bytes, encoding: str) -> Iterator[tuple[int | None, int]]:
    """Yield the code points of a text and their byte offsets; None in place of invalid bytes."""
    at = 0
    for char in item.decode(encoding, "agc.mark"):
        code = ord(char)
        is_error = _MARK <= code <= _MARK + _WIDEST
        yield None if is_error else code, at
        at += code - _MARK if is_error else len(char.encode(encoding))


def _decoded(item: bytes, encoding: str, policy: Policy) -> list[tuple[int, int]]:
    """Return code points and their byte offsets."""
    read = ((policy.read(code), at) for code, at in _characters(item, encoding))
    return [(code, at) for code, at in read if code is not None]


def _encoded(codes: Any, encoding: str, policy: Policy) -> bytes:
    known = (policy.read(code if _is_character(code) else None) for code in codes)
    return "".join(chr(code) for code in known if code is not None).encode(encoding)


def _is_character(code: int) -> bool:
    return 0 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF


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
    output = OUTPUTS[output_encoding]

    def transcoded(item: bytes) -> bytes:
        codes = (code for code, _ in _decoded(item, input_encoding, policy))
        return "".join(chr(code) for code in codes).encode(output, "replace")

    return each(transcoded, input)


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
    texts = [_decoded(item, input_encoding, policy) for item in input.tolist()]
    pairs = [pair for text in texts for pair in text]
    codes = np.array([code for code, _ in pairs], np.int32)
    offsets = np.array([offset for _, offset in pairs], np.int64)
    return codes, offsets, np.array([len(text) for text in texts], np.int64)


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
    codes, splits = values.tolist(), row_splits.tolist()
    rows = [codes[start:stop] for start, stop in itertools.pairwise(splits)]
    return filled((_encoded(row, OUTPUTS[output_encoding], policy) for row in rows), (len(rows),))
