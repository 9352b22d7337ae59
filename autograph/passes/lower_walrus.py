"""Take assignments out of the test of a staged `while`, so that the variable can be state of the loop.

    while (line := read()):           test = line := read()
        use(line)             ==>     while test:
                                          use(line)
                                          test = line := read()

An `if` needs nothing: its test is evaluated before the block, in the same function.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.staticness import Staging
from ..syntax.template import Template
from ..syntax.tree import BLOCK_FIELDS, DEFINITIONS, Statements, blocks, contains, copied, evolve, with_blocks
from .base import FunctionPass

TEST = Template("$name = $test")
LOAD = Template("$name")


class LowerWalrus(FunctionPass):
    name = "lower_walrus"

    def function(self, node: Any) -> Any:
        if not self.names.walrus:
            return node
        staging = Staging(node, self.names.plain)
        return evolve(node, body=self.walk(node.body, staging))

    def walk(self, body: Statements, staging: Staging) -> Statements:
        return [new for statement in body for new in self.statement(statement, staging)]

    def statement(self, statement: Any, staging: Staging) -> Statements:
        if isinstance(statement, (*DEFINITIONS, gast.ClassDef)) or type(statement) not in BLOCK_FIELDS:
            return [statement]
        new = with_blocks(statement, [self.walk(part, staging) for part in blocks(statement)])
        if not (isinstance(new, gast.While) and statement in staging and contains(new.test, gast.NamedExpr)):
            return [new]
        name = self.names.fresh("test")
        evaluate = TEST(new.test, name=name, test=new.test)
        again = TEST(new.test, name=name, test=copied(new.test))
        return [*evaluate, evolve(new, test=LOAD.expression(new.test, name=name), body=new.body + again)]
