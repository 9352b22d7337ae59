"""A function that becomes its own converted form: the object stays, its code is exchanged.

    class Angle:                                      before       Angle.__add__.__code__   the user's
        def __add__(self, other): …            ==>    afterwards   Angle.__add__.__code__   the converted code

Converted code converts what it calls. What Python calls by itself, or a library, never passes there: operator
methods, properties, the `key` of `sorted`. Such a function is converted where it is, so that whoever holds it
holds the converted form: no class is changed, no decorator bypassed, and `is` says what it said before.

The closure of a function cannot grow, so the code has the operators among its constants.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType, ModuleType
from typing import Any

from . import loader
from .operator_constants import with_operators


def code_in_place(f: FunctionType, operators: ModuleType) -> CodeType | None:
    """The converted code for `f.__code__`; None if it cannot have the closure of `f`."""
    wanted = f.__code__.co_freevars

    code = loader.converted_code(f, halves=True)
    if code.co_freevars != wanted:  # a variable that only an annotation names, for instance
        code = loader.converted_code(f, lambda tree: _mention(tree.body[0], wanted), halves=True)
    return with_operators(code, operators) if code.co_freevars == wanted else None


def _mention(function: Any, names: tuple[str, ...]) -> None:
    """Let a function refer to variables around it, in code that is not even compiled."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    never = ast.parse(f"if False: {', '.join(names)}").body[0]
    first = function.body[0]
    for node in ast.walk(never):
        ast.copy_location(node, first)
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    cut = 1 if has_docstring else 0
    function.body = [*function.body[:cut], never, *function.body[cut:]]
