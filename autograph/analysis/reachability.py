"""Reachability of the end of a statement, and the statements that contain a jump.

    if c:                     for x in xs:              while True:
        return 1                  if x:                     g()
    else:                             break
        raise E(c)
    h()

Left: every branch of the `if` jumps, so `h()` is unreachable. Middle: `find_jumps(…, gast.Break)` finds the `break`
and the `if` around it. Right: there is no `break`, so the end of the loop is unreachable."""

from __future__ import annotations

import gast

from ..syntax.tree_queries import (
    COMPOUND,
    LOOPS,
    SUSPENSIONS,
    TRIES,
    WITHS,
    Statements,
    blocks,
    contains,
    inside,
)
from ..syntax.versioned import VersionedBlock

JUMPS = (gast.Return, gast.Break, gast.Continue)
BINDERS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Import, gast.ImportFrom)
PATTERNS = (gast.MatchAs, gast.MatchStar, gast.MatchMapping)


class Reachability:
    """Cached reachability of the ends of statements in one tree."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def of_list(self, body: Statements) -> bool:
        """Return whether control never reaches the end of the statements."""
        return any(self.of(statement) for statement in body)

    def of(self, statement: gast.stmt) -> bool:
        """Return whether control never reaches the end of the statement."""
        if isinstance(statement, (*JUMPS, gast.Raise)):
            return True
        if isinstance(statement, VersionedBlock):
            return self.of_list(statement.body)
        if not isinstance(statement, (gast.If, gast.While, *TRIES, gast.Match)):
            return False
        key = id(statement)
        if key not in self._known:
            self._known[key] = self._find_out(statement)
        return self._known[key]

    def _find_out(self, statement: gast.stmt) -> bool:
        if isinstance(statement, gast.If):
            return self.of_list(statement.body) and self.of_list(statement.orelse)
        if isinstance(statement, gast.While):
            endless = isinstance(statement.test, gast.Constant) and bool(statement.test.value)
            return endless and not find_jumps(statement.body, gast.Break)
        if isinstance(statement, gast.Match):
            return _is_complete(statement) and all(self.of_list(case.body) for case in statement.cases)
        main = self.of_list(statement.body) or self.of_list(statement.orelse)
        others = all(self.of_list(handler.body) for handler in statement.handlers)
        return self.of_list(statement.finalbody) or (main and others)


def _is_complete(match: gast.Match) -> bool:
    """Return whether the last case matches everything."""
    last = match.cases[-1]
    return last.guard is None and isinstance(last.pattern, gast.MatchAs) and last.pattern.pattern is None


def find_jumps(body: Statements, kind: type) -> set[int]:
    """Return the ids of the jumps of one kind that leave `body`, and of the statements that contain them."""
    found: set[int] = set()
    targets = () if kind is gast.Return else LOOPS  # jumps of this kind do not leave the bodies of these

    def search(statements: Statements) -> bool:
        hit = False
        for statement in statements:
            own = type(statement)
            here = own is kind
            if own in COMPOUND:
                for part in blocks(statement):
                    if not (own in targets and part is statement.body):
                        here |= search(part)
            if here:
                found.add(id(statement))
                hit = True
        return hit

    search(body)
    return found


def leaves_context(body: Statements, jumping: set[int]) -> bool:
    """Return whether a jump leaves a `with`, or a `try` with a `finally`, on its way out of `body`."""
    for statement in body:
        if id(statement) in jumping:
            if isinstance(statement, WITHS) or (isinstance(statement, TRIES) and statement.finalbody):
                return True
            if any(leaves_context(part, jumping) for part in blocks(statement)):
                return True
    return False


def shapes_function(statement: gast.stmt) -> bool:
    """Return whether a statement matters even if it never runs: it makes a name local or the function a
    generator."""
    return contains(statement, (*BINDERS, *PATTERNS, *SUSPENSIONS, gast.Global, gast.Nonlocal)) or any(
        (isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)))
        or (isinstance(node, gast.ExceptHandler) and node.name is not None)
        for node in inside(statement)
    )
