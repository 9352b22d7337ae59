"""While a function is traced: what Python and libraries call is converted where it is.

    with converter.in_sight(f, arguments):     Angle.__add__, by_size, …    their code is exchanged, for good
        f(*arguments)                          Angle(x), angle.turn()       classes met on the way: likewise

Only tracing does this. In plain Python the converted code does what the original did.
"""

from __future__ import annotations

import opcode
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .. import policy
from ..errors import ConversionError
from ..introspection.code_objects import CodeMap
from .conversion_log import LISTING

FRAMES_FOR_ONE = 8  # of the stack, for one of the user's: while a staged block is traced
_DEEP = 8_000  # Python's own frames take no C stack, but those of the libraries in between may


class CodePatcher:
    """Exchanges the code of functions, once for each."""

    def __init__(
        self,
        operators: ModuleType,
        is_exempt: Callable[[FunctionType], bool],
        adopt: Callable[[CodeType], CodeType],
    ) -> None:
        self._limit = 0  # of the recursion, when nothing is traced
        self.depth = 0  # how many functions are being traced; a hint, which any thread may change
        self._operators = operators
        self._is_exempt = is_exempt
        self._adopt = adopt
        self._lock = threading.RLock()
        self._codes: CodeMap[CodeType] = CodeMap()  # the user's code → the converted one
        self._stays: CodeMap[bool] = CodeMap()  # code that has nothing to convert, or cannot be converted
        self.refused: CodeMap[ConversionError] = CodeMap()  # of these, what cannot be converted, and why
        self._met: CodeMap[bool] = CodeMap()

    @contextmanager
    def tracing(self, roots: Iterable[Any]) -> Iterator[None]:
        """Convert what is in sight of these functions, classes and arguments; then what comes into sight."""
        self._look(roots)
        with self._lock:
            self.depth += 1
            if self.depth == 1:
                self._limit = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._limit, min(FRAMES_FOR_ONE * self._limit, _DEEP)))
        try:
            yield
        finally:
            with self._lock:
                self.depth -= 1
                if self.depth == 0:
                    sys.setrecursionlimit(self._limit)

    def meet(self, cls: type) -> None:
        """Converted code makes an instance, or calls a method of one."""
        if cls not in self._met:
            self._met[cls] = True
            if policy.is_user_class(cls):
                self._look([cls])

    def _look(self, roots: Iterable[Any]) -> None:
        from .reachable_callables import ReachableCallables

        with self._lock:
            for f in ReachableCallables().look(roots):
                self._convert(f)

    def _convert(self, f: FunctionType) -> None:
        code = f.__code__
        if code in self._stays or self._is_exempt(f):
            return
        new = self._codes.get(code)
        if new is None:
            new = self._converted(f)
            if new is None:
                self._stays[code] = True
                return
            self._codes[code] = self._adopt(new)
            LISTING.note(new, "converted in place")
        f.__code__ = new

    def _converted(self, f: FunctionType) -> CodeType | None:
        from ..syntax import source
        from . import in_place_code

        if not needs_conversion(f.__code__) or not source.exists(f):
            return None
        try:
            return in_place_code.code_in_place(f, self._operators)
        except ConversionError as error:
            LISTING.note(f.__code__, "left alone", error.diagnostic.title)
            self.refused[f.__code__] = error  # Python runs it as it is; for a traced tensor this will be said
            return None


def needs_conversion(code: CodeType) -> bool:
    """Whether conversion would change anything: the code branches or calls."""
    from ..syntax import source

    return source.has_control_flow(code) or _calls(code)


_CALLS = frozenset(number for name, number in opcode.opmap.items() if name.startswith("CALL"))


def _calls(code: CodeType) -> bool:
    return not _CALLS.isdisjoint(code.co_code[::2])
