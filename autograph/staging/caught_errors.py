"""Warn of an `except` in a traced function that takes an error of the tracing for one of the program.

try:
    if x > 0:
        label = 1
    else:
        label = "none"         AGC201, which is a TypeError and a ValueError
except ValueError:             catches it, so the graph has `label = 0` for all values of `x`
    label = 0
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import Diagnostic, StagingError, Where
from .exceptions import caught_at

_REGISTRY: dict[Any, Any] = {}

_EXPECTED = ("AGC260", "AGC261", "AGC281")
"""Errors that end the trace, though the program caught them, and that of `int(x)`, which asks for a known value."""


@contextmanager
def reported() -> Iterator[None]:
    """Warn of the errors of the tracing that user code catches in this block, if the block succeeds.

    An inner block leaves that to the outermost one: an error that ends an inner trace may be caught around it.

    >>> with reported():
    ...     print("the function is traced")
    the function is traced
    """
    if StagingError.made.get() is not None:
        yield
        return
    made: list[StagingError] = []
    token = StagingError.made.set(made)
    try:
        yield
    finally:
        StagingError.made.reset(token)
    for error in made:
        where = caught_at(error)
        if where is not None and error.diagnostic.code not in _EXPECTED:
            _warn(error.diagnostic, where)


def _warn(cause: Diagnostic, where: Where) -> None:
    diagnostic = Diagnostic(
        "AGC262",
        f"an `except` around this line catches an error of the tracing, {cause.code}: {cause.title}",
        where,
        why="the graph has what the handler computes, for all values of its tensors",
        fix=f"move that code out of the `try`, or change it as `agc explain {cause.code}` says",
        level="warning",
    )
    warnings.warn_explicit(str(diagnostic), UserWarning, where.file, where.line, registry=_REGISTRY)
