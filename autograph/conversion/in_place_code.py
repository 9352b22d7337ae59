"""In-place conversion: the function object stays, and its code is replaced by the converted code.

    class Angle:                                      before       Angle.__add__.__code__   the user's
        def __add__(self, other): …            ==>    after        Angle.__add__.__code__   the converted code

Converted code converts what it calls. Operator methods, properties and the `key` of `sorted` are called by
Python or a library instead. Such a function is converted in place, so that every reference to it gets the
converted form. No class is changed, no decorator bypassed, and `is` returns what it returned before.

The closure of a function cannot grow, so the operators are a constant of the code.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .operator_constants import with_operators


def code_in_place(f: FunctionType, code: CodeType, operators: ModuleType) -> CodeType | None:
    """Return the converted code of `f` with the closure of `f`, or None if there is none; `code` may have another."""
    wanted = f.__code__.co_freevars
    if code.co_freevars != wanted:  # for example, a variable that only an annotation names
        from . import loader  # imports the compiler, which stored code does not need

        code = with_operators(
            loader.converted_code(f, lambda tree: _mention(tree.body[0], wanted)), operators
        )
    return code if code.co_freevars == wanted else None


def _mention(function: Any, names: tuple[str, ...]) -> None:
    """Make a function refer to the variables `names`, in code that the compiler eliminates."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    never = ast.parse(f"if False: {', '.join(names)}").body[0]
    first = function.body[0]
    for node in ast.walk(never):
        ast.copy_location(node, first)
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    cut = 1 if has_docstring else 0
    function.body = [*function.body[:cut], never, *function.body[cut:]]
