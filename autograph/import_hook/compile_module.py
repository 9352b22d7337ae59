"""Compile the source of a whole module to converted code, for an import or `agc run`.

import model                     the same module, at the same lines, with the same names in it:
def f(x):                 ==>    the operators are a constant of the code
    while x > 1: …
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import NamedTuple

from .. import transpile
from ..conversion.loader import Renaming, settled
from ..conversion.multiversioning import with_both_versions
from ..conversion.operator_constants import without_name
from ..introspection.garbage import rare_collections
from ..passes import pipeline
from ..syntax import source
from ..syntax.gast_bridge import Translation
from ..syntax.nesting import deep_trees


class ModuleCode(NamedTuple):
    """The code of a module, without the operators yet, and the modules that the conversion queried."""

    code: CodeType
    imports: frozenset[str]


def convert(text: str, filename: str) -> ModuleCode:
    """Convert and compile a module."""
    with rare_collections():
        return _converted(text, filename)


def _converted(text: str, filename: str) -> ModuleCode:
    tree = source.parse(text, filename)
    if transpile.is_converted(text):
        return ModuleCode(_compiled(tree, filename), frozenset())
    context = transpile.context_of(tree, text, filename)
    with deep_trees(filename):
        translation = Translation(tree)
        after = pipeline.run(translation.tree, context)
        new, generated, lambdas = settled(
            translation, with_both_versions(translation, after, context.ag), context
        )
        without_name(translation.new, context.ag)
        code = _compiled(new, filename)
        named = Renaming(generated, lambdas)(code, code.co_name)
    imports = frozenset(name for name in transpile.module_names(tree).values() if name is not None)
    return ModuleCode(named, imports)


def _compiled(tree: ast.Module, filename: str) -> CodeType:
    with source.unwarned():
        return compile(tree, filename, "exec", dont_inherit=True)
