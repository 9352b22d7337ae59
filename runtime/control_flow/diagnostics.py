"""Notes of staging errors on the operations that made the graph's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc.autograph import staging_errors
from agc.autograph.api import Note, Where
from agc.autograph.staging_errors import advice_for_objects, staging_error

from ..core.symbolic_tensor import SymbolicTensor

__all__ = ["advice_for_objects", "assigned", "assigned_outside", "made", "staging_error"]


def assigned(block: Callable[..., Any], path: str, value: Any, said: str) -> Note | None:
    """Return a note on the line where a branch or a loop's body assigns a variable; None if it is unknown."""
    return staging_errors.assigned(block, path, said, _made_at(value))


def assigned_outside(path: str, value: Any, said: str) -> Note | None:
    """Return a note on the line that assigned a variable before a loop; None if it is unknown."""
    return staging_errors.assigned_outside(path, said, _made_at(value))


def made(value: Any) -> Note | None:
    """Return a note on the operation that made a value, with its type; None if it is unknown."""
    where = _made_at(value)
    return None if where is None else Note(where, str(value._value.spec))


def _made_at(value: Any) -> Where | None:
    if not isinstance(value, SymbolicTensor):
        return None
    origin = value._builder.origin_of(value._value)
    return None if origin is None else Where(origin.filename, origin.line, function=origin.function)
