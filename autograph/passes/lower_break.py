"""Lower `break` to a flag that the loop tests before each iteration.

    for x in xs:              stop = False
        if f(x):              for x in ag__.until(xs, lambda: stop):
            break       ==>       if f(x):
        g(x)                          stop = True
    else:                         else:
        h()                           g(x)
                              if not stop:
                                  h()

An `else` block without a `break` simply follows the loop.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import BindingTimes
from ..analysis.reachability import find_jumps
from ..syntax.template import Template
from ..syntax.tree_queries import LOOPS, Statements, evolve, is_compound
from .base import FunctionPass
from .jump_lowering import EMITS, WATCHED, Jumps

STOP = Template("$flag = True")
ELSE = Template("""
    if not $flag:
        $orelse
""")
UNTIL = Template("$ag.until($items, lambda: $flag)")
GOING = Template("not $flag")
GOING_AND = Template("not $flag and $test")


class LowerBreak(FunctionPass):
    name = "lower_break"
    erases = gast.Break
    concerns = frozenset(LOOPS)
    emits = EMITS

    def function(self, node: Any) -> Any:
        staging = self.staging(node)
        if not staging.staged:
            return node
        body = self.walk(node.body, staging)
        return evolve(node, body=body) if body is not node.body else node

    def statement(self, statement: Any, staging: BindingTimes) -> Statements:
        if not is_compound(statement):
            return [statement]
        looping = statement in staging and not isinstance(statement, gast.If)
        breaks = looping and bool(find_jumps(statement.body, gast.Break))
        flag = self.names.fresh("stop") if breaks else ""
        new = self.with_walked_blocks(statement, staging)
        if not breaks:
            return [evolve(new, orelse=[]), *new.orelse] if looping and new.orelse else [new]
        stops = _Stops(self, find_jumps(new.body, gast.Break), lambda: flag)
        loop = consulting(evolve(new, body=stops.lower(new.body, WATCHED), orelse=[]), flag, self.context.ag)
        origin = new.orelse[0] if new.orelse else new
        return [*stops.setup(new), loop, *ELSE(origin, flag=flag, orelse=new.orelse)]


class _Stops(Jumps):
    def jump(self, statement: gast.stmt, flagged: bool) -> Statements:
        return STOP(statement, flag=self.flag)


def consulting(loop: Any, flag: str, ag: str) -> Any:
    """Return the loop with an exit test of the flag."""
    if isinstance(loop, gast.For):
        return evolve(loop, iter=UNTIL.expression(loop.iter, ag=ag, items=loop.iter, flag=flag))
    if isinstance(loop.test, gast.Constant) and loop.test.value:
        return evolve(loop, test=GOING.expression(loop.test, flag=flag))
    return evolve(loop, test=GOING_AND.expression(loop.test, flag=flag, test=loop.test))
