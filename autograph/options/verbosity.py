"""Verbosity: messages of AutoGraph about its conversions.

    set_verbosity(1)                 agc.autograph: converted fit, at train.py:12
    set_verbosity(3)                 and the code that it became
    AUTOGRAPH_VERBOSITY=1            the same from the environment
    trace("step", x)                 a `print` for traced code: it happens while tracing, whatever the features

Messages go to standard error.
"""

from __future__ import annotations

import operator
import sys
from os import environ  # the one that agc was started with: a test of yours may put another in `os`
from types import CodeType
from typing import Any

CONVERSIONS, CODE, EVERYTHING = 1, 3, 10


class _Verbosity:
    def __init__(self) -> None:
        self.level: int | None = None  # None: what the environment says
        self.to_stdout = False


_verbosity = _Verbosity()


def set_verbosity(level: int | None, alsologtostdout: bool = False) -> None:
    """Set the messages: 0 none, 1 converted functions, 3 their code as well, 10 also functions left alone.

    The environment variable AUTOGRAPH_VERBOSITY does the same until this is called, and after a call with None.

    >>> set_verbosity(0)
    """
    _verbosity.level = None if level is None else operator.index(level)
    _verbosity.to_stdout = alsologtostdout


def verbosity() -> int:
    """Return the level that is set."""
    if _verbosity.level is not None:
        return _verbosity.level
    text = environ.get("AUTOGRAPH_VERBOSITY", "0")
    return int(text) if text.strip().isdigit() else 0


def trace(*args: Any) -> None:
    """Print the arguments while a function is traced: once for each trace, and not when its graph runs.

    >>> trace("step", 1)
    step 1
    """
    print(*args)


def log(level: int, message: str) -> None:
    """Log a message at this level."""
    if verbosity() >= level:
        for stream in (sys.stderr, sys.stdout)[: 1 + _verbosity.to_stdout]:
            print(f"agc.autograph: {message}", file=stream)


def place(code: CodeType) -> str:
    return f"{code.co_qualname}, at {code.co_filename}:{code.co_firstlineno}"
