"""A function's own lines, parsed without the rest of its file.

     9  class Model:                                    eight empty lines
    10      def fit(self, x):                           if 1:
    11          return x if x > 0 else -x       ==>         def fit(self, x):                       the tree that
    12                                                          return x if x > 0 else -x           `fit` has in
    13      def loss(self): …                                                                       the file

A file may be long, and its first traced function should not wait until all of it is parsed. The code object has the
first line of the function and a lower bound of the last one. The function ends before the next line that is not
indented more. If this line is inside of a string or of brackets, the lines are no Python or no single function. Then
there is no piece, and the whole file is parsed.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from operator import itemgetter
from types import CodeType

from ..introspection.code_objects import nested_code_objects


def piece_of(code: CodeType, lines: Sequence[str]) -> ast.stmt | None:
    """Return the statement that a function with this code is made by, in a file of these lines; None if that
    is not clear."""
    first = code.co_firstlineno
    if code.co_name == "<lambda>" or not 0 < first <= len(lines):
        return None
    indentation = _indentation(lines[first - 1])
    if indentation and "." not in code.co_qualname:
        return None  # perhaps declared global: the code does not show its position
    end = _end(lines, max(map(_last_line, nested_code_objects(code))), indentation)
    before = "\n" * (first - 2) + "if 1:\n" if indentation else "\n" * (first - 1)
    try:
        body = ast.parse(before + "".join(lines[first - 1 : end])).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    statements = body[0].body if indentation and isinstance(body[0], ast.If) else body
    return statements[0] if len(statements) == 1 and len(body) == 1 else None


def _last_line(code: CodeType) -> int:
    """Return the last line on which an instruction of a function begins."""
    lines = map(itemgetter(2), code.co_lines())
    return max(filter(None, lines), default=0)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _end(lines: Sequence[str], last: int, indentation: str) -> int:
    """Return the number of lines before the first after `last` that is not indented more."""
    for number in range(last, len(lines)):
        text = lines[number].lstrip()
        if text and not text.startswith("#") and indentation.startswith(_indentation(lines[number])):
            return number
    return len(lines)


def owner_of(code: CodeType) -> str | None:
    """Return the innermost class around a function: `Model` of `make.<locals>.Model.fit.<locals>.step`."""
    parts = code.co_qualname.split(".")
    classes = [name for name, then in itertools.pairwise(parts) if "<locals>" not in (name, then)]
    return classes[-1] if classes else None
