"""How a jump to the end of a block becomes structure: one algorithm for `return`, `break` and `continue`.

    if c:                     if c:                     if a:                   skip = False
        A                         A                         if b:               if a:
        <jump>        ==>     else:                             <jump>  ==>         if b:
    rest                          rest                      A                           skip = True
                                                        rest                        else:
                                                                                        A
                                                                                if not skip:
                                                                                    rest

Left: one way out of the `if` jumps, so the rest belongs to the other way. Right: both ways go on to the
rest, and one of them may have jumped inside; only then a flag is needed. Statements that are not on the way
of a jump are untouched."""

from __future__ import annotations

from collections.abc import Callable

import gast

from ..syntax.template import Template
from ..syntax.tree import (
    LOOPS,
    SUSPENSIONS,
    TRIES,
    WITHS,
    Statements,
    at,
    blocks,
    contains,
    copied,
    evolve,
    inside,
    with_blocks,
)
from .base import FunctionPass
from .reject import FINALLY_JUMP, refuse

# Nested deeper than this, flags take the place of structure: Python cannot read code indented 100 levels.
MAX_DEPTH = 20

JUMPS = (gast.Return, gast.Break, gast.Continue)
BINDERS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Import, gast.ImportFrom)
PATTERNS = (gast.MatchAs, gast.MatchStar, gast.MatchMapping)

OPPOSITES = {gast.Is: gast.IsNot, gast.IsNot: gast.Is, gast.In: gast.NotIn, gast.NotIn: gast.In}

UNLESS = Template("""
    if not $flag:
        $body
""")
NEGATED = Template("not $test")
NEVER = Template("""
    if False:
        $body
""")
RESET = Template("$flag = False")
TAKEN_BACK = Template("""
    try:
        $body
    except BaseException:
        $flag = False
        raise
""")


