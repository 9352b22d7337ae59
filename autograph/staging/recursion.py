"""Detect recursion that a tensor would have to end: tracing it would never end.

    def fact(n):                                  trace fact(n): both branches are followed
        if n <= 1:                                    trace fact(n - 1): both branches are followed
            return 1                  ==>                 trace fact(n - 1 - 1): …
        return n * fact(n - 1)                    AGC280

Recursion that Python bounds is allowed: over the nodes of a tree, or down to a depth that is a Python number. A
function that the backend traces by itself may call itself: the call becomes an operation. An error is raised if only
tensors differ between many successive calls. It is also raised for very many calls, or when the stack is exhausted:
chains of closures such as `lambda x: inner(x)` differ in the functions that they hold, and end.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FrameType, FunctionType, MethodType, TracebackType
from typing import Any

from ..errors import Diagnostic, Note, StagingError, Where, is_own_file
from ..policy import is_library_file
from .backend import PYTHON
from .registry import backends
from .undefined import Undefined

_ALIKE = 20  # calls; Python state that is not compared may still differ
_FRESH = (
    200  # calls that differ only in the functions that their closures hold, which each call may create anew
)
_MOST = 600  # calls, whatever changes: such a deep graph is useless
_MANY = 8  # calls from which an exhausted stack is attributed to this recursion
_DEEP = 3  # depth to which structures are compared

_FOLLOWS = "tracing follows every branch, so the calls would never end"
_DEEP_CALLS = (
    f"tracing follows every branch, and more than {_FRESH} calls are nested, which differ in functions only"
)
_EXHAUSTED = (
    "tracing follows every branch, and the calls are nested so deeply that Python's stack was exhausted"
)

Key = Any


class _Running(threading.local):
    """The staged decisions that are being traced, by their location in user code."""

    def __init__(self) -> None:
        self.at: dict[tuple[int, int], list[deciding]] = {}


_running = _Running()


class deciding:  # noqa: N801  (used like a function: `with deciding():`)
    """A context manager for a staged decision while its dependent code is traced.

    >>> with deciding():
    ...     print("both branches are traced here")
    both branches are traced here
    """

    def __init__(self) -> None:
        frame = sys._getframe(1)
        while is_own_file(frame.f_code.co_filename) and frame.f_back is not None:
            frame = frame.f_back
        self.frame, self.line = frame, frame.f_lineno
        self.site = id(frame.f_code), frame.f_lasti
        self.alike = 0  # previous calls that differ in tensors, and perhaps in functions, only
        self.fresh = False  # whether one of them differs in functions
        self.deepest: Diagnostic | None = None  # the error to raise when the stack is exhausted
        self.state: Key = None
        self.held: list[list[int]] = []  # the functions in the closures of the frames

    def __enter__(self) -> None:
        rounds = _running.at.setdefault(self.site, [])
        # In a chain of `elif`, each decision is nested in the previous one.
        if rounds and rounds[-1].frame is not self.frame:
            previous = rounds[-1]
            frames = list(self._round(previous))
            self.state, self.held = [_state_of(frame) for frame in frames], [*map(_functions_of, frames)]
            if self.state == previous.state:
                self.alike = previous.alike + 1
                self.fresh = previous.alike > 0 and (previous.fresh or self.held != previous.held)
            if self.alike >= (_FRESH if self.fresh else _ALIKE) or len(rounds) >= _MOST:
                raise StagingError(self._endless(previous, _DEEP_CALLS if self.fresh else _FOLLOWS))
            if len(rounds) >= _MANY and rounds[0].deepest is None:
                rounds[0].deepest = self._endless(previous, _EXHAUSTED)
        rounds.append(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        rounds = _running.at[self.site]
        rounds.pop()
        if not rounds:
            del _running.at[self.site]
        if isinstance(error, RecursionError) and self.deepest is not None:
            raise StagingError(self.deepest) from None

    def _round(self, previous: deciding) -> Iterator[FrameType]:
        """Yield the frame of the decision, and those of user code out to the previous instance of the decision."""
        frame: FrameType | None = self.frame
        while frame is not None and frame is not previous.frame:
            if frame is self.frame or not is_library_file(
                frame.f_code.co_filename, frame.f_globals.get("__name__")
            ):
                yield frame
            frame = frame.f_back

    def _endless(self, previous: deciding, why: str) -> Diagnostic:
        decided = _where(self.frame, self.line)
        *_, calling = (self.frame, *self._round(previous))
        here = decided if calling is self.frame else _where(calling, calling.f_lineno)
        name = calling.f_code.co_name
        return Diagnostic(
            "AGC280",
            f"`{name}` calls itself, and a tensor decides when that ends"
            if why == _FOLLOWS
            else f"calls of `{name}` are nested very deeply, and a tensor decides about each",
            here,
            notes=(Note(decided, "decided when the graph runs"),) if decided != here else (),
            why=why,
            fix="decorate the function that calls itself with tf.function, or write a `while` loop; a recursion that "
            "ends by Python values needs no change",
        )


def _where(frame: FrameType, line: int) -> Where:
    return Where(frame.f_code.co_filename, line, function=frame.f_code.co_name)


def _state_of(frame: FrameType) -> Key:
    return frame.f_code, {name: _key(value, _DEEP) for name, value in frame.f_locals.items()}


def _key(value: Any, depth: int) -> Key:
    """Return a comparison key of a value: of a tensor only its type, of others the state that Python can
    test."""
    kind = type(value)
    if backends[kind] is not PYTHON:
        return kind, str(getattr(value, "dtype", "")), str(getattr(value, "shape", ""))
    if kind in (int, float, complex, bool, str, bytes, type(None)):
        return kind, value
    if isinstance(value, Undefined):
        return kind
    if depth:
        if kind in (list, tuple, set, frozenset):
            return kind, [_key(part, depth - 1) for part in value]
        if kind is dict:
            return kind, [(_key(key, 0), _key(part, depth - 1)) for key, part in value.items()]
        if isinstance(value, FunctionType):
            # Each call creates a block or lambda anew; compare the objects that it refers to.
            cells = value.__closure__ or ()
            return value.__code__, [_key(cell, depth) for cell in map(_contents, cells)]
        if isinstance(value, MethodType):
            return _key(value.__func__, depth), _key(value.__self__, depth)
        state = getattr(value, "__dict__", None)
        if isinstance(state, dict):
            return id(value), [(name, _key(part, 0)) for name, part in state.items()]
    return value.__code__ if isinstance(value, FunctionType) else id(value)


def _functions_of(frame: FrameType) -> list[int]:
    """Return the identities of the functions in the closure of a frame."""
    values = map(frame.f_locals.get, frame.f_code.co_freevars)
    return [id(value) for value in values if isinstance(value, FunctionType)]


def _contents(cell: Any) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:  # unbound variable
        return None
    return None if isinstance(value, FunctionType) else value
