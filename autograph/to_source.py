"""Converted code as text that runs by itself.

from agc.autograph import operators as ag__

def f(x):
    …
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any, NamedTuple

from . import transpile
from .conversion import loader
from .conversion.callables import underlying_function
from .options.features import Feature
from .passes import pipeline
from .passes.base import NO_FEATURES
from .syntax import source
from .syntax.gast_bridge import Translation
from .syntax.layout import Layout
from .syntax.line_origins import Lines, line_origins
from .syntax.nesting import deep_trees
from .syntax.unparse import text_of, unparse


class CodeListing(NamedTuple):
    """Generated code: its text, and for each line of it the line of the user's file, or None."""

    text: str
    lines: Lines


def function_text(f: Callable[..., Any] | type, features: frozenset[Feature]) -> str:
    """Return the converted text of a function or class."""
    return printed(_converted(f, features), whole=False)


def function_listing(f: Callable[..., Any] | type) -> CodeListing:
    """Return the converted text of a function or class, with the origin of each line."""
    return listed(_converted(f, NO_FEATURES), whole=False)


def _converted(f: Callable[..., Any] | type, features: frozenset[Feature]) -> transpile.Converted:
    if isinstance(f, type):
        return transpile.convert_definition(source.find_class(f), features=features)
    function = underlying_function(f)
    definition = source.find(function)
    context = loader.live_context(function, definition, features)
    with deep_trees(definition.filename):
        translation = Translation(ast.Module([undecorated(definition.statement())], []))
        after = transpile.with_operators(pipeline.run(translation.tree, context), context.ag)
    return transpile.Converted(translation, after, context)


def printed(converted: transpile.Converted, *, whole: bool = True, annotate: bool = False) -> str:
    """Return the text of a converted tree, which this uses up: the user's own where nothing has changed.

    With `annotate` all code is printed anew, below the lines that it came from."""
    _, after, context = converted
    with deep_trees(context.filename):
        if annotate:
            return compilable(heading(context.source) * whole + unparse(after, context.source))
    return _tree_and_text(converted, whole)[1]


def listed(converted: transpile.Converted, *, whole: bool = True) -> CodeListing:
    """Return the text of a converted tree, which this uses up, with the origin of each line."""
    tree, text = _tree_and_text(converted, whole)
    return CodeListing(text, line_origins(tree, text))


def _tree_and_text(converted: transpile.Converted, whole: bool) -> tuple[ast.AST, str]:
    translation, after, context = converted
    with deep_trees(context.filename):
        tree = translation.back(after)
        return tree, compilable(text_of(tree, Layout(context.source, translation, whole)))


def compilable(text: str) -> str:
    """Return the text itself, if Python can read it. What it can run is not always what it can read from a file."""
    if _is_shallow(text):
        return text
    try:
        with source.unwarned():
            ast.parse(text)
    except SyntaxError as error:
        if "nested" not in str(error):
            raise
        raise MemoryError from None
    return text


_SHALLOW = 50
"""A depth of brackets that Python can read: it can read four times as many."""

_DEEP_BLOCK = re.compile(r"^[ \t]{100}", re.MULTILINE)
"""The indentation of blocks that Python may be unable to read: it can read 100 levels."""

_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def _is_shallow(text: str) -> bool:
    """Return whether neither brackets nor blocks are nested deeply, with the brackets in strings and comments."""
    depths = itertools.accumulate(map(_BRACKETS.__getitem__, re.findall(r"[()\[\]{}]", text)))
    return max(depths, default=0) < _SHALLOW and not _DEEP_BLOCK.search(text)


def undecorated(statement: ast.stmt) -> ast.stmt:
    """Return the function itself, without what its decorators make of it."""
    fields = dict(ast.iter_fields(statement))
    if "decorator_list" in fields:
        fields["decorator_list"] = []
    return ast.copy_location(type(statement)(**fields), statement)


def module_text(text: str, filename: str, after: str | None, function: str | None, annotate: bool) -> str:
    """Return the converted text of a module, or of one of its functions."""
    if function is not None:
        definition = transpile.find(text, filename, function)
        converted = transpile.convert_definition(definition, after)
        return imports_of(text, definition.node) + printed(converted, whole=False, annotate=annotate)
    converted = transpile.convert_module(text, filename, after)
    unchanged = converted.after is converted.before and not annotate
    return text if unchanged or transpile.is_converted(text) else printed(converted, annotate=annotate)


def source_listing(text: str, filename: str, function: str) -> CodeListing:
    """Return the converted text of a function of a module, with the origin of each line."""
    return listed(transpile.convert_definition(transpile.find(text, filename, function)), whole=False)


def imports_of(text: str, node: ast.AST) -> str:
    """Return the module's own imports that a definition in it refers to, so that it runs by itself.

    >>> tree = ast.parse("import os, sys as system\\ndef f(): return system.argv")
    >>> imports_of("import os, sys as system", tree.body[1])
    'import sys as system\\n'
    """
    used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    lines = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            lines.append(ast.unparse(statement))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [a for a in statement.names if (a.asname or a.name.partition(".")[0]) in used]
            if names:
                fields = {**dict(ast.iter_fields(statement)), "names": names}
                lines.append(ast.unparse(type(statement)(**fields)))
    return "".join(f"{line}\n" for line in lines)


def heading(text: str) -> str:
    """Return the comments at the top of a file: an interpreter line, an encoding, a license.

    >>> heading("#!/usr/bin/env python\\n# mine\\n\\nx = 1  # one")
    '#!/usr/bin/env python\\n# mine\\n\\n'
    """
    lines = text.splitlines(keepends=True)
    top = list(takewhile(lambda line: line.startswith("#") or not line.strip(), lines))
    return "".join(top) if any(line.strip() for line in top) else ""
