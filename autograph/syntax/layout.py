"""Statements that no pass has changed, as the user wrote them: text, comments and blank lines.

    # the sign                            # the sign                         before a statement, changed or not
    s = [1,  # up                 ==>     s = [1,  # up                      unchanged: word for word
         -1]                                   -1]
    if x > 0:  # else it stays            # else it stays                    on the line of a changed block
        x = s[0] * x                      def if_true(x):
                                              x = s[0] * x                   moved: indented anew

A `Layout` is made for printing one tree once: each comment is given out once, where its line is first printed.
"""

from __future__ import annotations

import ast
import bisect
import re
from typing import Any

from .gast_bridge import Translation
from .lexical_lines import lexical_lines
from .positions import characters, first_line, lines_of


class Layout:
    """The text of a module, and where its comments, strings and logical lines are."""

    def __init__(self, text: str, translation: Translation, whole: bool = True) -> None:
        """Read `text`. `translation` maps unchanged nodes; `whole` is false for one definition of a module."""
        self.whole = whole
        self.lines = [line.rstrip("\r\n") for line in lines_of(text)]
        self.translation = translation
        self.comments, self.in_string, self.ends = lexical_lines(self.lines)
        self.colons: set[int] = set()  # lines whose code ends with a colon
        self.tops = self._tops()
        self.printed: set[int] = set()  # lines whose comments have been given out
        self._first_lines = _FirstLines(len(self.lines))

    # Comments and blank lines

    def has(self, statement: ast.AST) -> bool:
        """Return whether a statement was made for one of the source."""
        return self._first_lines[statement] > 0

    def above(self, statement: ast.AST, indent: str) -> list[str]:
        """Return the lines before a statement, after those of a clause such as `else:` that is printed no more."""
        line = self._first_lines[statement]
        top = self.tops[line]
        if top == line and top - 1 not in self.colons:  # as above most statements
            return []
        above, comment = self.of_clause([statement], indent)
        return [*above, *([indent + comment] if comment else []), *self.before(statement, indent)]

    def before(self, statement: ast.AST, indent: str) -> list[str]:
        """Return the lines between a statement and the code before it: comments, indented anew, and blank lines."""
        line = self._first_lines[statement]
        top = self.tops[line]
        return self._taken(range(top, line), self._indentation(line), indent) if top < line else []

    def after_definition(self, definition: Any, indent: str) -> list[str]:
        """Return the comments at the end of a function or class of the user's, which are indented more than it is.

        Before them come those inside whose statement is not printed as one, such as `return 1` in a lambda."""
        line = self._first_lines[definition]
        text = self.lines[definition.lineno - 1][definition.col_offset :] if line else ""
        if not text.startswith(("def", "class", "async")):
            return []
        inside = self._taken_from_code(range(line, definition.end_lineno + 1))
        stop = last = definition.end_lineno + 1
        while stop <= len(self.lines) and self._is_gap(stop):
            if stop in self.comments:
                if self.comments[stop] <= definition.col_offset:
                    break
                last = stop + 1
            stop += 1
        numbers = range(definition.end_lineno + 1, last)
        taken = self._taken(numbers, self._indentation(last - 1), indent)
        return [*(indent + comment for comment in inside), *taken]

    def after(self, statement: Any, indent: str) -> list[str]:
        """Return the comments between the last statement of a block and the end of that block."""
        line = self._first_lines[statement]
        end = self.translation.last_line(statement)
        if not line or end >= len(self.lines) or not self._is_gap(end + 1):
            return []
        prefix = self._indentation(line)
        if not prefix:
            return []
        stop = last = end + 1
        while stop <= len(self.lines) and self._is_gap(stop):
            if self.comments.get(stop, -1) >= len(prefix):
                last = stop + 1
            elif stop in self.comments:
                break
            stop += 1
        while stop <= len(self.lines) and self._is_gap(stop):
            stop += 1
        is_last = stop > len(self.lines) or len(self._indentation(stop)) < len(prefix)
        return self._taken(range(end + 1, last), prefix, indent) if is_last else []

    def of_clause(self, body: list[Any], indent: str) -> tuple[list[str], str]:
        """Return the comments above and on the line that ends in a colon before a block, such as that of `else:`."""
        line = self._first_lines[body[0]]
        last = self.tops[line] - 1 if line else 0
        if last not in self.colons:
            return [], ""
        found = bisect.bisect_left(self.ends, last)
        top = first = self.ends[found - 1] + 1 if found else 1
        while self._is_gap(first):
            first += 1
        if not _CLAUSE.match(self.lines[first - 1]):
            return [], ""
        above = self._taken(range(top, first), self._indentation(first), indent)
        *others, comment = ["", *self._taken_from_code(range(first, last + 1))]
        return [text for text in (*above, *(indent + other for other in others)) if text.strip()], comment

    def heading(self, body: list[Any]) -> list[str]:
        """Return the comments at the top of a module that come before what is added to it: all above its last
        blank line."""
        end = self.ends[0] if self.ends else len(self.lines) + 1
        top = next((line for line in map(self._first_lines.__getitem__, body) if line), end)
        first = self.tops[top]
        if first > 1 or (body and self._first_lines[body[0]]):  # the first statement has them
            return []
        blank = [number for number in range(1, top) if not self.lines[number - 1].strip()]
        end = blank[-1] if blank and body else top - 1
        found = self._taken(range(1, end + 1), "", "")
        return found if any(found) else []

    def ending(self) -> list[str]:
        """Return the comments at the end of a module."""
        last = len(self.lines)
        while last and not self.lines[last - 1].strip():
            last -= 1
        return self._taken(range(self.tops[last + 1], last + 1), "", "")

    def within(self, statement: Any, entire: bool) -> list[str]:
        """Return the comments inside of a simple statement, or on the first logical line of another one.

        If `entire`, include the unprinted comments from the rest of the block that the statement represents."""
        line = self._first_lines[statement]
        if not line:
            return []
        last = self.translation.last_line(statement) if entire else 0
        return self._taken_from_code(range(line, max(last, self._end(statement)) + 1))

    def goes_on(self, statement: ast.AST, following: Any) -> bool:
        """Return whether the next statement, too, was made of the same statement of the user's."""
        if following is None or isinstance(following, ast.Return) or not self._first_lines[statement]:
            return False
        return bool(following.lineno <= self.translation.last_line(statement))

    def _taken_from_code(self, numbers: range) -> list[str]:
        """Return the comments on lines with code that have not been given out before."""
        fresh = [number for number in numbers if number in self.comments and number not in self.printed]
        self.printed.update(fresh)
        return [self.lines[number - 1][self.comments[number] :] for number in fresh]

    def _taken(self, numbers: range, old: str, new: str) -> list[str]:
        """Return the lines of these numbers that have not been given out before."""
        fresh = [number for number in numbers if number not in self.printed]
        self.printed.update(fresh)
        return [self._indented(number, old, new) for number in fresh]

    def _tops(self) -> list[int]:
        """Return for each line, and the one after the last, the first of the lines right above that hold no code."""
        tops = [0, 1]
        for line, text in enumerate(self.lines, 1):
            code = text[: self.comments.get(line)].strip()
            if code.endswith(":"):
                self.colons.add(line)
            is_gap = not code and (line in self.comments or line not in self.in_string)
            tops.append(tops[-1] if is_gap else line + 1)
        return tops

    def _is_gap(self, number: int) -> bool:
        """Return whether a line holds no code."""
        return self.tops[number + 1] <= number

    # Code

    def text_of(self, statement: Any, indent: str) -> str | None:
        """Return an unchanged statement with its comments, as it is in the source; None for any other."""
        line = self._first_lines[statement]
        if not line or not self.translation.is_original(statement):
            return None
        last, text = statement.end_lineno, self.lines[line - 1]
        column = statement.col_offset
        if line == last and statement.end_col_offset == len(text) and not text[:column].strip():
            return indent + text[column:]  # as most statements
        if line < last and not self.comments.keys().isdisjoint(self.printed.intersection(range(line, last))):
            return None
        prefix = self._indentation(line)
        end = self.lines[last - 1]
        stop = characters(end, statement.end_col_offset)
        comment = end[stop:].strip().startswith("#") and last not in self.printed
        body = [self._indented(number, prefix, indent) for number in range(line, last + 1)]
        cut = 0 if comment else len(end) - stop
        body[-1] = body[-1][: len(body[-1]) - cut] if cut else body[-1].rstrip()
        start = characters(self.lines[line - 1], statement.col_offset)
        if len(prefix) != start and line == statement.lineno:  # after a semicolon, or the colon of a block
            body[0] = indent + body[0][len(indent) + start - len(prefix) :]
        self.printed.update(range(line, last + 1 if comment else last))
        return "\n".join(body)

    def header_of(self, statement: Any, word: str, indent: str) -> str | None:
        """Return the first logical line of a block that begins with `word`, without its colon and the comment
        after that.

        None if something in it has changed."""
        line = self._first_lines[statement]
        before = self.translation.original_at(statement) if line else None
        if before is None or not all(_is_same(statement, before, field) for field in _HEADERS[type(before)]):
            return None
        last = self._end(statement)
        prefix = self._indentation(line)
        text = [self._indented(number, prefix, indent) for number in range(line, last + 1)]
        if last in self.comments:
            text[-1] = text[-1][: self.comments[last] - len(self.lines[last - 1])]
        text[-1] = text[-1].rstrip()
        code = text[statement.lineno - line].lstrip()
        if len(prefix) != statement.col_offset or not code.startswith(f"{word} ") or text[-1][-1:] != ":":
            return None
        self.printed.update(range(line, last))
        return "\n".join(text)[:-1]

    def _end(self, statement: Any) -> int:
        """Return the last line of the logical line on which a statement begins."""
        found = bisect.bisect_left(self.ends, statement.lineno)
        return self.ends[found] if found < len(self.ends) else len(self.lines)

    def _indentation(self, line: int) -> str:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def _indented(self, number: int, old: str, new: str) -> str:
        text = self.lines[number - 1]
        if old == new or number in self.in_string:
            return text
        if not text.strip():
            return ""
        return new + (text[len(old) :] if text.startswith(old) else text.lstrip(" \t\f"))


