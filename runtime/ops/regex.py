"""Operations with regular expressions, in RE2's syntax."""

from __future__ import annotations

import functools
import re
from typing import Any

from .. import dtypes
from ..ir.specs import Spec
from ..texts.re2 import compiled
from .declare import Input, Name, op
from .each import each
from .families import STRINGS, demand

Array = Any


def _check_pattern(pattern: Any) -> None:
    """Refuse what is no scalar string, and a known pattern that is none."""
    demand(pattern, STRINGS, "a regular expression")
    if pattern.shape not in ((), None):
        raise ValueError(f"a pattern or rewrite must be a scalar, but its shape is {pattern.shape}")


def _bytes(scalar: Any) -> bytes:
    item: bytes = scalar if isinstance(scalar, bytes) else scalar[()]
    return item


def _text(item: bytes) -> str:
    return item.decode("utf-8", "surrogateescape")


@op
def regex_full_match(input: Input, pattern: Input, name: Name = None) -> Spec:
    """Whether the whole of each string matches the pattern.

    Raises InvalidArgumentError for what RE2 would not take, or what is not supported.

    >>> regex_full_match(["a1", "b"], "[[:alpha:]]\\\\d").numpy().tolist()
    [True, False]
    """
    demand(input, STRINGS, "regex_full_match")
    _check_pattern(pattern)
    if pattern.value is not None:
        compiled(_bytes(pattern.value))
    return Spec(dtypes.bool_, input.shape)


@regex_full_match.kernel
def _(input: Array, pattern: Array) -> Array:
    matcher = compiled(_bytes(pattern))
    return each(lambda item: matcher.fullmatch(_text(item)) is not None, input, dtype=bool)


@op
def regex_replace(
    input: Input, pattern: Input, rewrite: Input, replace_global: bool = True, name: Name = None
) -> Spec:
    """Each string with what matches the pattern replaced by `rewrite`, in which \\\\1 is the first group, \\\\0 all.

    Args:
        replace_global: whether all matches are replaced, or only the first.

    Raises InvalidArgumentError for what RE2 would not take, or what is not supported.

    >>> regex_replace("hello world", "(\\\\w+) (\\\\w+)", "\\\\2 \\\\1").numpy()
    b'world hello'
    """
    demand(input, STRINGS, "regex_replace")
    _check_pattern(pattern)
    _check_pattern(rewrite)
    if pattern.value is not None:
        matcher = compiled(_bytes(pattern.value))
        if rewrite.value is not None:
            _parts(_text(_bytes(rewrite.value)), matcher.groups)
    return Spec(dtypes.string, input.shape)


@regex_replace.kernel
def _(input: Array, pattern: Array, rewrite: Array, replace_global: bool) -> Array:
    matcher = compiled(_bytes(pattern))
    parts = _parts(_text(_bytes(rewrite)), matcher.groups)
    return each(lambda item: _replaced(matcher, _text(item), parts, replace_global), input)


@functools.lru_cache(maxsize=64)
def _parts(rewrite: str, groups: int) -> tuple[str | int, ...]:
    """A rewrite as literal texts and numbers of groups."""
    parts: list[str | int] = []
    for literal, escaped in re.findall(r"([^\\]+)|\\(.?)", rewrite, re.DOTALL):
        if literal or escaped == "\\":
            parts.append(literal or "\\")
        elif escaped.isascii() and escaped.isdigit() and int(escaped) <= groups:
            parts.append(int(escaped))
        else:
            raise ValueError(
                f"Invalid rewrite {rewrite!r}: \\{escaped} is none of \\\\ and \\0 … \\{groups}, the groups"
            )
    return tuple(parts)


def _replaced(matcher: re.Pattern[str], text: str, parts: tuple[str | int, ...], is_global: bool) -> bytes:
    """As RE2 replaces: an empty match right behind the last one does not count."""
    pieces: list[str] = []
    at, last = 0, -1
    while at <= len(text):
        found = matcher.search(text, at)
        if found is None:
            break
        pieces.append(text[at : found.start()])
        if found.end() == found.start() == last:
            pieces.append(text[last : last + 1])
            at = last + 1
            continue
        pieces += [part if isinstance(part, str) else found[part] or "" for part in parts]
        at = last = found.end()
        if not is_global:
            break
    return ("".join(pieces) + text[at:]).encode("utf-8", "surrogateescape")
