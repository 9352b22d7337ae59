"""Compiled regular expressions in RE2's syntax: by RE2 if google-re2 is installed, else by Python's `re`.

    compiled(rb"(\\w+)@(\\w+)").replaced(b"a@b c@d", (2, b".", 1), True)     ==>     b"b.a d.c"

RE2 takes time linear in the text. Python's `re` backtracks, so it only gets patterns with bounded backtracking (see
`backtracking_check`). Other patterns raise UnimplementedError, which names the package to install.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, Protocol

from ... import errors
from . import backtracking_check, re2_syntax

Parts = Sequence[bytes | int]
Span = tuple[int, int]


class Matcher(Protocol):
    """A compiled pattern; `groups` is the number of its capturing groups."""

    groups: int

    def is_full_match(self, item: bytes) -> bool:
        """Return whether the whole string matches."""

    def replaced(self, item: bytes, parts: Parts, is_global: bool) -> bytes:
        """Return a string with matches replaced by `parts`: strings and group numbers."""


class Re2Matcher:
    """A pattern compiled by RE2, for strings as bytes."""

    def __init__(self, pattern: bytes) -> None:
        import re2  # imported when the first pattern is compiled

        options = re2.Options()
        options.log_errors = False
        try:
            self._regexp = re2.compile(pattern, options)
        except re2.error as error:
            reason = error.args[0]
            reason = reason.decode("utf-8", "backslashreplace") if isinstance(reason, bytes) else reason
            raise _invalid(pattern, reason) from None
        self.groups: int = self._regexp.groups

    def is_full_match(self, item: bytes) -> bool:
        return self._regexp.fullmatch(item) is not None

    def replaced(self, item: bytes, parts: Parts, is_global: bool) -> bytes:
        return b"".join(_pieces(item, self._regexp, parts, is_global, _width))


class PythonMatcher:
    """A pattern compiled by Python's `re`, for strings decoded as UTF-8; an invalid byte is one character."""

    def __init__(self, pattern: bytes) -> None:
        text = pattern.decode("utf-8", "surrogateescape")
        try:
            translated = re2_syntax.translated(text)
            self._pattern = re.compile(translated, re.ASCII)
            is_bounded = backtracking_check.is_bounded(translated)
        except (re.error, OverflowError, RecursionError) as error:
            raise _invalid(pattern, str(error)) from None
        if not is_bounded:
            raise errors.UnimplementedError(
                f"the pattern {text!r} can take exponential time with Python's `re`. RE2 needs linear time for it: "
                "install google-re2, as with `pip install agc-autograph[re2]`"
            )
        self.groups = self._pattern.groups

    def is_full_match(self, item: bytes) -> bool:
        return self._pattern.fullmatch(_text(item)) is not None

    def replaced(self, item: bytes, parts: Parts, is_global: bool) -> bytes:
        texts = [part if isinstance(part, int) else _text(part) for part in parts]
        pieces = _pieces(_text(item), self._pattern, texts, is_global, lambda text, at: 1)
        return "".join(pieces).encode("utf-8", "surrogateescape")


@functools.cache
def has_re2() -> bool:
    """Return whether google-re2 is installed; other packages are also named re2."""
    try:
        import re2
    except ImportError:
        return False
    return hasattr(getattr(re2, "Options", None), "NAMES")


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes) -> Matcher:
    """Return the matcher of a pattern; ValueError for a pattern that RE2 rejects."""
    return Re2Matcher(pattern) if has_re2() else PythonMatcher(pattern)


def _invalid(pattern: bytes, reason: str) -> ValueError:
    return ValueError(f"Invalid pattern: {pattern.decode('utf-8', 'backslashreplace')}, error: {reason}")


def _text(item: bytes) -> str:
    return item.decode("utf-8", "surrogateescape")


def _width(text: bytes, at: int) -> int:
    """Return the number of bytes of the character at `at`; 1 for an invalid byte."""
    first = text[at : at + 4].decode("utf-8", "surrogateescape")[:1]
    return len(first.encode("utf-8", "surrogateescape")) or 1


def _pieces(text: Any, regexp: Any, parts: Sequence[Any], is_global: bool, width: Any) -> list[Any]:
    """Return the pieces of the result. As in RE2, an empty match adjacent to the previous match does not count."""
    pieces: list[Any] = []
    at, last = 0, -1
    while at <= len(text):
        found = regexp.search(text, at)
        if found is None:
            break
        start, end = found.span()
        pieces.append(text[at:start])
        if start == end == last:
            at = last + width(text, last)
            pieces.append(text[last:at])
            continue
        pieces += [(found[part] or text[:0]) if isinstance(part, int) else part for part in parts]
        at = last = end
        if not is_global:
            break
    pieces.append(text[at:])
    return pieces
