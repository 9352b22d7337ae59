"""Converted code as text that stands by itself.

from agc.autograph import operators as ag__

def f(x):
    …
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import gast

from . import static
from .live import loader
from .live.conversion import function_behind
from .options.features import Feature
from .passes import pipeline
from .passes.base import NO_FEATURES
from .syntax import source
from .syntax.tree import deep_trees
from .syntax.unparse import unparse


def function_text(f: Callable[..., Any] | type, features: frozenset[Feature] = NO_FEATURES) -> str:
    """The converted text of a function or class that is there."""
    with deep_trees():
        if isinstance(f, type):
            return unparse(static.convert_definition(source.find_class(f), features=features).after)
        function = function_behind(f)
        definition = source.find(function)
        context = loader.live_context(function, definition, features)
        tree = gast.ast_to_gast(ast.Module([undecorated(definition.statement())], []))
        return unparse(static.with_operators(pipeline.run(tree, context), context.ag))


def undecorated(statement: ast.stmt) -> ast.stmt:
    """The function itself, without what its decorators make of it."""
    fields = dict(ast.iter_fields(statement))
    if "decorator_list" in fields:
        fields["decorator_list"] = []
    return ast.copy_location(type(statement)(**fields), statement)


def module_text(text: str, filename: str, after: str | None, function: str | None, annotate: bool) -> str:
    """The converted text of a module, or of one of its functions."""
    comments = text if annotate else None
    with deep_trees():
        if function is not None:
            definition = static.find(text, filename, function)
            converted = unparse(static.convert_definition(definition, after).after, comments)
            return imports_of(text, definition.node) + converted
        if static.is_converted(text):
            return text
        return heading(text) + unparse(static.convert_module(text, filename, after).after, comments)


def imports_of(text: str, node: ast.AST) -> str:
    """The module's own imports that a definition in it refers to, so that it stands by itself.

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
    """The comments at the top of a file: an interpreter line, an encoding, a licence.

    >>> heading("#!/usr/bin/env python\\n# mine\\n\\nx = 1  # one")
    '#!/usr/bin/env python\\n# mine\\n\\n'
    """
    lines = text.splitlines(keepends=True)
    top = list(takewhile(lambda line: line.startswith("#") or not line.strip(), lines))
    return "".join(top) if any(line.strip() for line in top) else ""
