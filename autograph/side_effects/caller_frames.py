"""Caller frames: the user's functions that enclose a block, from the innermost one outwards."""

from __future__ import annotations

from types import CodeType, FrameType, ModuleType

from ..errors import is_own_file


def frames_around(frame: FrameType | None) -> list[FrameType]:
    """Return the frames of the user's functions from `frame` outwards, as far as they are part of the graph.

    The list ends where a backend, or code that is not converted, calls user code: frames beyond are no part
    of the graph. A backend calls the functions of a block through this package, so such a call does not end
    the list.
    """
    found: list[FrameType] = []
    calls_user = False
    while frame is not None:
        is_users = not is_own_file(frame.f_code.co_filename)
        if is_users:
            if found and not is_converted(frame.f_code):
                break
            found.append(frame)
        elif calls_user and not str(frame.f_globals.get("__name__")).startswith("agc.autograph."):
            break
        calls_user = is_users
        frame = frame.f_back
    return found


def is_converted(code: CodeType) -> bool:
    """Return whether code calls the operators, as converted code does."""
    if any(isinstance(constant, ModuleType) for constant in code.co_consts):
        return True
    return any(name.startswith("ag__") for name in (*code.co_freevars, *code.co_names))
