"""Lower `continue` to structure: the skipped statements move into the other branch.

    for x in xs:                  for x in xs:
        if x < 0:                     if not x < 0:
            continue      ==>             total += x
        total += x

A flag `skip` is needed only where control flow joins, as shown in `jump_lowering.py`.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import BindingTimes
from ..analysis.reachability import find_jumps
from ..syntax.template import Template
from ..syntax.tree_queries import DEFINITIONS, LOOPS, Statements, at, evolve
from .base import FunctionPass
from .jump_lowering import EMITS, Jumps

SKIP = Template("$flag = True")


class LowerContinue(FunctionPass):
    name = "lower_continue"
    erases = gast.Continue
    concerns = frozenset({gast.Continue})
    emits = EMITS

    def function(self, node: Any) -> Any:
        staging = self.staging(node)
        if not staging.crossing:
            return node
        body = self.walk(node.body, staging)
        return evolve(node, body=body) if body is not node.body else node

    def statement(self, statement: Any, staging: BindingTimes) -> Statements:
        if id(statement) not in staging.crossing or isinstance(statement, DEFINITIONS):
            return [statement]
        new = self.with_walked_blocks(statement, staging)
        # Inner loops are lowered already, so each remaining `continue` belongs to this loop.
        jumps = find_jumps(new.body, gast.Continue) if isinstance(new, LOOPS) else set()
        if not jumps & staging.crossing:
            return [new]
        skips = _Skips(self, jumps, lambda: self.names.fresh("skip"))
        return [evolve(new, body=skips.lower(new.body) or [at(gast.Pass(), statement)])]


class _Skips(Jumps):
    def jump(self, statement: gast.stmt, flagged: bool) -> Statements:
        return SKIP(statement, flag=self.flag) if flagged else []
