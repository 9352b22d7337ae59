"""The lexer of the text form: lines as tokens, and errors with their location.

GraphSyntaxError: `k` is not defined here
  --> line 4, column 15
 4 |   m.1 = add m, k
   |                ^
"""

from __future__ import annotations

import re
from typing import NamedTuple


class GraphSyntaxError(ValueError):
    """The text is no graph; `line` and `column` count from one."""

    def __init__(self, reason: str, line: int, column: int, text: str) -> None:
        gutter = " " * len(str(line))
        pointer = " " * (column - 1) + "^"
        super().__init__(
            f"{reason}\n {gutter}--> line {line}, column {column}\n {line} | {text}\n {gutter} | {pointer}"
        )
        self.reason, self.line, self.column = reason, line, column


# Possessive quantifiers do not backtrack, so each takes time linear in the line. Those of groups fail in Python 3.11.2.
NUMBER = r"(?:\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?|(?:inf|nan)(?![\w/]))"
_TOKENS = re.compile(
    rf"""(?P<space>[ ]+)
    | (?P<complex>[+-]?{NUMBER}[+-](?:\d++(?:\.\d*+)?(?:e[+-]?\d++)?|inf|nan)j)
    | (?P<number>[+-]?{NUMBER})
    | (?P<string>b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
    | (?P<name>[^\W\d][\w/]*(?:\.\d+)*)
    | (?P<data>\$\d+)
    | (?P<mark>->|\.\.\.|[][(),:=?@<>])""",
    re.VERBOSE,
)


class Token(NamedTuple):
    kind: str
    text: str
    column: int


class Line:
    """A line of text as tokens, with a current position."""

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text
        self.depth = (len(text) - len(text.lstrip(" "))) // 2
        self.tokens = self._scan()
        self.position = 0

    def _scan(self) -> list[Token]:
        tokens = []
        position = 0
        while position < len(self.text):
            found = _TOKENS.match(self.text, position)
            if found is None:
                raise self.error(f"{self.text[position]!r} is unexpected here", position + 1)
            if found.lastgroup != "space":
                tokens.append(Token(str(found.lastgroup), found.group(), position + 1))
            position = found.end()
        tokens.append(Token("end", "", len(self.text) + 1))
        return tokens

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.tokens[self.position]
        self.position += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Skip a mark if it is the next token, and return whether it was."""
        found = self.next.kind == "mark" and self.next.text == text
        self.position += found
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected `{text}`")

    def name(self, what: str) -> str:
        if self.next.kind != "name":
            raise self.error(f"expected {what}")
        return self.take().text

    def end(self) -> None:
        if self.next.kind != "end":
            raise self.error("expected the end of the line")

    def at_end(self) -> bool:
        return self.next.kind == "end"

    def holds(self, mark: str) -> bool:
        return any(token.kind == "mark" and token.text == mark for token in self.tokens)

    def error(self, reason: str, column: int | None = None) -> GraphSyntaxError:
        """Return the exception to raise, for the next token or a given column."""
        return GraphSyntaxError(reason, self.number, column or self.next.column, self.text)
