"""Print expressions as code, as `ast.unparse` does, but in less time.

    Call(Attribute(Name('ag__'), 'not_'), [Name('stop')])     ==>     ag__.not_(stop)

Generated code consists mostly of names, calls, tuples, and lambdas, which need no parentheses around their parts.
`ast.unparse` prints all other expressions. It would visit each node in several context managers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import fstring_quotes

OPERANDS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)  # before `.`, `(` and `[` without parentheses
_LITERALS = (str, bool, type(None))
UPDATES = {
    "Add": "+=",
    "Sub": "-=",
    "Mult": "*=",
    "MatMult": "@=",
    "Div": "/=",
    "FloorDiv": "//=",
    "Mod": "%=",
    "Pow": "**=",
    "LShift": "<<=",
    "RShift": ">>=",
    "BitAnd": "&=",
    "BitXor": "^=",
    "BitOr": "|=",
}
"""The symbols of augmented assignments, by the names of the operators' nodes in `ast` and gast."""


def expression(tree: Any) -> str:
    """Return the text of an expression.

    >>> expression(ast.parse("f ( x , key = lambda a,b : a+b ) [ 0 ]", mode="eval").body)
    'f(x, key=lambda a, b: a + b)[0]'
    """
    write = _WRITERS.get(type(tree))
    text = write(tree) if write is not None else None
    return fstring_quotes.expression(tree) if text is None else text


def _constant(tree: ast.Constant) -> str | None:
    return repr(tree.value) if type(tree.value) in _LITERALS and tree.kind is None else None


def _attribute(tree: ast.Attribute) -> str | None:
    return f"{expression(tree.value)}.{tree.attr}" if type(tree.value) in OPERANDS else None


def _subscript(tree: ast.Subscript) -> str | None:
    if type(tree.value) not in OPERANDS or isinstance(tree.slice, (ast.Tuple, ast.Slice)):
        return None
    return f"{expression(tree.value)}[{expression(tree.slice)}]"


def _call(tree: ast.Call) -> str | None:
    if type(tree.func) not in OPERANDS:
        return None
    return f"{expression(tree.func)}({', '.join(map(expression, (*tree.args, *tree.keywords)))})"


def _keyword(tree: ast.keyword) -> str:
    return f"{tree.arg}={expression(tree.value)}" if tree.arg else f"**{expression(tree.value)}"


def _tuple(tree: ast.Tuple) -> str:
    comma = "," if len(tree.elts) == 1 else ""
    return f"({', '.join(map(expression, tree.elts))}{comma})"


def _lambda(tree: ast.Lambda) -> str:
    arguments = expression(tree.args)
    return f"lambda{' ' if arguments else ''}{arguments}: {expression(tree.body)}"


def _arguments(tree: ast.arguments) -> str | None:
    special = tree.defaults or tree.posonlyargs or tree.kwonlyargs or tree.vararg or tree.kwarg
    if special or any(argument.annotation for argument in tree.args):
        return None
    return ", ".join([argument.arg for argument in tree.args])


_WRITERS: dict[type, Callable[[Any], str | None]] = {
    ast.Name: lambda tree: tree.id,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.keyword: _keyword,
    ast.Tuple: _tuple,
    ast.Lambda: _lambda,
    ast.arguments: _arguments,
}
"""The printers of kinds of nodes; None as a result means that the node needs `ast.unparse`."""
