"""Conversion of a file that is not run: text in, a converted syntax tree out.

    import numpy as np                     import numpy as np
                                           from agc.autograph import operators as ag__
    def f(x):                     ==>
        while x > 1:                       def f(x):
            x = np.sqrt(x)                     …

Nothing is imported to find out what a name means: `np` is a library's because of where numpy would come from.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import gast

from . import policy
from .errors import ConversionError, Diagnostic, Where
from .options.features import Feature
from .passes import pipeline
from .passes.base import NO_FEATURES, Context
from .syntax import source
from .syntax.gast_bridge import Translation
from .syntax.nesting import deep_trees
from .syntax.positions import first_line
from .syntax.source import Definition
from .syntax.tree_queries import children

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
OPERATORS = "from agc.autograph import operators as"


class Converted(NamedTuple):
    """A tree before and after conversion."""

    translation: Translation
    after: gast.Module
    context: Context

    @property
    def before(self) -> gast.Module:
        tree: gast.Module = self.translation.tree
        return tree


def convert_module(text: str, filename: str, after: str | None = None) -> Converted:
    """Convert a module; the result imports the operators if it needs them."""
    tree = source.parse(text, filename)
    with deep_trees(filename):
        translation = Translation(tree)
        context = context_of(tree, text, filename)
        if is_converted(text):
            return Converted(translation, translation.tree, context)
        converted = with_operators(pipeline.run(translation.tree, context, after), context.ag)
        return Converted(translation, converted, context)


def convert_definition(
    definition: Definition, after: str | None = None, features: frozenset[Feature] = NO_FEATURES
) -> Converted:
    """Convert one function or class of a file, away from the rest of it."""
    tree = source.parse(definition.text, definition.filename)
    with deep_trees(definition.filename):
        translation = Translation(ast.Module([definition.statement()], []))
        context = context_of(tree, definition.text, definition.filename, definition.segment())
        context = context._replace(features=features)
        if is_converted(definition.text):
            return Converted(translation, with_operators(translation.tree, "ag__"), context)
        after_all = with_operators(pipeline.run(translation.tree, context, after), context.ag)
        return Converted(translation, after_all, context)


def find(text: str, filename: str, name: str) -> Definition:
    """Return the function or class of the dotted name `name` in a module."""
    file = source.File(filename, text, source.parse(text, filename))
    known = {d.qualname: d for d in sorted(file.definitions(), key=lambda d: first_line(d.node))}
    if name in known and name.rpartition(".")[2] != "<lambda>":
        return known[name]
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3) or [key for key in known if key.endswith(f".{name}")]
    fix = f"did you mean {' or '.join(near)}?" if near else ""
    raise ConversionError(Diagnostic("AGC105", f"there is no function `{name}`", Where(filename), fix=fix))


def context_of(tree: ast.Module, text: str, filename: str, segment: str | None = None) -> Context:
    """Return the static facts about the names in a file, or in a segment of it."""
    bound = module_names(tree)
    folder = os.path.dirname(os.path.abspath(filename))

    def is_library(name: str) -> bool:
        module = bound.get(name)
        return module is not None and policy.is_library_name(module, folder)

    def is_builtin(name: str) -> bool:
        # After `from m import *` any name may be m's.
        return hasattr(builtins, name) and name not in bound and "*" not in bound

    return Context(
        filename=filename,
        source=text,
        is_library=is_library,
        is_builtin=is_builtin,
        ag=fresh_name(segment or text),
    )


def module_names(tree: ast.Module) -> Mapping[str, str | None]:
    """Return the global names of a module; with the name of the module for what is only ever that import.

    >>> sorted(module_names(ast.parse("import numpy as np, os.path; x = 1; import x")).items())
    [('np', 'numpy'), ('os', 'os'), ('x', None)]
    """
    names: dict[str, str | None] = {}
    for name, module in _bindings(tree):
        names[name] = module if names.get(name, module) == module else None
    return names


def _bindings(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield from _bound_by(node)
        if isinstance(node, DEFINITIONS):
            yield from _declared_in(node)
        elif not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _declared_in(definition: ast.AST) -> Iterator[tuple[str, None]]:
    """Return the names of the `global` statements in a function or class; only statements hold those."""
    pending: list[Any] = [definition]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Global):
            yield from ((name, None) for name in node.names)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, field, ())


def _bound_by(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        yield from ((alias.asname or alias.name, None) for alias in node.names)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, None
    elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, None


def is_converted(text: str) -> bool:
    """Return whether a module is a printed conversion already: it imports the operators under our name."""
    return OPERATORS in text and re.search(rf"^{OPERATORS} ag__\d*$", text, re.MULTILINE) is not None


def fresh_name(text: str) -> str:
    """Return the name of the operators in code converted from `text`: `ag__`, or `ag__1` if a name begins with that.

    >>> fresh_name("x = 1"), fresh_name("ag__ = 1"), fresh_name("ag__version = 1")
    ('ag__', 'ag__1', 'ag__1')
    """
    if "ag__" not in text:  # a search by a regular expression takes far longer
        return "ag__"
    names = itertools.chain(["ag__"], (f"ag__{number}" for number in itertools.count(1)))
    return next(name for name in names if not re.search(rf"\b{name}", text))


def with_operators(tree: gast.Module, ag: str) -> gast.Module:
    """Return the module with an import of the operators, if it calls any, after docstring and __future__."""
    if not _mentions(tree, ag):
        return tree
    (statement,) = gast.parse(f"{OPERATORS} {ag}").body
    start = int(bool(tree.body) and _is_docstring(tree.body[0]))
    while start < len(tree.body) and _is_future_import(tree.body[start]):
        start += 1
    for node in gast.walk(statement):  # it has no line in the user's file
        for attribute in node._attributes:
            node.__dict__.pop(attribute, None)
    return gast.Module([*tree.body[:start], statement, *tree.body[start:]], tree.type_ignores)


def _mentions(tree: gast.AST, name: str) -> bool:
    """Return whether a name is in a tree. Depth first: most functions call an operator."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if type(node) is gast.Name and node.id == name:
            return True
        pending += children(node)
    return False


def _is_docstring(node: Any) -> bool:
    constant = isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)
    return constant and isinstance(node.value.value, str)


def _is_future_import(node: Any) -> bool:
    return isinstance(node, gast.ImportFrom) and node.module == "__future__"
