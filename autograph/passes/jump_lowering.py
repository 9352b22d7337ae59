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
from typing import NamedTuple

import gast

from ..analysis.reachability import JUMPS, Reachability, leaves_context, shapes_function
from ..syntax.positions import on_first_line
from ..syntax.template import Template
from ..syntax.tree_queries import LOOPS, TRIES, WITHS, Statements, blocks, copied, evolve, with_blocks
from .base import FunctionPass
from .if_simplification import choice, nothing
from .reject import FINALLY_JUMP, refuse

# Nested deeper than this, flags take the place of structure: Python cannot read code indented 100 levels.
MAX_DEPTH = 20

EMITS = frozenset({gast.If, gast.UnaryOp, gast.BoolOp})  # for flags

UNLESS = Template("""
    if not $flag:
        $body
""")
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


class FlagState(NamedTuple):
    """What is known of the flag where some statements stand."""

    flagged: bool = False  # somebody looks at it after them
    ready: bool = False  # it is false before them
    depth: int = 0  # so many levels of structure are around them

    @property
    def is_set(self) -> bool:
        """Whether the flag needs no setting up: somebody did it further out, or just before."""
        return self.flagged or self.ready

    def deeper(self) -> FlagState:
        return self._replace(depth=self.depth + 1)


UNWATCHED = FlagState()
WATCHED = FlagState(flagged=True, ready=True)


