"""Diagnostic AGC281: why code that needs the value of a traced tensor was not converted.

@do_not_convert                        error[AGC281]: `sign` was not converted, and needs the value of a tensor
def sign(x):                ==>        why: `do_not_convert` marks it
    return 1 if x > 0 else 0           fix: …
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType

from .. import policy
from ..errors import ConversionError, Diagnostic, Where, is_own_file
from ..introspection.code_objects import CodeMap
from .diagnose_python_only import undecided

_ELSEWHERE = "decide with tf.where or tf.cond"


def unconverted(
    label: str, is_made: Callable[[CodeType], bool], refused: CodeMap[ConversionError]
) -> Diagnostic | None:
    """Return the error for the running code, or None if none applies.

    `label` names the value that the code needs. `is_made` returns whether code is the result of a conversion.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or frame.f_code.co_name == "<module>":
        return None
    if is_made(frame.f_code) or _is_printed(frame):
        return undecided(frame, label)
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    why, fix = _reason(frame, is_made, refused)
    if policy.is_library_file(frame.f_code.co_filename, _module(frame)):
        frame = _user(frame)
    where = Where(frame.f_code.co_filename, frame.f_lineno, function=frame.f_code.co_name)
    title = f"`{name}` was not converted, and needs the value of a traced tensor"
    return Diagnostic("AGC281", title, where, why=f"{label}; {why}", fix=fix)


def _reason(
    frame: FrameType, is_made: Callable[[CodeType], bool], refused: CodeMap[ConversionError]
) -> tuple[str, str]:
    code, module = frame.f_code, _module(frame)
    if policy.is_excluded(code):
        return "the function is decorated with `do_not_convert`", f"remove the decorator, or {_ELSEWHERE}"
    if policy.is_library_file(code.co_filename, module):
        package = str(module).partition(".")[0]
        return (
            f"it belongs to `{package}`, and this library is not converted",
            f"{_ELSEWHERE} instead, or convert the package: AGC_CONVERT={package} in the environment",
        )
    error = refused.get(code)
    if error is not None:
        title, where = error.diagnostic.title, error.diagnostic.where
        return f"it cannot be converted: {title}" + (f" ({where})" if where else ""), error.diagnostic.fix
    from ..syntax import source

    if source.file_of(code.co_filename, frame.f_globals) is None:
        return "its source cannot be found", "save it to a file and import it"
    if not any(is_made(outer.f_code) for outer in _outwards(frame)):
        return (
            "the traced function was not converted either (`autograph=False`)",
            f"convert it, or {_ELSEWHERE}",
        )
    return (
        "Python or a library calls it, and the traced function does not refer to it",
        "name it in the traced function, pass it to it as an argument, or wrap it in `autograph.convert`",
    )


def _is_printed(frame: FrameType) -> bool:
    """Return whether a frame's module was converted ahead of time: such a module imports the operators."""
    operators = sys.modules.get("agc.autograph.operators")
    is_known = any(value is operators for value in list(frame.f_globals.values()))
    return is_known and not policy.is_excluded(frame.f_code)


def _module(frame: FrameType) -> object:
    return frame.f_globals.get("__name__")


def _user(frame: FrameType) -> FrameType:
    """Return the innermost frame of user code that led to a library's frame."""
    callers = _outwards(frame)
    users = (f for f in callers if not policy.is_library_file(f.f_code.co_filename, _module(f)))
    return next(users, frame)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
