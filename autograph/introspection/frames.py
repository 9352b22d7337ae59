"""The stack as the user wrote it: one frame for a function, however deep in blocks it is, and none of agc's.

    helper                        helper           sys._getframe(1)     f's, at the line that calls helper
    f.<locals>.if_true            f                                     (where the block is)
    cond               (agc) ==>                   sys._getframe(2)     main's
    f                             main
    main

Code that looks at frames is given this stack wherever it is converted: `sys._getframe`, `frame.f_back`, the
`stacklevel` of `warnings` and `logging`, and the functions it gives to `sys.settrace` and `sys.setprofile`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from operator import index
from types import FrameType
from typing import Any, TypeVar

from ..errors import belongs, is_block, is_own_file, leave_no_trace

Result = TypeVar("Result")


def caller_of(frame: FrameType) -> FrameType | None:
    """The frame of the function that called the one that this frame is of."""
    above = _above(frame)
    while above is not None and is_block(frame.f_code) and belongs(frame.f_code, above.f_code):
        frame, above = above, _above(above)
    return above


def _above(frame: FrameType) -> FrameType | None:
    above = frame.f_back
    while above is not None and is_own_file(above.f_code.co_filename):
        above = above.f_back
    return above


def f_back(frame: Any) -> Any:
    """`frame.f_back`."""
    try:
        return caller_of(frame) if isinstance(frame, FrameType) else frame.f_back
    except BaseException as error:
        leave_no_trace(error)
        raise


def untraced(work: Callable[..., Result], *arguments: Any) -> Result:
    """Do work that no debugger or profiler written in Python is told of, because it is none of the user's."""
    trace, profile = sys.gettrace(), sys.getprofile()
    if not callable(profile):  # that of cProfile is written in C, and cannot be set again
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


def _getframe(depth: int = 0, /) -> FrameType:
    """Stands for `sys._getframe`."""
    try:
        frame: FrameType | None = sys._getframe(1)
        for _ in range(depth):
            frame = caller_of(frame) if frame is not None else None
        if frame is None:
            raise ValueError("call stack is not deep enough")
        return frame
    except BaseException as error:
        leave_no_trace(error)
        raise


def _getframemodulename(depth: int = 0) -> str | None:
    """Stands for `sys._getframemodulename`, which Python has from 3.12 on."""
    try:
        level = 1 + depth + _hidden(sys._getframe(1), depth)
        name: str | None = sys._getframemodulename(level)  # type: ignore[attr-defined]
        return name
    except BaseException as error:
        leave_no_trace(error)
        raise


def _warn(
    message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any
) -> None:
    """Stands for `warnings.warn`."""
    try:
        skipped = options.get("skip_file_prefixes", ())
        steps = max(index(stacklevel), 2 if skipped else 1) - 1
        level = 2 + steps + _hidden(sys._getframe(1), steps, skipped)
        warnings.warn(message, category, level, source, **options)
    except BaseException as error:
        leave_no_trace(error)
        raise


def leveled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, or what is called in its place with `stacklevel=`, when it is a function of `logging`."""
    return _Leveled(f) if getattr(f, "__module__", None) == "logging" else f


class _Leveled:
    """A function of `logging` that is told a `stacklevel` which counts the frames it must not count."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any, stacklevel: int, **options: Any) -> Any:
        try:
            level = 1 + stacklevel + _hidden(sys._getframe(1), stacklevel - 1)
            return self.function(*arguments, stacklevel=level, **options)
        except BaseException as error:
            leave_no_trace(error)
            raise


def _hidden(frame: FrameType, steps: int, skipped: tuple[str, ...] = ()) -> int:
    """How many frames Python would count too many on the way from a frame to a caller further out.

    What `warnings` does not count itself does not count here.
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
    """A function for `sys.settrace` or `sys.setprofile` that is told nothing of what agc does."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if is_own_file(frame.f_code.co_filename):
            return None
        return self.function(frame, event, argument)


def _settrace(function: Any, /) -> None:
    """Stands for `sys.settrace`."""
    sys.settrace(function if function is None else _Observer(function))


def _setprofile(function: Any, /) -> None:
    """Stands for `sys.setprofile`."""
    sys.setprofile(function if function is None else _Observer(function))


def _gettrace() -> Any:
    """Stands for `sys.gettrace`."""
    found = sys.gettrace()
    return found.function if isinstance(found, _Observer) else found


def _getprofile() -> Any:
    """Stands for `sys.getprofile`."""
    found: Any = sys.getprofile()
    return found.function if isinstance(found, _Observer) else found


# What looks at frames → what does so in its place.
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
