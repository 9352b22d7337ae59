"""Run code after any prefix of the pipeline, and note everything a user could see of it."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
from collections.abc import Callable
from typing import Any

import gast
from agc.autograph import operators
from agc.autograph.options.features import Feature
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from agc.autograph.syntax.nesting import deep_trees
from agc.autograph.syntax.unparse import unparse

PREFIXES = [step.name for step in pipeline.PIPELINE]


def converted_text(source: str, after: str | None = None) -> str:
    """The text after a pass. A comment at its top, `# features: LISTS`, asks for optional features."""
    asked = source.partition("# features: ")[2].partition("\n")[0].split(", ")
    features = frozenset(Feature[name] for name in asked if name)
    return unparse(pipeline.run(gast.parse(source), Context(source=source, features=features), after))


def module_of(text: str, name: str = "<original>") -> dict[str, Any]:
    """Execute module text in a fresh namespace where generated code finds its operators."""
    code = operators.converter.adopt(compile(text, name, "exec", dont_inherit=True))
    namespace = {"ag__": operators, "__name__": "corpus"}
    exec(code, namespace)
    return namespace


def module_of_tree(tree: gast.Module, name: str) -> dict[str, Any]:
    """The same for a tree that has not been printed."""
    with deep_trees():
        code = compile(ast.fix_missing_locations(gast.gast_to_ast(tree)), name, "exec", dont_inherit=True)
    operators.converter.adopt(code)
    namespace = {"ag__": operators, "__name__": "corpus"}
    exec(code, namespace)
    return namespace


def outcome(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, ...]:
    """What a call shows: its result or exception, what it printed, and its arguments afterwards."""
    args = copy.deepcopy(args)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            end = f"returned {f(*args)!r}"
        except Exception as error:
            end = f"raised {type(error).__name__}: {error}"
    return end, out.getvalue(), repr(args)
