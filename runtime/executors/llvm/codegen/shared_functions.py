"""Functions that all compiled code shares: they are written, and compiled, once in a process (runtime_library.py).

@shared("agc_take", "address", "address", "word")        the name, what it gives, what it takes
def _(r):
    ...                                                  its body, as of any routine

declared(module, "agc_take")                             what a module calls
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
"""The functions: the kinds of what each gives and takes, and what writes it."""


def shared(name: str, *kinds: str, where: bool = True) -> Callable[[Write], Write]:
    """Decorator: enter a function, on systems where it can be."""

    def enter(write: Write) -> Write:
        if where:
            WRITERS[name] = kinds, write
        return write

    return enter


def declared(module: Any, name: str) -> Any:
    """A shared function, as a module calls it."""
    found = module.globals.get(name)
    if found is None:
        result, *arguments = (_KINDS[kind]() for kind in WRITERS[name][0])
        found = ir().Function(module, ir().FunctionType(result, arguments), name)
    return found


def written(module: Any, name: str) -> None:
    """Write a shared function into the module that all of them stand in."""
    kinds, write = WRITERS[name]
    result, *arguments = (_KINDS[kind]() for kind in kinds)
    routine = Routine(module, name, arguments, result)
    routine.function.linkage = "external"
    write(routine)
    routine.close()


def outside(module: Any, name: str, result: Any, *kinds: Any) -> Any:
    """A function of Python, NumPy or the system."""
    found = module.globals.get(name)
    return found or ir().Function(module, ir().FunctionType(result, list(kinds)), name)
