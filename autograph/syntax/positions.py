"""Positions: from nodes and code objects to the place in the user's file that an error message shows.

    Name(id='x', lineno=3, col_offset=4)   ==>   Where('train.py', line=3, column=5, source='    x = 1')

Python counts columns of the syntax tree in bytes from 0; people and editors count characters from 1.
"""

from __future__ import annotations

import ast
import functools
import re
from operator import itemgetter
from types import CodeType
from typing import Any

from agc.autograph.errors import Where


def where_of(node: Any, filename: str, text: str) -> Where:
    """Return the place of a syntax tree node (ast or gast) in the file `filename` with the contents `text`.

    >>> node = ast.parse("é = boom").body[0].value
    >>> where_of(node, "a.py", "é = boom")
    Where(file='a.py', line=1, column=5, end_column=9, function='', source='é = boom')
    """
    line = getattr(node, "lineno", 0) or 0
    lines = lines_of(text)
    if not 0 < line <= len(lines):
        return Where(filename, line)
    source = lines[line - 1].rstrip("\r\n")
    start = characters(source, node.col_offset)
    end_line, end_offset = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    # A node on several lines is marked to the end of its first line.
    end = characters(source, end_offset) if end_line == line and end_offset else len(source.rstrip())
    return Where(filename, line, start + 1, end + 1, source=source)


@functools.lru_cache(maxsize=8)  # a file is split once, not once for each of its functions
def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a program, each with its end. Python's lines do not end at a form feed, as
    `splitlines` has it.

    >>> lines_of("a\\x0c\\r\\nb")
    ('a\\x0c\\r\\n', 'b')
    """
    return tuple(re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text))


def characters(line: str, offset: int) -> int:
    """Return the number of characters in the first `offset` bytes of `line`.

    >>> characters("naïve = 1", 6)
    5
    """
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def start_of(code: CodeType) -> Where:
    """Return the position at which the function with this code begins."""
    return Where(code.co_filename, code.co_firstlineno, function=name_of(code))


def name_of(code: CodeType) -> str:
    """Return the name of a function as its author would say it: `Model.fit`, not `make.<locals>.Model.fit`."""
    return code.co_qualname.rpartition("<locals>.")[2]


def first_line(node: ast.AST) -> int:
    """Return the line on which a definition starts according to Python: that of its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    own: int = node.lineno  # type: ignore[attr-defined]
    return min([own, *(decorator.lineno for decorator in decorators)]) if decorators else own


Extent = tuple[int, int, int, int]  # line and column of the start, line and column of the end


def extent_of(node: Any) -> Extent:
    """Return the start and the end of a node."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def extent_of_code(code: CodeType) -> Extent | None:
    """Return the start and the end of the instructions of a function; None with `python -X no_debug_ranges`."""
    # The instructions that Python adds at the start of a function have no columns, or those of an empty range. Most
    # other instructions share their position with several.
    positions: list[Any] = [*filter(_end_column, dict.fromkeys(code.co_positions()))]
    if not positions:
        return None
    lines, end_lines, columns, end_columns = zip(*positions, strict=True)
    return *min(zip(lines, columns, strict=True)), *max(zip(end_lines, end_columns, strict=True))


_end_column = itemgetter(3)  # of the place of an instruction
