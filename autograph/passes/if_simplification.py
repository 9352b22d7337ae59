"""Simplify an `if` after statements have moved between its branches.

if x is None:                 if x is not None:
    pass             ==>          A
else:
    A
"""

from __future__ import annotations

import gast

from ..syntax.template import Template
from ..syntax.tree_queries import Statements, at, evolve

OPPOSITES = {gast.Is: gast.IsNot, gast.IsNot: gast.Is, gast.In: gast.NotIn, gast.NotIn: gast.In}

NEGATED = Template("not $test")


def choice(statement: gast.If, body: Statements, orelse: Statements) -> gast.If:
    """Return the `if` with new branches; negate the test if the first branch is empty."""
    if body or not orelse:
        return evolve(statement, body=body or nothing(statement), orelse=orelse)
    return evolve(statement, test=negated(statement.test), body=orelse, orelse=[])


def negated(test: gast.expr) -> gast.expr:
    """Return `not test`, simplified for `not`, `is` and `in`."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITES:
        return evolve(test, ops=[OPPOSITES[type(test.ops[0])]()])
    return NEGATED.expression(test, test=test)


def nothing(origin: gast.AST) -> Statements:
    """Return a `pass` statement for an otherwise empty block."""
    return [at(gast.Pass(), origin)]
