"""The calls on the stack: those that run, and those that an exception has ended.

sign(x)          running_calls()       sign, train, <module>      innermost first
  train(…)       calls_of(error)       the same after the exception
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from ..errors import Where
from .source_sites import at_instruction


class StackCall(NamedTuple):
    """A call at one of its instructions."""

    code: CodeType
    variables: dict[str, Any]  # of its module
    line: int
    offset: int  # of the instruction

    @property
    def module(self) -> Any:
        return self.variables.get("__name__")

    def where(self) -> Where:
        """Return the line."""
        return Where(self.code.co_filename, self.line, function=self.code.co_name)

    def expression(self) -> Where:
        """Return the expression that runs."""
        return at_instruction(self.code, self.line, self.offset)


def running_calls() -> Iterator[StackCall]:
    """Yield the calls that are running, from the caller outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield StackCall(frame.f_code, frame.f_globals, frame.f_lineno, frame.f_lasti)
        frame = frame.f_back


def calls_of(error: BaseException) -> list[StackCall]:
    """Return the calls that an exception has ended, innermost first.

    >>> try:
    ...     int("x")
    ... except ValueError as error:
    ...     calls_of(error)[0].code.co_name
    '<module>'
    """
    found, entry = [], error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        found.append(StackCall(frame.f_code, frame.f_globals, entry.tb_lineno or 0, entry.tb_lasti))
        entry = entry.tb_next
    return found[::-1]
