"""Code patching: while a function is traced, functions that Python or a library calls are converted in place.

    with converter.in_sight(f, arguments):     Angle.__add__, by_size, …    their code is replaced permanently
        f(*arguments)                          Angle(x), angle.turn()       classes found on the way: likewise

This happens only during tracing. In plain Python the converted code has the behavior of the original.
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

FRAMES_FOR_ONE = 8  # stack frames per frame of user code, while a staged block is traced
_DEEP = 8_000  # Python frames take no C stack, but those of the libraries in between may


class CodePatcher:
    """Replaces the code of functions, once for each function."""

    def __init__(
        self,
        operators: ModuleType,
        is_exempt: Callable[[FunctionType], bool],
        adopt: Callable[[CodeType], CodeType],
    ) -> None:
        self._limit = 0  # the recursion limit when nothing is traced
        self.depth = 0  # how many functions are being traced; a hint that any thread may change
        self._operators = operators
        self._is_exempt = is_exempt
        self._adopt = adopt
        self._lock = threading.RLock()
        self._codes: CodeMap[CodeType] = CodeMap()  # the user's code → the converted code
        self._stays: CodeMap[bool] = CodeMap()  # code that needs no conversion, or cannot be converted
        self.refused: CodeMap[ConversionError] = CodeMap()  # code that cannot be converted → the error
        self._met: CodeMap[bool] = CodeMap()

    @contextmanager
    def tracing(self, roots: Iterable[Any]) -> Iterator[None]:
        """Convert the functions reachable from `roots`, and those of classes met during the trace."""
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
        """Convert the methods of a class that converted code instantiates or calls a method of."""
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
            # Python runs the function unconverted. The error is reported if it needs a traced tensor's value.
            self.refused[f.__code__] = error
            return None


def needs_conversion(code: CodeType) -> bool:
    """Return whether conversion would change anything: the code has control flow or calls."""
    from ..syntax import source

    return source.has_control_flow(code) or _calls(code)


_CALLS = frozenset(number for name, number in opcode.opmap.items() if name.startswith("CALL"))


def _calls(code: CodeType) -> bool:
    return not _CALLS.isdisjoint(code.co_code[::2])
