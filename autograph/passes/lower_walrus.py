"""Move assignments out of the test of a staged `while`, so that the variable can be loop state.

    while (line := read()):           test = line := read()
        use(line)             ==>     while test:
                                          use(line)
                                          test = line := read()

An operand of `and` or `or` that assigns becomes a block, which a backend can stage:

    if x > 0 and (y := f(x)):         test = x > 0
        use(y)                ==>     if test:
                                          test = y := f(x)
                                      if test:
                                          use(y)

A conditional expression that is all of a statement's value becomes an `if`, if one of its values assigns:

    y = (z := x) if x > 0 else 0      ==>     if x > 0:
                                                  value = z := x
                                              else:
                                                  value = 0
                                              y = value

So does an `and` or `or` that is all of a statement's value, if an operand assigns that may be skipped:

    y = x > 0 and (z := f(x))         ==>     value = x > 0
                                              if value:
                                                  value = z := f(x)
                                              y = value

Other tests of an `if` stay: they are evaluated before the block, in the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analysis.binding_time import BindingTimes, decided_early, static
from ..syntax.template import Template
from ..syntax.tree_queries import Statements, blocks, contains, copied, evolve, is_compound, with_blocks
from .base import FunctionPass

TEST = Template("$name = $test")
LOAD = Template("$name")
CHOICE = Template("""
    if $test:
        $then
    else:
        $orelse
""")
TRUTH = Template("not not $value")
NOT = Template("not $value")
CHECK = Template("""
    if $test:
        $later
""")
AND = Template("""
    if $name:
        $later
""")
OR = Template("""
    if not $name:
        $later
""")


class LowerWalrus(FunctionPass):
    name = "lower_walrus"
    emits = frozenset({gast.If, gast.UnaryOp})

    def is_concerned(self) -> bool:
        return self.names.walrus

    def function(self, node: Any) -> Any:
        staging = self.staging(node)
        return evolve(node, body=self.walk(node.body, staging))

    def walk(self, body: Statements, staging: BindingTimes) -> Statements:
        return [new for statement in body for new in self.statement(statement, staging)]

    def statement(self, statement: Any, staging: BindingTimes) -> Statements:
        if not is_compound(statement):
            return self.walk(self.chosen(statement), staging) if chooses(statement) else [statement]
        new = with_blocks(statement, [self.walk(part, staging) for part in blocks(statement)])
        if type(new) not in (gast.If, gast.While) or statement not in staging:
            return [new]
        if not (assigns_late(new.test) if isinstance(new, gast.If) else contains(new.test, gast.NamedExpr)):
            return [new]
        name = self.names.fresh("test")
        evaluate = evaluated(name, new.test)
        new = evolve(new, test=LOAD.expression(new.test, name=name))
        if isinstance(new, gast.While):
            new = evolve(new, body=new.body + list(map(copied, evaluate)))
        return [*evaluate, new]

    def chosen(self, statement: Any) -> Statements:
        """Return statements that choose the value of a statement, and then run it with that value."""
        choice = statement.value
        if isinstance(choice, gast.BoolOp) and isinstance(statement, gast.Expr):
            return self.unused(statement)
        name = self.names.fresh("value")
        if isinstance(choice, gast.BoolOp):
            chosen = evaluated(name, choice, as_value)
        else:
            then, orelse = (TEST(part, name=name, test=part) for part in (choice.body, choice.orelse))
            chosen = CHOICE(choice, test=choice.test, then=then, orelse=orelse)
        return [*chosen, evolve(statement, value=LOAD.expression(choice, name=name))]

    def unused(self, statement: Any) -> Statements:
        """Return an `if` that evaluates the operands of an `and` or `or`, whose value is not used."""
        first, *rest = statement.value.values
        evaluate: Statements = []
        if assigns_late(first):
            name = self.names.fresh("test")
            evaluate, first = evaluated(name, first), LOAD.expression(first, name=name)
        value = rest[0] if len(rest) == 1 else evolve(statement.value, values=rest)
        test = first if isinstance(statement.value.op, gast.And) else NOT.expression(first, value=first)
        return [*evaluate, *CHECK(statement, test=test, later=[evolve(statement, value=value)])]


def chooses(statement: Any) -> bool:
    """Return whether the value of a statement is an expression that decides and assigns on one path only."""
    choice = statement.value if isinstance(statement, (gast.Assign, gast.Return, gast.Expr)) else None
    return (assigns_late(choice) and not decided_early(choice)) or (
        isinstance(choice, gast.IfExp)
        and not static(choice.test)
        and contains([choice.body, choice.orelse], gast.NamedExpr)
    )


def assigns_late(test: Any) -> bool:
    """Return whether an expression is an `and` or `or` with a walrus in an operand that may be skipped."""
    return isinstance(test, gast.BoolOp) and (
        contains(test.values[1:], gast.NamedExpr) or assigns_late(test.values[0])
    )


def as_truth(test: Any) -> Any:
    """Return the test converted to bool, so that the variable has the same type for each deciding operand."""
    if isinstance(test, (gast.Compare, gast.UnaryOp)) or assigns_late(test):
        return test
    if isinstance(test, gast.BoolOp) and all(
        isinstance(part, (gast.Compare, gast.UnaryOp)) for part in test.values
    ):
        return test
    return TRUTH.expression(test, value=test)


def as_value(operand: Any) -> Any:
    return operand


def evaluated(name: str, test: Any, convert: Callable[[Any], Any] = as_truth) -> Statements:
    """Return statements that assign the value of `test`, with converted operands, to the variable `name`."""
    if not assigns_late(test):
        return TEST(test, name=name, test=convert(test) if isinstance(test, gast.BoolOp) else test)
    first, *rest = test.values
    later = rest[0] if len(rest) == 1 else evolve(test, values=rest)
    shape = AND if isinstance(test.op, gast.And) else OR
    return [
        *evaluated(name, convert(first), convert),
        *shape(test, name=name, later=evaluated(name, convert(later), convert)),
    ]