class Jumps:
    """Takes the jumps of one kind out of statements. Subclasses say what a jump and a loop become."""

    def __init__(self, owner: FunctionPass, jumping: set[int], fresh_flag: Callable[[], str]) -> None:
        self.owner = owner
        self.jumping = jumping  # ids of the jumps, and of the statements with one inside
        self._fresh_flag = fresh_flag
        self._flag: str | None = None
        self._ends: dict[int, bool] = {}
        self._copies: Statements = []  # kept, so that no other node gets the id of one

    @property
    def flag(self) -> str:
        """The name of the variable that is true once a jump has been made."""
        if self._flag is None:
            self._flag = self._fresh_flag()
        return self._flag

    def jump(self, statement: gast.stmt, flagged: bool) -> Statements:
        """What stands in place of a jump; `flagged` if somebody looks at the flag later."""
        raise NotImplementedError

    def setup(self, origin: gast.stmt) -> Statements:
        """What stands before a statement that may set the flag."""
        return RESET(origin, flag=self.flag)

    def loop(self, loop: gast.stmt) -> tuple[gast.stmt, Statements]:
        """A loop with jumps inside, and what follows it when no jump was made."""
        raise NotImplementedError

    def lower(
        self, body: Statements, flagged: bool = False, ready: bool = False, depth: int = 0
    ) -> Statements:
        """The statements without jumps. `ready` if the flag is known to be false here."""
        for position, statement in enumerate(body):
            if id(statement) in self.jumping:
                before, rest = body[:position], body[position + 1 :]
                if self.ends(statement):
                    after = self.dead(rest)
                    rest = []
                else:
                    after = []
                if isinstance(statement, JUMPS):
                    return before + self.jump(statement, flagged) + after
                if depth >= MAX_DEPTH and rest:
                    return before + self.flat(body[position:], flagged, ready, depth)
                if isinstance(statement, gast.If):
                    return before + self.branch(statement, rest, flagged, ready, depth) + after
                return before + self.passage(statement, rest, flagged, ready, depth) + after
            if self.ends(statement) and position + 1 < len(body):
                return body[: position + 1] + self.dead(body[position + 1 :])
        return body

    def branch(
        self, statement: gast.If, rest: Statements, flagged: bool, ready: bool, depth: int
    ) -> Statements:
        body, orelse = statement.body, statement.orelse
        if not rest or self.ends_list(body) or self.ends_list(orelse):
            if rest and self.ends_list(body):
                orelse = orelse + rest
            elif rest:
                body = body + rest
            below = (flagged, ready, depth + 1)
            return [choice(statement, self.lower(body, *below), self.lower(orelse, *below))]
        if _is_small(rest) and id(rest[0]) in self.jumping:
            # Two copies of `return x` say more than a flag.
            again = copied(rest[0])
            self.jumping.add(id(again))
            self._copies.append(again)
            below = (flagged, ready, depth + 1)
            return [choice(statement, self.lower(body + rest, *below), self.lower([*orelse, again], *below))]
        lowered = choice(statement, self.lower(body, True, True), self.lower(orelse, True, True))
        return self.flagged(statement, [lowered], rest, flagged, ready, depth)

    def passage(
        self, statement: gast.stmt, rest: Statements, flagged: bool, ready: bool, depth: int
    ) -> Statements:
        """A `with`, `try`, `match` or loop with a jump inside."""
        if isinstance(statement, LOOPS):
            lowered, after = self.loop(statement)
            return self.flagged(statement, [lowered], after + rest, flagged, ready, depth)
        if isinstance(statement, TRIES):
            if self.completes_plainly(statement) and rest:
                statement, rest = evolve(statement, orelse=statement.orelse + rest), []
            skips = bool(statement.orelse) and any(id(child) in self.jumping for child in statement.body)
            needs = flagged or bool(rest) or skips
            lowered = self.attempt(statement, needs, ready or needs)
        else:
            needs = flagged or bool(rest)
            parts = [
                self.lower(part, needs, ready or needs) or _pass(statement) for part in blocks(statement)
            ]
            if needs and isinstance(statement, WITHS) and _leaves_context(statement.body, self.jumping):
                # The manager may swallow an exception that comes up on the way out; then nothing was left.
                parts = [TAKEN_BACK(statement, flag=self.flag, body=parts[0])]
            lowered = with_blocks(statement, parts)
        if not rest and (flagged or ready or not needs):
            return [lowered]
        return self.flagged(statement, [lowered], rest, flagged, ready, depth)

    def flagged(
        self, origin: gast.stmt, lowered: Statements, rest: Statements, flagged: bool, ready: bool, depth: int
    ) -> Statements:
        before = [] if flagged or ready else self.setup(origin)
        after = self.lower(rest, flagged, True, depth + 1)
        return before + lowered + UNLESS(rest[0] if rest else origin, flag=self.flag, body=after)

    def flat(self, body: Statements, flagged: bool, ready: bool, depth: int) -> Statements:
        """Each jump's statement and those before it are a group; each group has its own test of the flag."""
        result = [] if flagged or ready else self.setup(body[0])
        group: Statements = []
        for statement in body:
            group.append(statement)
            if id(statement) in self.jumping or statement is body[-1]:
                lowered = self.lower(group, True, True, 0)
                first = group[0] is body[0]
                result += lowered if first else UNLESS(group[0], flag=self.flag, body=lowered)
                group = []
        return result

    def attempt(self, statement: gast.Try, flagged: bool, ready: bool) -> gast.Try:
        """A `try`. A jump in its body skips its `else`, so that looks at the flag; and an exception that
        comes up on the way out, in a `with` or `finally` that the jump leaves, takes the jump back."""
        body = self.lower(statement.body, flagged, ready)
        orelse = self.lower(statement.orelse, flagged, ready)
        jumps = any(id(child) in self.jumping for child in statement.body)
        if jumps and self.ends_list(statement.body):
            orelse = self.dead(statement.orelse)
        elif jumps and orelse:
            orelse = UNLESS(orelse[0], flag=self.flag, body=orelse)
        for child in statement.finalbody:
            if id(child) in self.jumping:
                refuse(self.owner, child, FINALLY_JUMP)
        handlers = []
        undo = jumps and flagged and _leaves_context(statement.body, self.jumping)
        for handler in statement.handlers:
            lowered = self.lower(handler.body, flagged, ready)
            if undo:
                lowered = RESET(handler.body[0], flag=self.flag) + lowered
            handlers.append(evolve(handler, body=lowered or _pass(handler)))
        return evolve(statement, body=body or _pass(statement), handlers=handlers, orelse=orelse)

    def completes_plainly(self, statement: gast.Try) -> bool:
        """Whether the only way out of a `try`, other than a jump, is its body's (or `else` block's) end."""
        return (
            bool(statement.handlers)
            and not statement.finalbody
            and not any(id(child) in self.jumping for child in statement.body)
            and all(self.ends_list(handler.body) for handler in statement.handlers)
        )

    def dead(self, rest: Statements) -> Statements:
        """What is never reached. It stays if it makes a name local or the function a generator."""
        if not rest or not any(_matters(statement) for statement in rest):
            return []
        return NEVER(rest[0], body=self.lower(rest, True, True))

    def ends_list(self, body: Statements) -> bool:
        return any(self.ends(statement) for statement in body)

    def ends(self, statement: gast.stmt) -> bool:
        """Whether control never comes to the end of the statement."""
        if isinstance(statement, (*JUMPS, gast.Raise)):
            return True
        if not isinstance(statement, (gast.If, gast.While, *TRIES, gast.Match)):
            return False
        key = id(statement)
        if key not in self._ends:
            self._ends[key] = self._compute_ends(statement)
        return self._ends[key]

    def _compute_ends(self, statement: gast.stmt) -> bool:
        if isinstance(statement, gast.If):
            return self.ends_list(statement.body) and self.ends_list(statement.orelse)
        if isinstance(statement, gast.While):
            endless = isinstance(statement.test, gast.Constant) and bool(statement.test.value)
            return endless and not find_jumps(statement.body, gast.Break)
        if isinstance(statement, gast.Match):
            last = statement.cases[-1]
            complete = (
                last.guard is None and isinstance(last.pattern, gast.MatchAs) and last.pattern.pattern is None
            )
            return complete and all(self.ends_list(case.body) for case in statement.cases)
        main = self.ends_list(statement.body) or self.ends_list(statement.orelse)
        others = all(self.ends_list(handler.body) for handler in statement.handlers)
        return self.ends_list(statement.finalbody) or (main and others)


