"""Colors for a terminal: when to use them, and on which text.

    --color always | never     decides
    --color auto (default)     colors a terminal, unless NO_COLOR is set or TERM is `dumb`

The highlighter uses the tokens of `tokenize`: keywords, names that are defined, strings, numbers,
comments, and `ag__`, the name by which generated code calls the operators.
"""

from __future__ import annotations

import io
import keyword
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

RESET = "\x1b[0m"
KEYWORD, DEFINED, OPERATORS = "\x1b[35m", "\x1b[1;34m", "\x1b[33m"
STRING, NUMBER, COMMENT = "\x1b[32m", "\x1b[36m", "\x1b[2m"
ADDED, REMOVED, HUNK, HEADER = "\x1b[32m", "\x1b[31m", "\x1b[36m", "\x1b[1m"

_choice = "auto"


def choose(choice: str) -> None:
    """Set the value of `--color` for this run of the command."""
    global _choice
    _choice = choice


def wanted(stream: Any) -> bool:
    """Return whether text that is written to `stream` is colored."""
    if _choice != "auto":
        return _choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(stream is not None and stream.isatty())


class Span(NamedTuple):
    """A stretch of one line, from column `start` up to `end`, in a color."""

    line: int
    start: int
    end: int
    style: str


def python(code: str) -> str:
    """Return Python source with its tokens colored; without the colors it equals `code`.

    >>> python("x = 1").replace(NUMBER, "<").replace(RESET, ">")
    'x = <1>'
    """
    lines = code.split("\n")
    by_line: dict[int, list[Span]] = {}
    for span in _spans(code, lines):
        by_line.setdefault(span.line, []).append(span)
    return "\n".join(_painted(line, by_line.get(number, [])) for number, line in enumerate(lines, start=1))


def diff(text: str) -> str:
    """Return a unified diff with its lines colored."""
    return "".join(_diff_line(line) for line in text.splitlines(keepends=True))


def _diff_line(line: str) -> str:
    styles = {"+++": HEADER, "---": HEADER, "@@": HUNK, "+": ADDED, "-": REMOVED}
    style = next((styles[start] for start in styles if line.startswith(start)), None)
    body = line.rstrip("\n")
    return line if style is None else f"{style}{body}{RESET}{line[len(body) :]}"


def _painted(line: str, spans: list[Span]) -> str:
    parts, at = [], 0
    for span in sorted(spans):
        if span.start < at:  # tokenize reports some parts of an f-string twice
            continue
        parts += [line[at : span.start], span.style, line[span.start : span.end], RESET]
        at = span.end
    return "".join([*parts, line[at:]])


def _spans(code: str, lines: list[str]) -> Iterator[Span]:
    import tokenize  # imported here: only colored output needs it

    previous = ""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    while True:
        try:
            token = next(tokens)
        except (StopIteration, tokenize.TokenError, SyntaxError):  # text that is not Python stays uncolored
            return
        style = _style(tokenize.tok_name[token.type], token.string, previous)
        previous = token.string if token.string.strip() else previous
        if style is not None:
            yield from _per_line(token.start, token.end, style, lines)


def _style(kind: str, text: str, previous: str) -> str | None:
    if kind == "NAME":
        if keyword.iskeyword(text):
            return KEYWORD
        if text.startswith("ag__"):
            return OPERATORS
        return DEFINED if previous in ("def", "class") else None
    if kind == "STRING" or kind.startswith(("FSTRING", "TSTRING")):
        return STRING
    return {"NUMBER": NUMBER, "COMMENT": COMMENT}.get(kind)


def _per_line(start: tuple[int, int], end: tuple[int, int], style: str, lines: list[str]) -> Iterator[Span]:
    """Color each line by itself, so that a pager shows any part of the text correctly."""
    for number in range(start[0], end[0] + 1):
        first = start[1] if number == start[0] else 0
        last = end[1] if number == end[0] else len(lines[number - 1])
        if first < last:
            yield Span(number, first, last, style)