class Jumps:
    """Takes the jumps of one kind out of statements. Subclasses say what a jump becomes, and perhaps a loop."""

    def __init__(self, owner: FunctionPass, jumping: set[int], fresh_flag: Callable[[], str]) -> None:
        self.owner = owner
        self.jumping = jumping  # ids of the jumps, and of the statements with one inside
        self.endings = Reachability()
        self._fresh_flag = fresh_flag
        self._flag: str | None = None
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
        return RESET(on_first_line(origin, self.owner.context.source), flag=self.flag)

    def loop(self, loop: gast.stmt) -> tuple[gast.stmt, Statements]:
        """A loop with jumps inside, and what follows it when no jump was made.

        Its own `break` and `continue` are not among the jumps; only its `else` block can hold one."""
        return evolve(loop, orelse=self.lower(loop.orelse, WATCHED)), []

    def jumps_in(self, body: Statements) -> bool:
        return any(id(statement) in self.jumping for statement in body)

    # Statements in a row

    def lower(self, body: Statements, watch: FlagState = UNWATCHED) -> Statements:
        """The statements without jumps."""
        for position, statement in enumerate(body):
            before, rest = body[:position], body[position + 1 :]
            if id(statement) in self.jumping:
                return before + self.first_jump(statement, rest, watch)
            if rest and self.endings.of(statement):
                return [*before, statement, *self.dead(rest)]
        return body

    def first_jump(self, statement: gast.stmt, rest: Statements, watch: FlagState) -> Statements:
        """A statement that jumps, or has a jump inside, and the rest after it."""
        after: Statements = []
        if self.endings.of(statement):
            after, rest = self.dead(rest), []
        if isinstance(statement, JUMPS):
            return self.jump(statement, watch.flagged) + after
        if watch.depth >= MAX_DEPTH and rest:
            return self.flat([statement, *rest], watch)
        if isinstance(statement, gast.If):
            return self.branch(statement, rest, watch) + after
        return self.passage(statement, rest, watch) + after

    def dead(self, rest: Statements) -> Statements:
        """What is never reached; it goes, unless the function would be another one without it."""
        if not any(shapes_function(statement) for statement in rest):
            return []
        return NEVER(rest[0], body=self.lower(rest, WATCHED))

    def flat(self, body: Statements, watch: FlagState) -> Statements:
        """Each jump's statement and those before it are a group; each group has its own test of the flag."""
        result = [] if watch.is_set else self.setup(body[0])
        group: Statements = []
        for statement in body:
            group.append(statement)
            if id(statement) in self.jumping or statement is body[-1]:
                lowered = self.lower(group, WATCHED)
                first = group[0] is body[0]
                result += lowered if first else UNLESS(group[0], flag=self.flag, body=lowered)
                group = []
        return result

    def flagged(
        self, origin: gast.stmt, lowered: gast.stmt, rest: Statements, watch: FlagState
    ) -> Statements:
        """A lowered statement that may set the flag, and the rest, for when it did not."""
        before = [] if watch.is_set else self.setup(origin)
        after = self.lower(rest, FlagState(watch.flagged, True, watch.depth + 1))
        return [*before, lowered, *UNLESS(rest[0] if rest else origin, flag=self.flag, body=after)]

    # Statements with a jump inside

    def branch(self, statement: gast.If, rest: Statements, watch: FlagState) -> Statements:
        """An `if`: as drawn above."""
        body, orelse = statement.body, statement.orelse
        if self.endings.of_list(body):
            orelse = orelse + rest
        elif self.endings.of_list(orelse):
            body = body + rest
        elif rest and _is_small(rest) and self.jumps_in(rest):
            # Two copies of `return x` say more than a flag.
            again = copied(rest[0])
            self.jumping.add(id(again))
            self._copies.append(again)
            body, orelse = body + rest, [*orelse, again]
        elif rest:
            lowered = choice(statement, self.lower(body, WATCHED), self.lower(orelse, WATCHED))
            return self.flagged(statement, lowered, rest, watch)
        below = watch.deeper()
        return [choice(statement, self.lower(body, below), self.lower(orelse, below))]

    def passage(self, statement: gast.stmt, rest: Statements, watch: FlagState) -> Statements:
        """A `with`, `try`, `match` or loop."""
        if isinstance(statement, LOOPS):
            lowered, after = self.loop(statement)
            return self.flagged(statement, lowered, after + rest, watch)
        skips = False
        if isinstance(statement, TRIES):
            if rest and self.completes_plainly(statement):
                statement, rest = evolve(statement, orelse=statement.orelse + rest), []
            skips = bool(statement.orelse) and self.jumps_in(statement.body)
        needs = watch.flagged or bool(rest) or skips
        inner = FlagState(needs, watch.ready or needs)
        lowered = (
            self.attempt(statement, inner) if isinstance(statement, TRIES) else self.parts(statement, inner)
        )
        if not rest and (watch.is_set or not needs):
            return [lowered]
        return self.flagged(statement, lowered, rest, watch)

    def parts(self, statement: gast.stmt, watch: FlagState) -> gast.stmt:
        """A `with` or `match`."""
        parts = [self.lower(part, watch) or nothing(statement) for part in blocks(statement)]
        if watch.flagged and isinstance(statement, WITHS) and leaves_context(statement.body, self.jumping):
            # The manager may swallow an exception that comes up on the way out; then nothing was left.
            parts = [TAKEN_BACK(statement, flag=self.flag, body=parts[0])]
        return with_blocks(statement, parts)

    def attempt(self, statement: gast.Try, watch: FlagState) -> gast.Try:
        """A `try`. A jump in its body skips its `else`, so that looks at the flag; and an exception that
        comes up on the way out, in a `with` or `finally` that the jump leaves, takes the jump back."""
        body = self.lower(statement.body, watch)
        orelse = self.lower(statement.orelse, watch)
        jumps = self.jumps_in(statement.body)
        if jumps and self.endings.of_list(statement.body):
            orelse = self.dead(statement.orelse)
        elif jumps and orelse:
            orelse = UNLESS(orelse[0], flag=self.flag, body=orelse)
        for child in statement.finalbody:
            if id(child) in self.jumping:
                refuse(self.owner, child, FINALLY_JUMP)
        handlers = []
        undo = jumps and watch.flagged and leaves_context(statement.body, self.jumping)
        for handler in statement.handlers:
            lowered = self.lower(handler.body, watch)
            if undo:
                lowered = RESET(handler.body[0], flag=self.flag) + lowered
            handlers.append(evolve(handler, body=lowered or nothing(handler)))
        return evolve(statement, body=body or nothing(statement), handlers=handlers, orelse=orelse)

    def completes_plainly(self, statement: gast.Try) -> bool:
        """Whether the only way out of a `try`, other than a jump, is its body's (or `else` block's) end."""
        return (
            bool(statement.handlers)
            and not statement.finalbody
            and not self.jumps_in(statement.body)
            and all(self.endings.of_list(handler.body) for handler in statement.handlers)
        )


def _is_small(rest: Statements) -> bool:
    """Whether the rest is one `return`, of nothing more than a name or a constant."""
    if len(rest) != 1 or not isinstance(rest[0], gast.Return):
        return False
    return rest[0].value is None or isinstance(rest[0].value, (gast.Name, gast.Constant))
