"""Staging errors, in the one shape that all errors of agc have, at the line of the user's program."""

from __future__ import annotations

from collections.abc import Sequence

from agc.autograph.api import Diagnostic, Where

from .ir.origin import caller


class StagingError(TypeError, ValueError):
    """Control flow that a graph cannot express. `diagnostic` says which variable, where, why, and what to do.

    It is a TypeError and a ValueError: TensorFlow raises the one or the other in these cases.
    """

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return self.diagnostic.format()


def staging_error(code: str, title: str, why: str, fix: str, notes: Sequence[str] = ()) -> StagingError:
    """The error for the innermost line of the user's program that is running."""
    origin = caller()
    where = None if origin is None else Where(origin.filename, origin.line, function=origin.function)
    reasons = "; ".join([*notes, why])
    return StagingError(Diagnostic(code, title, where, why=reasons, fix=fix))
