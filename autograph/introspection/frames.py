"""Frames: the stack as the user wrote it, with one frame per function and none of agc's.

    helper                        helper           sys._getframe(1)     f's, at the line that calls helper
    f.<locals>.if_true            f                                     (the line in the block)
    cond               (agc) ==>                   sys._getframe(2)     main's
    f                             main
    main

Converted code that inspects frames gets this stack: in `sys._getframe`, `frame.f_back`, and the `stacklevel` of
`warnings` and `logging`. So do the functions that it passes to `sys.settrace` and `sys.setprofile`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from operator import index
from types import FrameType
from typing import Any, TypeVar

from ..errors import belongs, is_block, is_own_file
from ..traceback_filter import leaves_no_trace

Result = TypeVar("Result")


def caller_of(frame: FrameType) -> FrameType | None:
    """Return the frame of the function that called the function of `frame`."""
    above = _above(frame)
    while above is not None and is_block(frame.f_code) and belongs(frame.f_code, above.f_code):
        frame, above = above, _above(above)
    return above


def _above(frame: FrameType) -> FrameType | None:
    above = frame.f_back
    while above is not None and is_own_file(above.f_code.co_filename):
        above = above.f_back
    return above


@leaves_no_trace
def f_back(frame: Any) -> Any:
    """Return `frame.f_back` of the user's stack, or the attribute of any other object."""
    return caller_of(frame) if isinstance(frame, FrameType) else frame.f_back


def untraced(work: Callable[..., Result], *arguments: Any) -> Result:
    """Call `work` with Python debuggers and profilers disabled, because it is no user code."""
    trace, profile = sys.gettrace(), sys.getprofile()
    if not callable(profile):  # the profiler of cProfile is written in C, and cannot be set again
        profile = None
    if trace is None and profile is None:
        return work(*arguments)
    if profile is not None:
        sys.setprofile(None)
    sys.settrace(None)
    try:
        return work(*arguments)
    finally:
        sys.settrace(trace)
        if profile is not None:
            sys.setprofile(profile)


@leaves_no_trace
def _getframe(depth: int = 0, /) -> FrameType:
    """Replace `sys._getframe` in converted code."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(depth):
        frame = caller_of(frame) if frame is not None else None
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


@leaves_no_trace
def _getframemodulename(depth: int = 0) -> str | None:
    """Replace `sys._getframemodulename`, which Python has from 3.12 on."""
    level = 1 + depth + _hidden(sys._getframe(1), depth)
    name: str | None = sys._getframemodulename(level)  # type: ignore[attr-defined]
    return name


@leaves_no_trace
def _warn(
    message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any
) -> None:
    """Replace `warnings.warn` in converted code."""
    skipped = options.get("skip_file_prefixes", ())
    steps = max(index(stacklevel), 2 if skipped else 1) - 1
    level = 2 + steps + _hidden(sys._getframe(1), steps, skipped)
    warnings.warn(message, category, level, source, **options)


def leveled(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a callable that corrects `stacklevel=` if `f` is a function of `logging`, else `f` itself."""
    return _Leveled(f) if getattr(f, "__module__", None) == "logging" else f


class _Leveled:
    """A function of `logging` that is called with a `stacklevel` corrected for hidden frames."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @leaves_no_trace
    def __call__(self, *arguments: Any, stacklevel: int, **options: Any) -> Any:
        level = 1 + stacklevel + _hidden(sys._getframe(1), stacklevel - 1)
        return self.function(*arguments, stacklevel=level, **options)


def _hidden(frame: FrameType, steps: int, skipped: tuple[str, ...] = ()) -> int:
    """Return the number of hidden frames between `frame` and the caller `steps` levels further out.

    Frames that `warnings` does not count are not counted here either.
    """
    hidden = 0
    for _ in range(steps):
        target: FrameType | None = caller_of(frame)
        while target is not None and _is_passed_over(target, skipped):
            target = caller_of(target)
        above = frame.f_back
        while above is not None and above is not target:
            hidden += not _is_passed_over(above, skipped)
            above = above.f_back
        if target is None:
            break
        frame = target
    return hidden


def _is_passed_over(frame: FrameType, skipped: tuple[str, ...]) -> bool:
    filename = frame.f_code.co_filename
    return ("importlib" in filename and "_bootstrap" in filename) or filename.startswith(skipped)


class _Observer:
    """A function for `sys.settrace` or `sys.setprofile` that gets no events of agc's own code.

    Blocks are part of the function around them: no calls, but lines for the function that traces its lines.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if is_own_file(frame.f_code.co_filename):
            return None
        if event in ("call", "return") and is_block(frame.f_code):
            return _tracer_around(frame)
        return self.function(frame, event, argument)


def _tracer_around(frame: FrameType | None) -> Any:
    """Return what traces the lines of the user's function around a block."""
    while frame is not None and (is_block(frame.f_code) or is_own_file(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame and frame.f_trace


def _settrace(function: Any, /) -> None:
    """Replace `sys.settrace` in converted code."""
    sys.settrace(function if function is None else _Observer(function))


def _setprofile(function: Any, /) -> None:
    """Replace `sys.setprofile` in converted code."""
    sys.setprofile(function if function is None else _Observer(function))


def _gettrace() -> Any:
    """Replace `sys.gettrace` in converted code."""
    found = sys.gettrace()
    return found.function if isinstance(found, _Observer) else found


def _getprofile() -> Any:
    """Replace `sys.getprofile` in converted code."""
    found: Any = sys.getprofile()
    return found.function if isinstance(found, _Observer) else found


# Function that inspects frames → its replacement.
STAND_INS: dict[Callable[..., Any], Callable[..., Any]] = {
    sys._getframe: _getframe,
    warnings.warn: _warn,
    sys.settrace: _settrace,
    sys.gettrace: _gettrace,
    sys.setprofile: _setprofile,
    sys.getprofile: _getprofile,
}
if sys.version_info >= (3, 12):
    STAND_INS[sys._getframemodulename] = _getframemodulename
