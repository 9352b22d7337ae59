"""Find the user's functions that a graph comes from, with their source and generated code.

origins of operations: model.py:7, layers.py:30    ==>    sections: model.py `fit`, layers.py `Dense.call`
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from agc import autograph

from .graph_rows import Origins

LIBRARIES = f"{os.sep}site-packages{os.sep}"
Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Section(NamedTuple):
    """A function, or another piece of a file: its first and last line."""

    filename: str
    name: str
    first: int
    last: int


def sections(function: Callable[..., Any], places: Iterable[tuple[str, int]]) -> list[Section]:
    """Return the section of `function`, then those that contain the other places: user code, then libraries."""
    root = root_section(function)
    found = [] if root is None else [root]
    definitions: dict[str, list[tuple[str, Definition]]] = {}
    for filename, line in sorted(set(places), key=lambda place: (LIBRARIES in place[0], place)):
        if any(each.filename == filename and each.first <= line <= each.last for each in found):
            continue
        if filename not in definitions:
            definitions[filename] = list(_definitions(filename))
        section = _around(filename, line, definitions[filename])
        if section is not None:
            found.append(section)
    return found


def root_section(function: Callable[..., Any]) -> Section | None:
    """Return the section of a function, a method, a `functools.partial`, or an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    plain = inspect.unwrap(function)
    code = getattr(plain if hasattr(plain, "__code__") else type(plain).__call__, "__code__", None)
    if code is None:
        return None
    definitions = list(_definitions(code.co_filename))
    for name, node in definitions:
        if _first_line(node) == code.co_firstlineno or node.lineno == code.co_firstlineno:
            return Section(code.co_filename, name, _first_line(node), node.end_lineno or node.lineno)
    return _around(code.co_filename, code.co_firstlineno, definitions)


def _definitions(filename: str) -> Iterable[tuple[str, Definition]]:
    """Yield the functions of a file that are in no other function, with their qualified names."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, node = pending.pop(0)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield prefix + child.name, child
            elif isinstance(child, ast.ClassDef):
                pending.append((f"{prefix}{child.name}.", child))
            elif not isinstance(child, ast.expr):
                pending.append((prefix, child))


def _around(filename: str, line: int, definitions: list[tuple[str, Definition]]) -> Section | None:
    for name, node in definitions:
        first, last = _first_line(node), node.end_lineno or node.lineno
        if first <= line <= last:
            return Section(filename, name, first, last)
    lines = linecache.getlines(filename)
    if not 0 < line <= len(lines):
        return None
    try:
        statements = ast.parse("".join(lines)).body
    except SyntaxError:
        statements = []
    for statement in statements:
        if statement.lineno <= line <= (statement.end_lineno or line):
            return Section(filename, "", statement.lineno, statement.end_lineno or line)
    return Section(filename, "", line, line)


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _title(filename: str) -> str:
    """Return a file name as the page shows it; that of a library begins with its package.

    >>> _title(f"venv{LIBRARIES}nn.py")
    'nn.py'
    """
    return filename.rpartition(LIBRARIES)[2] if LIBRARIES in filename else autograph.shown_path(filename)


def source_as_json(section: Section, origins: Origins) -> dict[str, Any]:
    """Return the lines of a section; each is its own origin."""
    lines = linecache.getlines(section.filename)[section.first - 1 : section.last]
    return {
        "title": _title(section.filename),
        "name": section.name,
        "first": section.first,
        "lines": [line.rstrip("\r\n") for line in lines],
        "at": [origins.at(section.filename, number) for number in range(section.first, section.last + 1)],
    }


def code_as_json(section: Section, function: Callable[..., Any] | None, origins: Origins) -> dict[str, Any]:
    """Return the generated code of a section, or an explanation.

    The code is that of `function` itself if it is known. The other sections do not repeat its import line.
    """
    entry: dict[str, Any] = {"title": _title(section.filename), "name": section.name}
    try:
        if function is not None:
            listing = autograph.code_listing(function)
        elif section.name:
            text = "".join(linecache.getlines(section.filename))
            listing = autograph.source_listing(text, section.filename, section.name)
        else:
            return {**entry, "note": "Code outside of functions is not converted."}
    except autograph.ConversionError as error:
        return {**entry, "note": str(error)}
    at = [None if line is None else origins.at(section.filename, line) for line in listing.lines]
    lines = listing.text.splitlines()
    start = 0 if function is not None else next((i for i, line in enumerate(at) if line is not None), 0)
    return {**entry, "lines": lines[start:], "at": at[start:]}
