"""The user's functions in which a block stands, from the innermost one outwards."""

from __future__ import annotations

from types import CodeType, FrameType, ModuleType

from ..errors import is_own_file


def frames_around(frame: FrameType | None) -> list[FrameType]:
    """The frames of the user's functions from here on outwards, as far as they are part of the graph.

    Where a backend, or code that is not converted, calls the user's code, is the end: what is behind that is no part
    of the graph. (What a backend calls as part of a block, it calls through this package.)
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
    """Whether code calls the operators, as converted code does."""
    if any(isinstance(constant, ModuleType) for constant in code.co_consts):
        return True
    return any(name.startswith("ag__") for name in (*code.co_freevars, *code.co_names))
