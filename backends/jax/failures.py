"""Failed checks as values: `assert` and `raise` set a code, and what called the function raises the exception.

    if x < 0:                           code = cond(x < 0, lambda: 1, lambda: 0)
        raise ValueError("bad")   ⇒     …
                                        return result, code         1 → ValueError("bad")

XLA cannot raise. So each block returns a code besides its results: 0, or the number of the exception that came first.
Loops end when a code is set. `agc.jax.jit` reads the code after the call. Where only JAX sees the result, as in
`jax.jit(autograph(f))`, a callback raises the exception while the program runs.
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
from agc.autograph.api import Note
from agc.autograph.staging_errors import staging_error

import jax
import jax.numpy as jnp
from jax.extend.core import get_opaque_trace_state


class Never(BaseException):
    """Ends the trace of a block that always fails; its code is set already."""


class Checks:
    """The code of one traced block, and the checks that it has had up to now."""

    def __init__(self, outer: Checks | None) -> None:
        self.outer = outer
        self.code: Any = None  # a scalar int32, or None before the first check
        self.errors: list[BaseException] = [] if outer is None else outer.errors
        self.refusals: list[BaseException] = [] if outer is None else outer.refusals
        self.entered: FrameType | None = None if outer is None else outer.entered
        self._trace = get_opaque_trace_state()

    def fail(self, code: Any) -> None:
        """Set the code unless one is set already.

        In a function that JAX traces by itself, such as the body of a `lax.scan`, the code cannot leave it: a callback
        raises the exception.
        """
        if self._trace != get_opaque_trace_state():
            _raise_by_callback(tuple(self.errors), code)
        else:
            self.code = code if self.code is None else jnp.where(self.code != 0, self.code, code)

    def number_of(self, error: BaseException) -> int:
        """Register an exception; return its code."""
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
        return functools.reduce(jnp.logical_and, codes) if codes else None


class _Current(threading.local):
    checks: Checks | None = None


_current = _Current()


def current() -> Checks:
    checks = _current.checks
    assert checks is not None, "control flow is staged in functions of agc.jax only"
    return checks


def is_active() -> bool:
    """Return whether a function of `agc.jax` is running."""
    return _current.checks is not None


@contextmanager
def block(is_outermost: bool = False) -> Iterator[Checks]:
    """Collect the checks of a block while it is traced."""
    outer = _current.checks
    _current.checks = checks = Checks(None if is_outermost else outer)
    if is_outermost:
        checks.entered = sys._getframe(2)  # of the function that is traced, below `contextmanager`
    try:
        yield checks
    finally:
        _current.checks = outer


def check(test: Any, message: Callable[[], Any] | None) -> None:
    """Stage `assert test, message()`. The message is made while the function is traced."""
    said = () if message is None else (message(),)
    error = said[0] if said and isinstance(said[0], BaseException) else AssertionError(*said)
    checks = current()
    _refuse_handlers(error, checks)
    checks.fail(jnp.where(test, 0, checks.number_of(error)).astype(jnp.int32))


def fail(error: BaseException) -> None:
    """Record that the running block raises `error`."""
    checks = current()
    _refuse_handlers(error, checks)
    checks.fail(jnp.int32(checks.number_of(error)))


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
    """Hand the code of a function's checks to the function around it, or to a callback."""
    if checks.code is None:
        return
    outer = _current.checks
    if outer is None:
        _raise_by_callback(tuple(checks.errors), checks.code)
    else:
        before = len(outer.errors)
        outer.errors.extend(checks.errors)
        outer.fail(jnp.where(checks.code == 0, 0, checks.code + before))


def _raise_by_callback(errors: tuple[BaseException, ...], code: Any) -> None:
    jax.debug.callback(lambda code: raise_of(errors, int(code)), code)


@jax.tree_util.register_pytree_node_class
class Code:
    """The code of a function's checks among the results of a compiled function, with the exceptions."""

    def __init__(self, code: Any, errors: _Errors) -> None:
        self.code, self.errors = code, errors

    def tree_flatten(self) -> tuple[tuple[Any], _Errors]:
        return (self.code,), self.errors

    @classmethod
    def tree_unflatten(cls, errors: _Errors, children: tuple[Any]) -> Code:
        return cls(*children, errors)


class _Errors(list[BaseException]):
    """Exceptions that are equal to themselves only: they are a part of the type of the results."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def code_of(checks: Checks) -> Code | None:
    """Return what a compiled function returns besides its results; None without checks."""
    return None if checks.code is None else Code(checks.code, _Errors(checks.errors))


def raise_from(code: Code | None) -> None:
    """Raise the exception that a compiled function has found, if any."""
    if code is None:
        return
    if not isinstance(code.code, jax.core.Tracer):
        raise_of(tuple(code.errors), int(code.code))
        return
    inner = Checks(None)
    inner.code, inner.errors = code.code, list(code.errors)
    leave(inner)


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
