"""Code patching: while a function is traced, functions that Python or a library calls are converted in place.

    with converter.in_sight(f, arguments):     Angle.__add__, by_size, …    have the converted code
        f(*arguments)                          Angle(x), angle.turn()       classes found on the way: likewise
                                               Angle.__add__, by_size, …    have their own code again

Threads share functions, so they all run the converted code meanwhile. With plain values it has the behavior of
the original.
"""

from __future__ import annotations

import opcode
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .. import policy
from ..errors import ConversionError
from ..introspection.code_objects import CodeMap
from ..introspection.garbage import rare_collections
from ..introspection.recursion_limit import raised_recursion_limit
from .conversion_log import LISTING

if TYPE_CHECKING:
    from .function_code import ConvertedCode
    from .reachable_callables import ReachableCallables

FRAMES_FOR_ONE = 8  # stack frames per frame of user code, while a staged block is traced
_DEEP = 8_000  # Python frames take no C stack, but those of the libraries in between may


class CodePatcher:
    """Replaces the code of functions during traces."""

    def __init__(
        self,
        operators: ModuleType,
        is_exempt: Callable[[FunctionType], bool],
        load: Callable[[FunctionType], ConvertedCode],
        adopt: Callable[[CodeType], CodeType],
    ) -> None:
        self.depth = 0  # how many functions are being traced, by all threads; a hint outside of the lock
        self._operators = operators
        self._is_exempt = is_exempt
        self._load = load
        self._adopt = adopt
        self._lock = threading.RLock()
        self._codes: CodeMap[CodeType] = CodeMap()  # the user's code → the converted code
        self._stays: CodeMap[bool] = CodeMap()  # code that needs no conversion, or cannot be converted
        self.refused: CodeMap[ConversionError] = CodeMap()  # code that cannot be converted → the error
        self._met: CodeMap[bool] = CodeMap()  # the classes and methods met during the current traces
        self._reachable: ReachableCallables | None = None  # from the roots of the innermost trace
        self._own: dict[FunctionType, CodeType] = {}  # the functions with converted code → the user's code

    @contextmanager
    def tracing(self, roots: Iterable[Any]) -> Iterator[None]:
        """Convert the functions reachable from `roots`, and those of classes met during the trace.

        At the end of the outermost trace, the functions get their own code back.
        """
        with raised_recursion_limit(_limit_for), rare_collections():
            with self._lock:
                self.depth += 1
                outer, self._reachable = self._reachable, None
            try:
                self._look(roots)
                yield
            finally:
                with self._lock:
                    self.depth -= 1
                    self._reachable = outer
                    if not self.depth:
                        self._put_back()

    def meet(self, root: type | FunctionType) -> None:
        """Convert what is reachable from a class that converted code instantiates, or from a method that it calls."""
        if root in self._met:
            return
        with self._lock:
            if self.depth:  # otherwise the trace of another thread has ended in the meantime
                self._met[root] = True
                self._look([root])

    def with_own_code(self, f: FunctionType) -> FunctionType:
        """Return a function with the user's code of `f`: `f` itself unless it has converted code now."""
        code = self._own.get(f)
        if code is None or f.__code__ is not self._codes.get(code):
            return f
        own = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        own.__module__, own.__qualname__ = f.__module__, f.__qualname__
        return own

    def _look(self, roots: Iterable[Any]) -> None:
        from .reachable_callables import ReachableCallables

        with self._lock:
            if self._reachable is None:
                self._reachable = ReachableCallables()
            for f in self._reachable.look(roots):
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
            original = weakref.ref(code)
            policy.remember_original(new, lambda converted: original())
            LISTING.note(code, "converted in place")
        self._own[f] = code
        f.__code__ = new

    def _put_back(self) -> None:
        """Give all functions their own code back, except those whose code the program has replaced since."""
        for f, code in self._own.items():
            if f.__code__ is self._codes.get(code):
                f.__code__ = code
        self._own.clear()
        self._met.clear()

    def _converted(self, f: FunctionType) -> CodeType | None:
        from ..syntax import source
        from . import in_place_code

        if not needs_conversion(f.__code__) or not source.exists(f):
            return None
        try:
            return in_place_code.code_in_place(f, self._load(f).code, self._operators)
        except ConversionError as error:
            LISTING.note(f.__code__, "left alone", error.diagnostic.title)
            # Python runs the function unconverted. The error is reported if it needs a traced tensor's value.
            self.refused[f.__code__] = error
            return None


def _limit_for(limit: int) -> int:
    """Return the recursion limit for traces of a program with this limit."""
    return min(FRAMES_FOR_ONE * limit, _DEEP)


def needs_conversion(code: CodeType) -> bool:
    """Return whether conversion would change anything: the code has control flow or calls."""
    from ..syntax import source

    return source.has_control_flow(code) or _calls(code)


_CALLS = frozenset(number for name, number in opcode.opmap.items() if name.startswith("CALL"))


def _calls(code: CodeType) -> bool:
    return not _CALLS.isdisjoint(code.co_code[::2])
