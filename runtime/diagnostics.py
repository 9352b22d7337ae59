"""Staging errors, in the one shape that all errors of agc have, at the line of the user's program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agc.autograph.api import Diagnostic, Note, StagingError, Where

from .ir.origin import caller
from .tensor import SymbolicTensor


def staging_error(
    code: str, title: str, why: str, fix: str, values: Sequence[Any] = (), notes: Sequence[str] = ()
) -> StagingError:
    """The error for the innermost line of the user's program that is running.

    The lines that made `values`, where they are known, are shown with their types.
    """
    origin = caller()
    where = None if origin is None else Where(origin.filename, origin.line, function=origin.function)
    reasons = "; ".join([*notes, why])
    shown = tuple(note for note in map(_made_at, values) if note is not None)
    return StagingError(Diagnostic(code, title, where, notes=shown, why=reasons, fix=fix))


def _made_at(value: Any) -> Note | None:
    if not isinstance(value, SymbolicTensor):
        return None
    origin = value._builder.origin_of(value._value)
    if origin is None:
        return None
    return Note(Where(origin.filename, origin.line, function=origin.function), str(value._value.spec))
