"""Functions shared by all compiled code, emitted and compiled once in a process (runtime_library.py).

@shared("agc_take", "address", "address", "word")        the name, the result type, the parameter types
def _(r):
    ...                                                  emits the body

declared(module, "agc_take")                             the declaration for modules that call it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .llvm_types import integer, ir, pointer
from .routine_builder import Routine

Write = Callable[[Routine], None]

_KINDS: dict[str, Callable[[], Any]] = {
    "address": pointer,
    "word": lambda: integer(64),
    "code": lambda: integer(32),
    "double": lambda: ir().DoubleType(),
    "half": lambda: ir().HalfType(),
    "nothing": lambda: ir().VoidType(),
}

WRITERS: dict[str, tuple[tuple[str, ...], Write]] = {}
"""The shared functions: result and parameter types, and the function that emits the body."""


def shared(name: str, *kinds: str) -> Callable[[Write], Write]:
    """Return a decorator that registers a shared function."""

    def enter(write: Write) -> Write:
        WRITERS[name] = kinds, write
        return write

    return enter


def declared(module: Any, name: str) -> Any:
    """Declare a shared function in a module."""
    found = module.globals.get(name)
    if found is None:
        result, *arguments = (_KINDS[kind]() for kind in WRITERS[name][0])
        found = ir().Function(module, ir().FunctionType(result, arguments), name)
    return found


def written(module: Any, name: str) -> None:
    """Emit a shared function into the module of the library."""
    kinds, write = WRITERS[name]
    result, *arguments = (_KINDS[kind]() for kind in kinds)
    routine = Routine(module, name, arguments, result)
    routine.function.linkage = "external"
    write(routine)
    routine.close()


def outside(module: Any, name: str, result: Any, *kinds: Any) -> Any:
    """Declare an external function of Python, NumPy or the system."""
    found = module.globals.get(name)
    return found or ir().Function(module, ir().FunctionType(result, list(kinds)), name)