class _FirstLines(dict[ast.AST, int]):
    """statement → the line on which it begins, with its decorators; 0 for one that is in no source."""

    def __init__(self, last: int) -> None:
        self.last = last

    def __missing__(self, statement: Any) -> int:
        line = first_line(statement) if getattr(statement, "lineno", 0) else 0
        is_empty = line and line == statement.end_lineno and statement.col_offset == statement.end_col_offset
        self[statement] = line = 0 if is_empty or line > self.last else line
        return line


_CLAUSE = re.compile(r"\s*(try|else|finally|except|match|case)\b")
_DEFINITION = ("name", "decorator_list", "type_params")
_HEADERS: dict[type, tuple[str, ...]] = {  # the fields on the first logical line of a block
    **dict.fromkeys((ast.If, ast.While), ("test",)),
    **dict.fromkeys((ast.For, ast.AsyncFor), ("target", "iter")),
    **dict.fromkeys((ast.With, ast.AsyncWith), ("items",)),
    ast.Match: ("subject",),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), (*_DEFINITION, "args", "returns")),
    ast.ClassDef: (*_DEFINITION, "bases", "keywords"),
}


def _is_same(node: ast.AST, before: ast.AST, field: str) -> bool:
    """Return whether both hold the very same in a field; the parts of a list are compared.

    Python 3.11 has no `type_params`, where the converter writes an empty list.
    """
    new, old = getattr(node, field, None) or None, getattr(before, field, None) or None
    return bool(new == old) if isinstance(new, (list, str)) else new is old
