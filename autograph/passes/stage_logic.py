"""Let a backend evaluate `and`, `or`, `not`, chained comparisons and conditional expressions.

    a and b                ==>     ag__.and_(a, lambda: b)
    not a                  ==>     ag__.not_(a)
    lo < x <= hi           ==>     ag__.and_(lo < x, lambda: x <= hi)
    lo < f(x) <= hi        ==>     ag__.compare(lo, '<', lambda: f(x), '<=', lambda: hi)
    x in (1, 2, 3)         ==>     ag__.in_(x, (1, 2, 3))          but `key in table` stays
    y if x > 0 else z      ==>     ag__.if_exp(x > 0, lambda: y, lambda: z)

Static tests (`x is None and …`) stay, and so does an operand that a lambda cannot contain (`yield`, `:=`,
`locals()`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from ..analysis.binding_time import IDENTITY, decided_early, holds_numbers, reads_own_frame, static
from ..syntax.template import Template
from ..syntax.tree_queries import SUSPENSIONS, at, contains, evolve, inside, is_call_of
from .explicit_super import SpellOutSuper
from .expression_pass import ExpressionPass

NOT = Template("$ag.not_($operand)")
IF_EXP = Template("$ag.if_exp($test, $then, $orelse)")
AND = Template("$ag.and_($first, $rest)")
OR = Template("$ag.or_($first, $rest)")
COMPARE = Template("$ag.compare($left, $links)")
IN = Template("$ag.in_($item, $container)")
NOT_IN = Template("$ag.not_in($item, $container)")
LAMBDA = Template("lambda: $value")

SYMBOLS: dict[type, str] = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}


class StageLogic(ExpressionPass):
    name = "stage_logic"
    concerns = frozenset({gast.BoolOp, gast.UnaryOp, gast.IfExp, gast.Compare})

    def visit_BoolOp(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or decided_early(node) or not self.movable(node.values[1:]):
            return new
        shape = AND if isinstance(node.op, gast.And) else OR
        first, rest = new.values[0], [self.later(value) for value in new.values[1:]]
        if shape is AND and is_call_of(first, self.context.ag, "and_"):
            # A chained comparison before the first `and` is merged with the operands that follow.
            return evolve(first, args=[*first.args, *rest])
        return shape.expression(node, ag=self.context.ag, first=first, rest=rest)

    def visit_UnaryOp(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or not isinstance(node.op, gast.Not):
            return new
        # In `not not x` the inner operand is analyzed already; a second analysis would take quadratic time.
        inner = isinstance(node.operand, gast.UnaryOp) and isinstance(node.operand.op, gast.Not)
        if (not is_call_of(new.operand, self.context.ag, "not_")) if inner else static(node.operand):
            return new
        return NOT.expression(node, ag=self.context.ag, operand=new.operand)

    def visit_IfExp(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or static(node.test) or not self.movable([node.body, node.orelse]):
            return new
        then, orelse = self.later(new.body), self.later(new.orelse)
        return IF_EXP.expression(node, ag=self.context.ag, test=new.test, then=then, orelse=orelse)

    def visit_Compare(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active:
            return new
        if len(node.ops) == 1:
            return self.membership(new, node.comparators[0])
        bools = all(isinstance(op, IDENTITY) for op in node.ops[:-1])
        if bools or not self.movable(node.comparators):
            return new
        if all(isinstance(middle, (gast.Name, gast.Constant)) for middle in new.comparators[:-1]):
            lefts = [new.left, *new.comparators[:-1]]
            parts = zip(lefts, new.ops, new.comparators, node.comparators, strict=True)
            pairs = [
                self.membership(evolve(new, left=left, ops=[op], comparators=[right]), container)
                for left, op, right, container in parts
            ]
            rest = [self.later(pair) for pair in pairs[1:]]
            return AND.expression(node, ag=self.context.ag, first=pairs[0], rest=rest)
        links: list[gast.expr] = []
        for op, right in zip(new.ops, new.comparators, strict=True):
            links += [at(gast.Constant(SYMBOLS[type(op)], None), node), self.later(right)]
        return COMPARE.expression(node, ag=self.context.ag, left=new.left, links=links)

    def membership(self, node: Any, container: gast.expr) -> Any:
        """Return `x in (1, 2)` as an operator call; `container` is the container before the pass."""
        if not isinstance(node.ops[0], (gast.In, gast.NotIn)) or not holds_numbers(container):
            return node
        shape = IN if isinstance(node.ops[0], gast.In) else NOT_IN
        return shape.expression(node, ag=self.context.ag, item=node.left, container=node.comparators[0])

    def movable(self, operands: Sequence[gast.expr]) -> bool:
        """Return whether all operands mean the same inside of a lambda."""
        if self.names.movable:
            return True
        if contains(operands, (*SUSPENSIONS, gast.NamedExpr)) or reads_own_frame(list(operands)):
            return False
        return not any(
            isinstance(node, gast.comprehension) and node.is_async for node in _comprehensions(operands)
        )

    def later(self, operand: gast.expr) -> gast.expr:
        if "super" in self.names.used and self.first is not None:
            spell_out = SpellOutSuper(self.context, self.registry)
            spell_out.first = self.first
            operand = spell_out.visit(operand)
        return LAMBDA.expression(operand, value=operand)


def _comprehensions(operands: Sequence[gast.expr]) -> list[gast.AST]:
    return [node for node in inside(operands) if isinstance(node, gast.comprehension)]
