"""What was converted, what was not, and why: kept for who asks.

autograph.conversions()   ==>   converted           fit, at train.py:12
                                converted in place  Angle.__add__, at angles.py:30
                                left alone          median, at …/statistics.py:530: a library's
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from .codes import CodeMap


class Conversion(NamedTuple):
    """What was decided about one function."""

    outcome: str  # 'converted', 'converted in place' or 'left alone'
    function: str
    file: str
    line: int
    why: str = ""

    def __str__(self) -> str:
        reason = f": {self.why}" if self.why else ""
        return f"{self.outcome:19} {self.function}, at {self.file}:{self.line}{reason}"


class Listing:
    """The decisions, for as long as the code lives."""

    def __init__(self) -> None:
        self._known: CodeMap[Conversion] = CodeMap()

    def note(self, code: CodeType, outcome: str, why: str = "") -> None:
        name = code.co_qualname.rpartition("<locals>.")[2]
        self._known[code] = Conversion(outcome, name, code.co_filename, code.co_firstlineno, why)

    def __iter__(self) -> Iterator[Conversion]:
        return iter(sorted(set(self._known.facts()), key=lambda found: (found.file, found.line, found)))


LISTING = Listing()


def conversions() -> list[Conversion]:
    """What has been converted so far, in order of files and lines, and what was met and left alone."""
    return list(LISTING)
