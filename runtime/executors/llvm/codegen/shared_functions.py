"""Functions shared by all compiled code, emitted and compiled once in a process (runtime_library.py).

@shared("agc_take")
def _(r):
    ...                          emits the body

declared(module, "agc_take")     the declaration for modules that call it
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

PROTOTYPES = {
    "agc_take": ("address", "address", "word", "address"),
    "agc_give": ("nothing", "address", "address", "word"),
    "agc_fit": ("address", "address", "word"),
    "agc_run": ("code", "address", "address", "word"),
    "agc_interrupted": ("code", "address"),
    "agc_call": ("code", "address", "address", "address"),
    "__truncdfhf2": ("half", "double"),
}
"""The shared functions: result and parameter types."""

_WRITERS: dict[str, Write] = {}


def shared(name: str) -> Callable[[Write], Write]:
    """Return a decorator that registers the function which emits the body of a shared function."""

    def enter(write: Write) -> Write:
        _WRITERS[name] = write
        return write

    return enter


def declared(module: Any, name: str) -> Any:
    """Declare a shared function in a module."""
    found = module.globals.get(name)
    if found is None:
        result, *arguments = (_KINDS[kind]() for kind in PROTOTYPES[name])
        found = ir().Function(module, ir().FunctionType(result, arguments), name)
    return found


def written(module: Any, name: str) -> None:
    """Emit a shared function into the module of the library."""
    result, *arguments = (_KINDS[kind]() for kind in PROTOTYPES[name])
    routine = Routine(module, name, arguments, result)
    routine.function.linkage = "external"
    _WRITERS[name](routine)
    routine.close()


def outside(module: Any, name: str, result: Any, *kinds: Any) -> Any:
    """Declare an external function of Python, NumPy or the system."""
    found = module.globals.get(name)
    return found or ir().Function(module, ir().FunctionType(result, list(kinds)), name)
