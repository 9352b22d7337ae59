"""Expressions as text, with the quotes of f-strings that a person would choose.

From Python 3.12 on an f-string may use its own quotes once more inside, and `ast.unparse` does so:

    f'{words['a']}'        ==>        f"{words['a']}"

Older Pythons reject the former. The text must not depend on the version, so the outer quotes are replaced by quotes
that do not occur inside.
"""

from __future__ import annotations

import ast
import copy
import re
import sys

QUOTES = ("'", '"', '"""', "'''")  # in the order in which Python 3.11 tries them
PLACE = re.compile(r"\0\d+\0")


def expression(tree: ast.AST) -> str:
    """Return the text of an expression.

    >>> print(expression(ast.parse("f\\"{d['a']}, {f'{x}'}\\"", mode="eval").body))
    f"{d['a']}, {f'{x}'}"
    """
    if sys.version_info < (3, 12) or not any(isinstance(node, ast.JoinedStr) for node in ast.walk(tree)):
        return ast.unparse(tree)
    strings = _Strings()
    return strings.filled(ast.unparse(strings.visit(copy.deepcopy(tree))))


class _Strings(ast.NodeTransformer):
    """Replaces f-strings by names, the innermost first. The names contain zero bytes, which no source has."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        node.value = self.visit(node.value)
        if node.format_spec is not None:  # a tree like an f-string's, but written without quotes
            self.generic_visit(node.format_spec)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Name:
        self.generic_visit(node)
        name = f"\0{len(self.texts)}\0"
        self.texts[name] = requoted(self.filled(ast.unparse(node)))
        return ast.Name(name)

    def filled(self, text: str) -> str:
        """Return the text with the values of its names."""
        return PLACE.sub(lambda name: self.texts[name[0]], text)


def requoted(text: str) -> str:
    """Return an f-string between quotes that do not occur inside, if such a text means the same.

    >>> requoted("f'{x}'"), requoted('f"it\\'s"')  # and f'{d['a']}', where Python reads that, is f"{d['a']}"
    ("f'{x}'", 'f"it\\'s"')
    """
    quote = text[1:4] if text[1:4] in QUOTES else text[1]
    inside = text[1 + len(quote) : -len(quote)]
    if quote not in inside:
        return text
    for other in QUOTES:
        if other not in inside and _is_same(text, candidate := f"f{other}{inside}{other}"):
            return candidate
    return text


def _is_same(text: str, candidate: str) -> bool:
    try:
        return ast.dump(ast.parse(candidate)) == ast.dump(ast.parse(text))
    except SyntaxError:
        return False
