"""Let a backend check the test of an `assert`.

    assert x > 0, f(x)     ==>     assert ag__.check(x > 0, lambda: f(x)), f(x)

For Python values `check` returns the test, so the statement behaves as in Python.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import static
from ..syntax.template import Template
from ..syntax.tree_queries import SUSPENSIONS, contains, evolve
from .expression_pass import ExpressionPass

CHECK = Template("$ag.check($test)")
CHECK_SAYING = Template("$ag.check($test, lambda: $message)")


class StageAsserts(ExpressionPass):
    name = "stage_asserts"
    concerns = frozenset({gast.Assert})

    def visit_Assert(self, node: Any) -> Any:
        if not self.active or static(node.test):
            return node
        ag = self.context.ag
        if node.msg is None or contains(node.msg, (*SUSPENSIONS, gast.NamedExpr)):
            return evolve(node, test=CHECK.expression(node.test, ag=ag, test=node.test))
        return evolve(node, test=CHECK_SAYING.expression(node.test, ag=ag, test=node.test, message=node.msg))

    # An expression cannot contain an assert.
    def visit_Expr(self, node: Any) -> Any:
        return node

    visit_Assign = visit_AugAssign = visit_AnnAssign = visit_Return = visit_Raise = visit_Delete = visit_Expr  # noqa: N815
    visit_Lambda = visit_Call = visit_Compare = visit_BoolOp = visit_Expr  # noqa: N815
