"""Compiled regular expressions in RE2's syntax: by RE2 if google-re2 is installed, else by Python's `re`.

    compiled(rb"(\\w+)@(\\w+)").replaced(b"a@b c@d", (2, b".", 1), True)     ==>     b"b.a d.c"

RE2 takes time linear in the text. Python's `re` backtracks, so it only gets patterns with bounded backtracking (see
`backtracking_check`). Other patterns raise UnimplementedError, which names the package to install. A call of google-re2
takes microseconds, so Python's `re` also matches short texts for RE2, and all texts if no match can be long.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ... import errors
from . import backtracking_check, re2_syntax

Parts = Sequence[bytes | int]

_SHORT, _NARROW, _FEW_WAYS = 512, 64, 8
"""The longest text for which Python's `re` may try all parts of it; the longest match, and the most ways to one."""


class Matcher(Protocol):
    """A compiled pattern; `groups` is the number of its capturing groups."""

    groups: int

    def are_full_matches(self, items: list[bytes]) -> list[bool]:
        """Return for each string whether all of it matches."""

    def replaced(self, items: list[bytes], parts: Parts, is_global: bool) -> list[bytes]:
        """Return the strings with matches replaced by `parts`: strings and group numbers."""


class PythonMatcher:
    """A pattern compiled by Python's `re`, for strings decoded as UTF-8; an invalid byte is one character."""

    def __init__(self, pattern: bytes) -> None:
        self._text = pattern.decode("utf-8", "surrogateescape")
        try:
            self._translated = re2_syntax.translated(self._text)
            self._pattern = re.compile(self._translated, re.ASCII)
            self._width = backtracking_check.width(self._translated)
            self.is_bounded = backtracking_check.is_bounded(self._translated)
        except (re.error, OverflowError, RecursionError) as error:
            raise _invalid(pattern, str(error)) from None
        self.groups = self._pattern.groups

    def demand_bounded(self) -> PythonMatcher:
        """Return the matcher; UnimplementedError if it can take exponential time."""
        if not self.is_bounded:
            raise errors.UnimplementedError(
                f"the pattern {self._text!r} can take exponential time with Python's `re`. RE2 needs linear time for "
                "it: install google-re2, as with `pip install agc-autograph[re2]`"
            )
        return self

    def longest(self) -> float:
        """Return the length of the longest text of ASCII that is matched about as quickly as by RE2."""
        if not backtracking_check.is_bounded(self._translated, 0, _FEW_WAYS):
            return -1
        return math.inf if self._width[1] <= _NARROW else _SHORT

    def are_full_matches(self, items: list[bytes]) -> list[bool]:
        match = self._pattern.fullmatch
        return [match(item.decode("utf-8", "surrogateescape")) is not None for item in items]

    def replaced(self, items: list[bytes], parts: Parts, is_global: bool) -> list[bytes]:
        texts = [part if isinstance(part, int) else _text(part) for part in parts]
        found: Iterable[str] = (item.decode("utf-8", "surrogateescape") for item in items)
        if self._width[0]:  # no empty matches, which RE2 and Python treat differently
            escaped = (
                f"\\g<{part}>" if isinstance(part, int) else part.replace("\\", "\\\\") for part in texts
            )
            template, substitute, most = "".join(escaped), self._pattern.sub, 0 if is_global else 1
            found = (substitute(template, text, most) for text in found)
        else:
            found = (
                "".join(_pieces(text, self._pattern, texts, is_global, lambda text, at: 1)) for text in found
            )
        return [text.encode("utf-8", "surrogateescape") for text in found]


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

    def are_full_matches(self, items: list[bytes]) -> list[bool]:
        return [self._regexp.fullmatch(item) is not None for item in items]

    def replaced(self, items: list[bytes], parts: Parts, is_global: bool) -> list[bytes]:
        return [b"".join(_pieces(item, self._regexp, parts, is_global, _width)) for item in items]


class PairMatcher:
    """A pattern compiled by both: Python's `re` matches texts of ASCII up to a length, and RE2 the others."""

    def __init__(self, quick: PythonMatcher, general: Re2Matcher) -> None:
        self._quick, self._general, self._longest = quick, general, quick.longest()
        self.groups = general.groups

    def _each(self, compute: Callable[[Matcher, list[bytes]], list[Any]], items: list[bytes]) -> list[Any]:
        is_quick = [item.isascii() and len(item) <= self._longest for item in items]
        if all(is_quick):
            return compute(self._quick, items)
        parts = {
            True: iter(compute(self._quick, list(itertools.compress(items, is_quick)))),
            False: iter(
                compute(self._general, list(itertools.compress(items, map(operator.not_, is_quick))))
            ),
        }
        return [next(parts[quick]) for quick in is_quick]

    def are_full_matches(self, items: list[bytes]) -> list[bool]:
        return self._each(lambda matcher, items: matcher.are_full_matches(items), items)

    def replaced(self, items: list[bytes], parts: Parts, is_global: bool) -> list[bytes]:
        return self._each(lambda matcher, items: matcher.replaced(items, parts, is_global), items)


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
    if not has_re2():
        return PythonMatcher(pattern).demand_bounded()
    general = Re2Matcher(pattern)
    try:
        return PairMatcher(PythonMatcher(pattern), general)
    except ValueError:
        return general


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
