"""Operations with regular expressions, in RE2's syntax."""

from __future__ import annotations

import functools
import re
from typing import Any

from ... import dtypes
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.strings.regex_engines import compiled
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from .map_bytes import in_batch

Array = Any


def _check_pattern(pattern: Any) -> None:
    """Raise an error unless `pattern` is a scalar string."""
    require_dtype(pattern, STRINGS, "a regular expression")
    if pattern.shape not in ((), None):
        raise ValueError(f"a pattern or rewrite must be a scalar, but its shape is {pattern.shape}")


def _bytes(scalar: Any) -> bytes:
    item: bytes = scalar if isinstance(scalar, bytes) else scalar[()]
    return item


@export("strings.regex_full_match")
@op(element_operands=1)
def regex_full_match(input: Input, pattern: Input, name: Name = None) -> TensorType:
    """Return whether the whole of each string matches the pattern.

    Raises InvalidArgumentError for patterns that RE2 rejects, and for unsupported ones.

    >>> regex_full_match(["a1", "b"], "[[:alpha:]]\\\\d").numpy().tolist()
    [True, False]
    """
    require_dtype(input, STRINGS, "regex_full_match")
    _check_pattern(pattern)
    if pattern.value is not None:
        compiled(_bytes(pattern.value))
    return TensorType(dtypes.bool_, input.shape)


@regex_full_match.kernel
def _(input: Array, pattern: Array) -> Array:
    return in_batch(compiled(_bytes(pattern)).are_full_matches, input, dtype=bool)


@export("strings.regex_replace")
@op(element_operands=1)
def regex_replace(
    input: Input, pattern: Input, rewrite: Input, replace_global: bool = True, name: Name = None
) -> TensorType:
    """Replace matches of the pattern in each string by `rewrite`, in which \\\\1 is the first group, \\\\0 the match.

    Args:
        replace_global: whether all matches are replaced, or only the first.

    Raises InvalidArgumentError for patterns that RE2 rejects, and for unsupported ones.

    >>> regex_replace("hello world", "(\\\\w+) (\\\\w+)", "\\\\2 \\\\1").numpy()
    b'world hello'
    """
    require_dtype(input, STRINGS, "regex_replace")
    _check_pattern(pattern)
    _check_pattern(rewrite)
    if pattern.value is not None:
        matcher = compiled(_bytes(pattern.value))
        if rewrite.value is not None:
            _parts(_bytes(rewrite.value), matcher.groups)
    return TensorType(dtypes.string, input.shape)


@regex_replace.kernel
def _(input: Array, pattern: Array, rewrite: Array, replace_global: bool) -> Array:
    matcher = compiled(_bytes(pattern))
    parts = _parts(_bytes(rewrite), matcher.groups)
    return in_batch(lambda items: matcher.replaced(items, parts, replace_global), input)


@functools.lru_cache(maxsize=64)
def _parts(rewrite: bytes, groups: int) -> tuple[bytes | int, ...]:
    """Parse a rewrite into literal texts and numbers of groups."""
    parts: list[bytes | int] = []
    for literal, escaped in re.findall(rb"([^\\]+)|\\(.?)", rewrite, re.DOTALL):
        if literal or escaped == b"\\":
            parts.append(literal or b"\\")
        elif escaped.isdigit() and int(escaped) <= groups:
            parts.append(int(escaped))
        else:
            shown = rewrite.decode("utf-8", "backslashreplace")
            name = escaped.decode("utf-8", "backslashreplace")
            raise ValueError(
                f"Invalid rewrite {shown!r}: \\{name} is none of \\\\ and \\0 … \\{groups}, the groups"
            )
    return tuple(parts)
