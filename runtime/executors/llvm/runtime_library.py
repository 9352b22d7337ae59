"""The runtime library: functions shared by all compiled code, compiled once in a process and linked by name.

f.o ──┐
g.o ──┼── agc_take, agc_interrupted …        one object file for the whole process, in the object cache
h.o ──┘
"""

from __future__ import annotations

from collections.abc import Iterable

from .codegen.llvm_types import ir
from .codegen.shared_functions import PROTOTYPES, written
from .opt_levels import COLD
from .shared_code import SharedCode
from .shared_code import load as load_shared


def _text() -> str:
    from . import arena, gil  # noqa: F401  (their shared functions are registered)
    from .codegen import half_floats  # noqa: F401

    module = ir().Module("agc library")
    for name in PROTOTYPES:
        written(module, name)
    return str(module)


_FUNCTIONS = SharedCode("runtime library", COLD, _text, {name: name for name in PROTOTYPES})


def begin() -> None:
    """Compile the library in the background: almost all graphs need it."""
    _FUNCTIONS.begin()


def load(names: Iterable[str] = ()) -> None:
    """Load the library and the other shared code with symbols in `names`, so that the symbols resolve."""
    _FUNCTIONS.load()
    load_shared(names)


def address(name: str) -> int:
    """Return the address of a shared function."""
    return _FUNCTIONS.load().function(name)
