"""An `if` as a person would write it, when statements have moved from one branch to the other.

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
    """The `if` with new branches; turned round when nothing is left of the first."""
    if body or not orelse:
        return evolve(statement, body=body or nothing(statement), orelse=orelse)
    return evolve(statement, test=negated(statement.test), body=orelse, orelse=[])


def negated(test: gast.expr) -> gast.expr:
    """`not test`; `is` and `in` have opposites of their own."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITES:
        return evolve(test, ops=[OPPOSITES[type(test.ops[0])]()])
    return NEGATED.expression(test, test=test)


def nothing(origin: gast.AST) -> Statements:
    """What stands where Python wants a statement and none is left."""
    return [at(gast.Pass(), origin)]
