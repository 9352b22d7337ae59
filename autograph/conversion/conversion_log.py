"""Conversion log: the functions that were converted or left alone, and the reasons.

autograph.conversions()   ==>   converted           fit, at train.py:12
                                with its module     relu, at layers.py:4
                                converted in place  Angle.__add__, at angles.py:30
                                left alone          median, at …/statistics.py:530: a library's
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CodeType
from typing import NamedTuple

from ..introspection.code_objects import CodeMap


class Conversion(NamedTuple):
    """The decision about one function.

    `outcome` is "converted", "with its module" (by the import hook or a converted program), "converted in place" (its
    code was replaced, since Python calls it) or "left alone", for the reason `why`.

    >>> print(Conversion("left alone", "fit", "train.py", 3, "it is in a library"))
    left alone          fit, at train.py:3: it is in a library
    """

    outcome: str
    function: str
    file: str
    line: int
    why: str = ""

    def __str__(self) -> str:
        reason = f": {self.why}" if self.why else ""
        return f"{self.outcome:19} {self.function}, at {self.file}:{self.line}{reason}"


class Listing:
    """The decisions about all functions, kept for as long as their code lives."""

    def __init__(self) -> None:
        self._known: CodeMap[Conversion] = CodeMap()

    def note(self, code: CodeType, outcome: str, why: str = "") -> None:
        name = code.co_qualname.rpartition("<locals>.")[2]
        self._known[code] = Conversion(outcome, name, code.co_filename, code.co_firstlineno, why)

    def note_module(self, codes: Iterable[CodeType]) -> None:
        """Record the functions of a converted module, but not class bodies and comprehensions."""
        for code in codes:
            if code.co_flags & _OF_FUNCTIONS == _OF_FUNCTIONS and not code.co_name.startswith(_NAMELESS):
                self.note(code, _WITH_MODULE)

    def __iter__(self) -> Iterator[Conversion]:
        decisions = set(self._known.facts())
        # `do_not_convert` restores the original code of a function. The converted code may live on for a
        # while.
        alone = {_sort_key(found) for found in decisions if found.outcome != _WITH_MODULE}
        last = [
            found for found in decisions if found.outcome != _WITH_MODULE or _sort_key(found) not in alone
        ]
        return iter(sorted(last, key=lambda found: (found.file, found.line, found)))


def _sort_key(found: Conversion) -> tuple[str, int, str]:
    return found.file, found.line, found.function


_WITH_MODULE = "with its module"
_OF_FUNCTIONS = 0x01 | 0x02  # CO_OPTIMIZED and CO_NEWLOCALS
_NAMELESS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<generic")


LISTING = Listing()


def conversions() -> list[Conversion]:
    """Return the decisions about all functions so far, in the order of files and lines.

    >>> isinstance(conversions(), list)
    True
    """
    return list(LISTING)
