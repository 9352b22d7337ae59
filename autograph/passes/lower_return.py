"""Lower a `return` that leaves a staged block: every path sets `result`, and one final `return` returns it.

    if x < 0:                     if x < 0:
        return 0                      result = 0
    for y in ys:                  else:
        if y > x:                     returned = False
            return y                  result = ag__.Pending('result')
    return x            ==>           for y in ag__.until(ys, lambda: returned):
                                          if y > x:
                                              result = y
                                              returned = True
                                      if not returned:
                                          result = x
                                  return result

A `return` in blocks that stay Python is kept.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import BindingTimes
from ..analysis.reachability import JUMPS, find_jumps
from ..syntax.generated_positions import on_first_line
from ..syntax.node_builders import load
from ..syntax.template import Template
from ..syntax.tree_queries import DEFINITIONS, LOOPS, Statements, at, blocks, evolve, with_blocks
from .base import FunctionPass
from .jump_lowering import EMITS, WATCHED, Jumps
from .lower_break import consulting

RESULT = Template("$result = $value")
RETURNED = Template("$flag = True")
SETUP = Template("""
    $flag = False
    $result = $ag.Pending($text)
""")
LEAVE = Template("""
    if $flag:
        break
""")
NOTHING = Template("return None")


class LowerReturn(FunctionPass):
    name = "lower_return"
    erases = gast.Return
    concerns = frozenset({gast.If, *LOOPS})
    emits = EMITS

    def function(self, node: Any) -> Any:
        staging = self.staging(node)
        jumps = find_jumps(node.body, gast.Return) if staging.crossing else set()
        if not jumps & staging.crossing:
            return node
        returns = _Returns(jumps, self, staging, _valued(node.body))
        return evolve(node, body=self.closed(node.body, returns, top=True))

    def closed(self, body: Statements, returns: _Returns, top: bool) -> Statements:
        """Lower a list of statements outside of staged blocks.

        Returns before the first statement with a `return` that leaves a staged block are kept. From there on, one
        `return` at the end replaces all."""
        result: Statements = []
        for position, statement in enumerate(body):
            if id(statement) not in returns.staging.crossing & returns.jumping:
                result.append(statement)
            elif statement not in returns.staging and self.closes(statement, returns):
                parts = [
                    self.closed(part, returns, top=False)
                    if any(id(child) in returns.staging.crossing & returns.jumping for child in part)
                    else part
                    for part in blocks(statement)
                ]
                result.append(with_blocks(statement, parts))
            else:
                rest = body[position:]
                if top and returns.valued and not returns.endings.of_list(rest):
                    (nothing,) = NOTHING(rest[-1])
                    returns.jumping.add(id(nothing))
                    rest = [*rest, nothing]
                result += returns.lower(rest)
                return result + ([] if top and not returns.valued else returns.exit(statement))
        return result

    def closes(self, statement: gast.stmt, returns: _Returns) -> bool:
        """Return whether every list with a lowered return ends in a jump, so that a native `return` can
        follow."""
        return not isinstance(statement, LOOPS) and all(
            returns.endings.of_list(part)
            for part in blocks(statement)
            if any(id(child) in returns.staging.crossing & returns.jumping for child in part)
        )


class _Returns(Jumps):
    def __init__(self, jumping: set[int], owner: LowerReturn, staging: BindingTimes, valued: bool) -> None:
        super().__init__(owner, jumping, lambda: owner.names.fresh("returned"))
        self.staging = staging
        self.valued = valued
        self.ag = owner.context.ag
        self.result = owner.names.fresh("result") if valued else ""

    def exit(self, origin: gast.stmt) -> Statements:
        value = load(self.result) if self.valued else None
        return [at(gast.Return(value), origin)]

    def setup(self, origin: gast.stmt) -> Statements:
        if not self.valued:
            return super().setup(origin)
        origin = on_first_line(origin, self.owner.context.source)
        text = at(gast.Constant(self.result, None), origin)
        return SETUP(origin, flag=self.flag, result=self.result, ag=self.ag, text=text)

    def jump(self, statement: gast.Return, flagged: bool) -> Statements:
        done: Statements = []
        if self.valued:
            value = statement.value or at(gast.Constant(None, None), statement)
            done = RESULT(statement, result=self.result, value=value)
        elif statement.value is not None and not isinstance(statement.value, gast.Constant):
            done = [at(gast.Expr(statement.value), statement)]
        return done + (RETURNED(statement, flag=self.flag) if flagged else [])

    def loop(self, loop: Any) -> tuple[gast.stmt, Statements]:
        """Lower a loop. A staged loop tests `returned` before each iteration; any other loop exits by
        `break`."""
        if loop in self.staging and not find_jumps(loop.body, gast.Break):
            lowered = evolve(loop, body=self.lower(loop.body, WATCHED), orelse=[])
            return consulting(lowered, self.flag, self.ag), loop.orelse
        orelse = self.lower(loop.orelse, WATCHED)
        return evolve(loop, body=self.leaving(loop.body), orelse=orelse), []

    def leaving(self, body: Statements) -> Statements:
        """Return a loop body in which every `return` sets the flag and then breaks."""
        result: Statements = []
        for statement in body:
            if id(statement) not in self.jumping:
                result.append(statement)
            elif isinstance(statement, JUMPS):
                result += [*self.jump(statement, True), at(gast.Break(), statement)]
            elif isinstance(statement, LOOPS):
                lowered, after = self.loop(statement)
                if statement.orelse and not after:
                    lowered = evolve(lowered, orelse=self.leaving(statement.orelse))
                result += [lowered, *LEAVE(statement, flag=self.flag), *self.leaving(after)]
            else:
                result.append(with_blocks(statement, [self.leaving(part) for part in blocks(statement)]))
        return result


def _valued(body: Statements) -> bool:
    """Return whether some `return` has a value other than None."""
    for statement in body:
        if isinstance(statement, gast.Return):
            value = statement.value
            if value is not None and not (isinstance(value, gast.Constant) and value.value is None):
                return True
        elif not isinstance(statement, (*DEFINITIONS, gast.ClassDef)) and any(
            map(_valued, blocks(statement))
        ):
            return True
    return False
