"""With Feature.EQUALITY_OPERATORS, let a backend see each `==` and `!=`.

    x == y          ==>     ag__.eq(x, y)
    x != None       ==>     ag__.ne(x, None)

Without the feature both stay Python: tensors compare element-wise. A chain such as `x == y == z` stays unchanged."""

from __future__ import annotations

from typing import Any

import gast

from ..options.features import Feature
from ..syntax.template import Template
from .expression_pass import ExpressionPass

EQUAL = {gast.Eq: Template("$ag.eq($left, $right)"), gast.NotEq: Template("$ag.ne($left, $right)")}


class StageEquality(ExpressionPass):
    name = "stage_equality"

    def run(self, tree: gast.Module) -> gast.Module:
        return super().run(tree) if Feature.EQUALITY_OPERATORS in self.context.features else tree

    def visit_Compare(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or len(node.ops) != 1 or type(node.ops[0]) not in EQUAL:
            return new
        shape = EQUAL[type(node.ops[0])]
        return shape.expression(node, ag=self.context.ag, left=new.left, right=new.comparators[0])
