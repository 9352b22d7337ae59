"""Expressions are printed as `ast.unparse` prints them."""

from __future__ import annotations

import ast

import pytest
from agc.autograph.syntax.expressions import expression

EXPRESSIONS = """
x | None | True | ... | 1.5e400 | -1 | 'it\\'s' | b'a' | u'a' | (yield) | (y := 1)
x.a.b | (1).real | (x + y).a | (lambda: 0).a | (x,) | () | (x, *y) | [x, (y, z)]
f() | f(*a, k=1, **k) | f((x for x in y)) | f((yield)) | (f or g)(x) | f(y := 2) | f(x)(y)[z].a
x[0] | x[1:2] | x[()] | x[a, *b] | x[a, 1:] | (x + y)[0] | x[lambda: 0] | (await x).a
lambda: 0 | lambda x, y: (x, y) | lambda x=1, /, *, y: x | lambda *a, **k: (yield) | lambda: lambda: x
"""


@pytest.mark.parametrize(
    "text", [part for line in EXPRESSIONS.strip().split("\n") for part in line.split(" | ")]
)
def test_expression_agrees_with_python(text: str) -> None:
    tree = ast.parse(text, mode="eval").body
    assert expression(tree) == ast.unparse(tree)
