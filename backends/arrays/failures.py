"""Failed checks as values: `assert` and `raise` set a code, and what called the function raises the exception.

    if x < 0:                           code = cond(x < 0, lambda: 1, lambda: 0)
        raise ValueError("bad")   ⇒     …
                                        return result, code         1 → ValueError("bad")

Compiled programs cannot raise. So each block returns a code besides its results: 0, or the number of the exception that
came first. Loops end when a code is set. `agc.jax.jit` and `agc.torch.compile` read the code after the call. Where only
the library sees the result, as in `jax.jit(autograph(f))`, the program raises the exception while it runs.
"""

from __future__ import annotations

import copy
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from agc.autograph import staging
from agc.autograph.api import Note, running
from agc.autograph.staging_errors import staging_error

from .library import Library


class Never(BaseException):
    """Ends the trace of a block that always fails; its code is set already."""


class Checks:
    """The code of one traced block, and the checks that it has had up to now."""

    def __init__(self, library: Library, outer: Checks | None) -> None:
        self.library = library
        self.outer = outer
        self.code: Any = None  # a scalar int32, or None before the first check
        self.errors: list[BaseException] = [] if outer is None else outer.errors
        # Values in texts, with their formats; `print` fills them in.
        self.formatted: list[tuple[Any, str]] = [] if outer is None else outer.formatted
        self.refusals: list[BaseException] = [] if outer is None else outer.refusals
        self.entered: FrameType | None = None if outer is None else outer.entered
        self._trace = library.trace_state()

    def fail(self, code: Any) -> None:
        """Set the code unless one is set already.

        In a function that the library traces by itself, such as the body of a `lax.scan`, the code cannot leave it: the
        program raises the exception while it runs.
        """
        if self._trace != self.library.trace_state():
            self.library.raise_when_run(tuple(self.errors), code)
        else:
            self.code = code if self.code is None else self.library.where(self.code != 0, self.code, code)

    def number_of(self, error: BaseException) -> int:
        """Register an exception; return its code. One that no `raise` has given a line gets the running one."""
        if error.__traceback__ is None and not hasattr(error, "__notes__"):
            error.add_note(f"raised by {running()}")
        self.errors.append(error)
        return len(self.errors)

    def is_fine(self) -> Any:
        """Return a traced bool: no check has failed in this block and those around it; None without checks."""
        codes = []
        checks: Checks | None = self
        while checks is not None:
            if checks.code is not None:
                codes.append(checks.code == 0)
            checks = checks.outer
        return functools.reduce(self.library.logical_and, codes) if codes else None


class _Current(threading.local):
    checks: Checks | None = None


_current = _Current()


def current() -> Checks:
    checks = _current.checks
    assert checks is not None, "control flow is staged in converted functions only"
    return checks


def library() -> Library:
    """Return the library that traces the running function."""
    return current().library


def is_active(library: Library) -> bool:
    """Return whether this library traces the running function."""
    return _current.checks is not None and _current.checks.library is library


def is_running() -> bool:
    """Return whether any library traces the running function."""
    return _current.checks is not None


@contextmanager
def outermost(library: Library) -> Iterator[Checks]:
    """Collect the checks of a function that the library is about to trace."""
    checks = Checks(library, None)
    checks.entered = sys._getframe(2)  # of the function that is traced, below `contextmanager`
    with _running(checks):
        yield checks


@contextmanager
def block() -> Iterator[Checks]:
    """Collect the checks of a block while it is traced."""
    outer = current()
    with _running(Checks(outer.library, outer)) as checks:
        yield checks


@contextmanager
def _running(checks: Checks) -> Iterator[Checks]:
    before = _current.checks
    _current.checks = checks
    try:
        yield checks
    finally:
        _current.checks = before


def code(number: int) -> Any:
    """Return the code of an exception as an array; 0 is none."""
    return library().code(number)


def check(test: Any, message: Callable[[], Any] | None) -> None:
    """Stage `assert test, message()`. The message is made while the function is traced."""
    said = () if message is None else (message(),)
    error = said[0] if said and isinstance(said[0], BaseException) else AssertionError(*said)
    checks = current()
    _refuse_handlers(error, checks)
    checks.fail(checks.library.where(test, code(0), code(checks.number_of(error))))


def fail(error: BaseException) -> None:
    """Record that the running block raises `error`."""
    checks = current()
    _refuse_handlers(error, checks)
    checks.fail(code(checks.number_of(error)))


def _refuse_handlers(error: BaseException, checks: Checks) -> None:
    """Refuse an exception that an `except` of the traced function would catch.

    That would catch the refusal as well, so it is kept, to be raised at the end of the trace.
    """
    handler = staging.surroundings(error, checks.entered).catching
    if handler is None:
        return
    kind = type(error).__name__
    refusal = staging_error(
        "AGC260",
        f"an `except` cannot catch this {kind}: it is raised when the program runs",
        why="by then Python has left the `try` statement",
        fix="let the branch return a value that signals the error, and test it; or catch the exception around "
        "the call of the compiled function",
        notes=[Note(handler, f"catches {kind}")],
    )
    checks.refusals.append(refusal)
    raise refusal from None


def leave(checks: Checks) -> None:
    """Hand the code of a function's checks to the function around it, or let the program raise the exception."""
    if checks.code is None:
        return
    outer = _current.checks
    if outer is None or outer.library is not checks.library:
        checks.library.raise_when_run(tuple(checks.errors), checks.code)
    else:
        before = len(outer.errors)
        outer.errors.extend(checks.errors)
        outer.fail(checks.library.where(checks.code == 0, checks.code, checks.code + before))


def raise_of(errors: tuple[BaseException, ...], code: int) -> None:
    """Raise a copy of the exception with this code; 0 is no exception."""
    if code:
        error = errors[code - 1]
        raise _fresh(error).with_traceback(error.__traceback__)


def _fresh(error: BaseException) -> BaseException:
    try:
        return copy.copy(error)
    except Exception:  # its class cannot be copied
        return error