def find_jumps(body: Statements, kind: type) -> set[int]:
    """The ids of the jumps of one kind that leave `body`, and of the statements that they stand in."""
    found: set[int] = set()

    def search(statements: Statements) -> bool:
        hit = False
        for statement in statements:
            here = isinstance(statement, kind)
            if isinstance(statement, (*BINDERS, gast.ClassDef)):
                continue
            for part in blocks(statement):
                if kind is gast.Return or not (isinstance(statement, LOOPS) and part is statement.body):
                    here |= search(part)
            if here:
                found.add(id(statement))
                hit = True
        return hit

    search(body)
    return found


def choice(statement: gast.If, body: Statements, orelse: Statements) -> gast.If:
    """The `if` with new branches; turned round when nothing is left of the first."""
    if body or not orelse:
        return evolve(statement, body=body or _pass(statement), orelse=orelse)
    return evolve(statement, test=negated(statement.test), body=orelse, orelse=[])


def negated(test: gast.expr) -> gast.expr:
    """`not test`; `is` and `in` have opposites of their own."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITES:
        return evolve(test, ops=[OPPOSITES[type(test.ops[0])]()])
    return NEGATED.expression(test, test=test)


def _is_small(rest: Statements) -> bool:
    """Whether the rest is one `return`, of nothing more than a name or a constant."""
    if len(rest) != 1 or not isinstance(rest[0], gast.Return):
        return False
    return rest[0].value is None or isinstance(rest[0].value, (gast.Name, gast.Constant))


def _pass(origin: gast.AST) -> Statements:
    return [at(gast.Pass(), origin)]


def _matters(statement: gast.stmt) -> bool:
    return contains(statement, (*BINDERS, *PATTERNS, *SUSPENSIONS, gast.Global, gast.Nonlocal)) or any(
        isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del))
        for node in inside(statement)
    )


def _leaves_context(body: Statements, jumping: set[int]) -> bool:
    """Whether a jump leaves a `with`, or a `try` with a `finally`, on its way out of `body`."""
    for statement in body:
        if id(statement) in jumping:
            if isinstance(statement, WITHS) or (isinstance(statement, TRIES) and statement.finalbody):
                return True
            if any(_leaves_context(part, jumping) for part in blocks(statement)):
                return True
    return False
