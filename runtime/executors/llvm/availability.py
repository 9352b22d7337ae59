"""Check whether native code is possible here. No program pays for the rest of the compiler before it compiles."""

from __future__ import annotations

import functools
import importlib.util
import platform
import sys

INSTALL = "pip install 'agc-autograph[jit]'"
"""The command that installs the compiler."""


@functools.cache
def missing() -> str | None:
    """Return why compilation is impossible here, or None if it is possible."""
    if importlib.util.find_spec("llvmlite") is None:
        return f"llvmlite is not installed: {INSTALL}"
    if "free-threading" in sys.version:
        return "this is a free-threaded Python, whose objects the compiled code cannot read"
    if sys.implementation.name != "cpython" or sys.maxsize < 2**32:
        return "compiled code reads the objects of CPython on 64 bits"
    return None


def has_cycles() -> bool:
    """Return whether programs may read the processor's cycle counter."""
    return platform.machine().lower() in ("x86_64", "amd64")
