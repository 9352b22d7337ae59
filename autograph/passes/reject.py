"""Reject code that cannot be converted faithfully. Each row of the table has what, why, and a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import gast

from ..analysis.binding_time import BindingTimes
from ..errors import Diagnostic
from .base import Context, FunctionPass, Registry


class Rejection(NamedTuple):
    """One row of the table."""

    code: str
    find: Callable[[Any, BindingTimes], Iterable[gast.AST]]
    what: str
    why: str
    fix: str


FINALLY_JUMP = Rejection(
    code="AGC110",
    find=lambda function, staging: (jump for jump, _ in staging.astray),
    what="a jump leaves a `finally` block inside control flow that may be staged",
    why="it would cancel a jump out of the `try` part, which a staged block cannot do",
    fix="move the jump after the `try` statement",
)

REJECTIONS: tuple[Rejection, ...] = (FINALLY_JUMP,)


class Reject(FunctionPass):
    name = "reject"

    def function(self, node: Any) -> Any:
        staging = self.staging(node)
        for row in REJECTIONS:
            for found in row.find(node, staging):
                self.refused(found, row)
        return node

    def refused(self, found: gast.AST, row: Rejection) -> None:
        refuse(self, found, row)


class Survey(Reject):
    """A variant of `Reject` that collects all diagnostics; `Reject` stops at the first."""

    def __init__(self, context: Context, registry: Registry) -> None:
        super().__init__(context, registry)
        self.found: list[Diagnostic] = []

    def refused(self, found: gast.AST, row: Rejection) -> None:
        self.found.append(self.diagnostic(found, row.code, row.what, why=row.why, fix=row.fix))


def refuse(owner: FunctionPass, node: gast.AST, row: Rejection) -> None:
    """Raise the error of a row for a node."""
    owner.fail(node, row.code, row.what, why=row.why, fix=row.fix)
