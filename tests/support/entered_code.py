"""The Python functions that a call enters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any


def entered(call: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[CodeType]]:
    """Return the result of a call, and the code of each function that it enters, in order."""
    seen: list[CodeType] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = call(*args, **kwargs)
    finally:
        sys.setprofile(before)
    return result, seen


def names_entered(filename: str, call: Callable[..., Any], *args: Any) -> list[str]:
    """Return the qualified names of the functions of one file that a call enters, in order."""
    return [code.co_qualname for code in entered(call, *args)[1] if code.co_filename == filename]
