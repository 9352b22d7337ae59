"""Errors for exceptions of traced code that an enclosing `except` of user code cannot catch (see exceptions.py)."""

from __future__ import annotations

from agc.autograph.api import Note, StagingError, Where

from ..ir.source_location import raised_at
from .diagnostics import staging_error
from .regions import active


def skippable(error: Exception, handler: Where) -> StagingError:
    """Return the refusal of an exception that an `except` would catch, though the graph may skip its block."""
    return refused(
        uncaught(
            error,
            where_of(error),
            handler,
            "it is raised in a block that the graph may skip",
            why="the block is traced in any case; the handler would run although the graph never comes to that line",
            fix="put a `try` around that line only, or test for the case before, such as `if key in d`",
        )
    )


def where_of(error: BaseException) -> Where | None:
    """Return the line of user code that raised an exception, if it is known."""
    origin = raised_at(error)
    return None if origin is None else Where(origin.filename, origin.line, function=origin.function)


def refused(error: StagingError) -> StagingError:
    """Register an error that must be reported even if an `except` of user code catches it; return it."""
    active().root.refusals.append(error)
    return error


def uncaught(
    error: BaseException, where: Where | None, handler: Where, reason: str, *, why: str, fix: str
) -> StagingError:
    """Return the error for an exception that `handler` would catch; `reason` says why it cannot."""
    kind = type(error).__name__
    title = f"an `except` cannot catch this {kind}: {reason}"
    refusal = staging_error("AGC260", title, why=why, fix=fix).diagnostic
    return StagingError(
        refusal._replace(where=where or refusal.where, notes=(Note(handler, f"catches {kind}"),))
    )
