"""Lowering of jumps to the end of a block: one algorithm for `return`, `break` and `continue`.

    if c:                     if c:                     if a:                   skip = False
        A                         A                         if b:               if a:
        <jump>        ==>     else:                             <jump>  ==>         if b:
    rest                          rest                      A                           skip = True
                                                        rest                        else:
                                                                                        A
                                                                                if not skip:
                                                                                    rest

Left: one branch of the `if` jumps, so the rest moves into the other branch. Right: both branches continue with the
rest, and one of them may have jumped; only then is a flag needed. Statements that contain no jump stay unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import gast

from ..analysis.reachability import JUMPS, Reachability, leaves_context, shapes_function
from ..syntax.generated_positions import on_first_line
from ..syntax.template import Template
from ..syntax.tree_queries import LOOPS, TRIES, WITHS, Statements, blocks, copied, evolve, with_blocks
from .base import FunctionPass
from .if_simplification import choice, nothing
from .reject import FINALLY_JUMP, refuse

# At this depth, flags replace nesting: Python cannot parse code indented 100 levels.
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
    """The properties of the flag at some statements."""

    flagged: bool = False  # the flag is read after the statements
    ready: bool = False  # the flag is false before the statements
    depth: int = 0  # levels of nesting around the statements

    @property
    def is_set(self) -> bool:
        """Return whether the flag is already initialized."""
        return self.flagged or self.ready

    def deeper(self) -> FlagState:
        return self._replace(depth=self.depth + 1)


UNWATCHED = FlagState()
WATCHED = FlagState(flagged=True, ready=True)


class Jumps:
    """Base class that removes the jumps of one kind. Subclasses define the replacement of a jump and of a
    loop."""

    def __init__(self, owner: FunctionPass, jumping: set[int], fresh_flag: Callable[[], str]) -> None:
        self.owner = owner
        self.jumping = jumping  # ids of the jumps, and of the statements that contain one
        self.endings = Reachability()
        self._fresh_flag = fresh_flag
        self._flag: str | None = None
        self._copies: Statements = []  # kept alive, so that their ids stay unique

    @property
    def flag(self) -> str:
        """The name of the variable that is true after a jump."""
        if self._flag is None:
            self._flag = self._fresh_flag()
        return self._flag

    def jump(self, statement: gast.stmt, flagged: bool) -> Statements:
        """Return the replacement of a jump; `flagged` if the flag is read later."""
        raise NotImplementedError

    def setup(self, origin: gast.stmt) -> Statements:
        """Return the statements that initialize the flag before `origin`."""
        return RESET(on_first_line(origin, self.owner.context.source), flag=self.flag)

    def loop(self, loop: gast.stmt) -> tuple[gast.stmt, Statements]:
        """Return a loop with jumps inside, and the statements after it that run if there was no jump.

        The loop's own `break` and `continue` are not among the jumps; only its `else` block can contain them."""
        return evolve(loop, orelse=self.lower(loop.orelse, WATCHED)), []

    def jumps_in(self, body: Statements) -> bool:
        return any(id(statement) in self.jumping for statement in body)

    # Statements in a row

    def lower(self, body: Statements, watch: FlagState = UNWATCHED) -> Statements:
        """Return the statements without jumps."""
        for position, statement in enumerate(body):
            before, rest = body[:position], body[position + 1 :]
            if id(statement) in self.jumping:
                return before + self.first_jump(statement, rest, watch)
            if rest and self.endings.of(statement):
                return [*before, statement, *self.dead(rest)]
        return body

    def first_jump(self, statement: gast.stmt, rest: Statements, watch: FlagState) -> Statements:
        """Lower a statement that is or contains a jump, and the rest after it."""
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
        """Return the replacement of unreachable statements; some must stay, because they shape the function."""
        if not any(shapes_function(statement) for statement in rest):
            return []
        return NEVER(rest[0], body=self.lower(rest, WATCHED))

    def flat(self, body: Statements, watch: FlagState) -> Statements:
        """Lower into groups that each end with a jumping statement; each group tests the flag."""
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
        """Return a lowered statement that may set the flag, and the rest under a test of the flag."""
        before = [] if watch.is_set else self.setup(origin)
        after = self.lower(rest, FlagState(watch.flagged, True, watch.depth + 1))
        return [*before, lowered, *UNLESS(rest[0] if rest else origin, flag=self.flag, body=after)]

    # Statements with a jump inside

    def branch(self, statement: gast.If, rest: Statements, watch: FlagState) -> Statements:
        """Lower an `if`, as in the module docstring."""
        body, orelse = statement.body, statement.orelse
        if self.endings.of_list(body):
            orelse = orelse + rest
        elif self.endings.of_list(orelse):
            body = body + rest
        elif rest and _is_small(rest) and self.jumps_in(rest):
            # Two copies of `return x` are clearer than a flag.
            copy = copied(rest[0])
            self.jumping.add(id(copy))
            self._copies.append(copy)
            body, orelse = body + rest, [*orelse, copy]
        elif rest:
            lowered = choice(statement, self.lower(body, WATCHED), self.lower(orelse, WATCHED))
            return self.flagged(statement, lowered, rest, watch)
        below = watch.deeper()
        return [choice(statement, self.lower(body, below), self.lower(orelse, below))]

    def passage(self, statement: gast.stmt, rest: Statements, watch: FlagState) -> Statements:
        """Lower a `with`, `try`, `match` or loop."""
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
        """Lower a `with` or `match`."""
        parts = [self.lower(part, watch) or nothing(statement) for part in blocks(statement)]
        if watch.flagged and isinstance(statement, WITHS) and leaves_context(statement.body, self.jumping):
            # The context manager may suppress an exception during the jump, which cancels the jump.
            parts = [TAKEN_BACK(statement, flag=self.flag, body=parts[0])]
        return with_blocks(statement, parts)

    def attempt(self, statement: gast.Try, watch: FlagState) -> gast.Try:
        """Lower a `try`.

        A jump in the body skips the `else` block, so that block tests the flag. An exception during the jump,
        raised by a `with` or `finally` that the jump leaves, cancels the jump."""
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
        """Return whether the end of the body (or `else` block) is the only exit of a `try` other than a jump."""
        return (
            bool(statement.handlers)
            and not statement.finalbody
            and not self.jumps_in(statement.body)
            and all(self.endings.of_list(handler.body) for handler in statement.handlers)
        )


def _is_small(rest: Statements) -> bool:
    """Return whether the rest is one `return` of a name or a constant."""
    if len(rest) != 1 or not isinstance(rest[0], gast.Return):
        return False
    return rest[0].value is None or isinstance(rest[0].value, (gast.Name, gast.Constant))
