"""Findings of `agc check` in one file, filtered by options and comments.

while xs > 0:  # agc: ignore[AGC192]      one code, on this line
while xs > 0:  # agc: ignore              whatever it is, on this line
--select AGC1,AGC303 --ignore AGC19       codes, or how they begin
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agc import autograph
from agc.autograph.errors import Diagnostic, Where

from . import sources
from .errors import FAILED, FAULT, CommandError, fault

# The decorators that make graphs. Values in decorated functions, and in their callees, may be tensors.
TRACERS = ("agc.runtime.function", "tensorflow.function")

_COMMENT = re.compile(r"#\s*agc:\s*ignore(?:\s*\[([^\]]*)\])?")


class Finding(NamedTuple):
    """A problem, and the exit code that it calls for."""

    diagnostic: Diagnostic
    exit_code: int = FAILED


class Choice(NamedTuple):
    """The codes of `--select` and `--ignore`."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def selects(self, code: str) -> bool:
        """Return whether a code is selected. Internal errors are never hidden.

        >>> choice = Choice(select=("AGC1",), ignore=("AGC19",))
        >>> [choice.selects(code) for code in ("AGC110", "AGC191", "AGC303")]
        [True, False, False]
        """
        if code == FAULT:
            return True
        return (not self.select or code.startswith(self.select)) and not code.startswith(self.ignore)


def look(path: str, *, strict: bool = False) -> tuple[list[Finding], int]:
    """Return the findings in a file by line, and the number that comments have silenced."""
    try:
        source = sources.read(path)
        sources.parse(source)
        found = autograph.check_source(source.text, source.label, tracers=TRACERS, everywhere=strict)
    except Exception as error:  # a fault of agc's own must not hide what is wrong with other files
        end = error if isinstance(error, CommandError) else fault(error)
        return [Finding(_placed(end.diagnostic, path), end.exit_code)], 0
    lines = source.text.split("\n")
    heard = [diagnostic for diagnostic in found if not is_silenced(diagnostic, lines)]
    return [Finding(diagnostic) for diagnostic in heard], len(found) - len(heard)


def _placed(diagnostic: Diagnostic, path: str) -> Diagnostic:
    return diagnostic if diagnostic.where is not None else diagnostic._replace(where=Where(path))


def is_silenced(diagnostic: Diagnostic, lines: Sequence[str]) -> bool:
    """Return whether a comment on the line of a problem silences it."""
    line = diagnostic.where.line if diagnostic.where is not None else 0
    comment = _COMMENT.search(lines[line - 1]) if 0 < line <= len(lines) else None
    if comment is None:
        return False
    return comment[1] is None or diagnostic.code in re.split(r"[\s,]+", comment[1].strip().upper())
