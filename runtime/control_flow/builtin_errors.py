"""Raise Python's exceptions of built-in functions when the graph runs.

max(t)  of a tensor with no rows        ValueError: max() arg is an empty sequence
"""

from __future__ import annotations

from typing import Any

from ..ops.framework.region_ops import COND
from .conditional import trace_branches


def raise_unless(holds: Any, error: Exception) -> None:
    """Record an operation that raises `error` at run time unless `holds` is true."""

    from ..ops.state.raise_op import raise_error  # imported for programs that may fail

    def fail() -> tuple[()]:
        raise_error([], type(error).__name__, (str(error),), (), None)
        return ()

    trace_branches(COND, holds, [lambda: (), fail], ())
