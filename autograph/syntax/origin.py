"""Positions: from nodes and code objects to the place in the user's file that an error message shows.

    Name(id='x', lineno=3, col_offset=4)   ==>   Where('train.py', line=3, column=5, source='    x = 1')

Python counts columns of the syntax tree in bytes from 0; people and editors count characters from 1.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from agc.autograph.errors import Where


def where_of(node: Any, filename: str, text: str, function: str = "") -> Where:
    """The place of a syntax tree node (ast or gast) in the file `filename` with the contents `text`.

    >>> node = ast.parse("é = boom").body[0].value
    >>> where_of(node, "a.py", "é = boom")
    Where(file='a.py', line=1, column=5, end_column=9, function='', source='é = boom')
    """
    line = getattr(node, "lineno", 0) or 0
    lines = text.splitlines()
    if not 0 < line <= len(lines):
        return Where(filename, line, function=function)
    source = lines[line - 1]
    start = characters(source, node.col_offset)
    end_line, end_offset = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    # What goes on over several lines is marked to the end of its first.
    end = characters(source, end_offset) if end_line == line and end_offset else len(source.rstrip())
    return Where(filename, line, start + 1, end + 1, function, source)


def characters(line: str, offset: int) -> int:
    """How many characters of `line` are in its first `offset` bytes.

    >>> characters("naïve = 1", 6)
    5
    """
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def start_of(code: CodeType) -> Where:
    """Where the function with this code begins."""
    return Where(code.co_filename, code.co_firstlineno, function=name_of(code))


def name_of(code: CodeType) -> str:
    """The name of a function as its author would say it: `Model.fit`, not `make.<locals>.Model.fit`."""
    return code.co_qualname.rpartition("<locals>.")[2]


def first_line(node: ast.AST) -> int:
    """The line on which Python says that a definition starts: that of its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    own: int = node.lineno  # type: ignore[attr-defined]
    return min([own, *(decorator.lineno for decorator in decorators)])
