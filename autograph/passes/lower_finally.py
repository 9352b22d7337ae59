"""Lower jumps out of a `finally` block: the block moves to where an exception arrives, and to where none does.

    try:                          try:
        A                             A
    finally:                      except BaseException:
        if x > 0:       ==>           if x > 0:
            break                         break
                                      raise
                                  else:
                                      if x > 0:
                                          break

A jump out of `except` discards the exception, too. A `try` that its body leaves by a jump is not changed, because the
jump would have to wait for the block.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import static
from ..analysis.reachability import JUMPS, Reachability, find_jumps
from ..syntax.template import Template
from ..syntax.tree_queries import DEFINITIONS, TRIES, Statements, blocks, copied, evolve, is_compound
from .base import FunctionPass

SPLIT = Template("""
    try:
        $body
    except BaseException:
        $failing
    else:
        $final
""")
RAISE = Template("raise")


class LowerFinally(FunctionPass):
    name = "lower_finally"
    concerns = frozenset(TRIES)

    def function(self, node: Any) -> Any:
        while True:
            astray = {id(final) for _, final in self.staging(node).astray}
            body = self.walk(node.body, astray)
            if body is node.body:
                return node
            node = evolve(node, body=body)

    def statement(self, statement: Any, astray: set[int]) -> Statements:
        if not is_compound(statement) or isinstance(statement, DEFINITIONS):
            return [statement]
        new = self.with_walked_blocks(statement, astray)
        is_concerned = isinstance(new, TRIES) and (id(statement) in astray or _depends(new.finalbody))
        return self.split(new) if is_concerned and can_be_split(new) else [new]

    def split(self, statement: Any) -> Statements:
        final = statement.finalbody
        inner = statement.body
        if statement.handlers:
            inner = [evolve(statement, finalbody=[])]
        failing = [copied(part) for part in final]
        if not Reachability().of_list(failing):
            failing += RAISE(final[-1])
        return SPLIT(statement, body=inner, failing=failing, final=final)


def _leaving(body: Statements) -> set[int]:
    return set().union(*(find_jumps(body, kind) for kind in JUMPS))


def can_be_split(statement: Any) -> bool:
    """Return whether no jump leaves the parts of a `try` before its `finally` block."""
    return not any(_leaving(part) for part in blocks(statement) if part is not statement.finalbody)


def _depends(final: Statements) -> bool:
    """Return whether an `if` that may depend on data decides a jump out of the block."""
    leaving = _leaving(final)

    def decides(statement: Any) -> bool:
        if id(statement) not in leaving or isinstance(statement, JUMPS):
            return False
        is_open = isinstance(statement, gast.If) and not static(statement.test)
        return is_open or any(decides(child) for part in blocks(statement) for child in part)

    return any(map(decides, final))
