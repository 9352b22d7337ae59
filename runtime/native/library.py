"""What all compiled code shares, in memory: compiled when the first function is, and found by the loader by its names.

f.o ──┐
g.o ──┼── agc_take, agc_interrupted …        one object file for the whole process, on disk as others
h.o ──┘   agc_run_part                       another one for who has loops for several threads
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Container

from . import dispatch, entry, levels, vectorcalls, workers  # noqa: F401  (shared functions are entered)
from .emit import halves, pool  # noqa: F401
from .emit.shared import WRITERS, written
from .emit.types import ir
from .engine import Code, assembled, known_as
from .object_layout import unknown_layout
from .symbols import declare

_loading = threading.Lock()

_READS_OBJECTS = {"agc_entry", dispatch.DISPATCH, "agc_called"}
"""What needs the layout of Python's and NumPy's objects."""


@functools.cache
def _code() -> Code:
    declare()
    module = ir().Module("agc library")
    left_out = _READS_OBJECTS if unknown_layout() else ()
    names = [name for name in WRITERS if name not in left_out]
    for name in names:
        written(module, name)
    code = Code(assembled(str(module)))
    for name in names:
        known_as(name, code.function(name))
    return code


@functools.cache
def _threads() -> Code:
    declare()
    code = Code(assembled(pool.text(), levels.NONE))
    workers.begin(code.variable(pool.MEMORY))
    known_as(pool.RUN, code.function(pool.RUN))
    return code


def load(names: Container[str] = ()) -> None:
    """See that code can be loaded which calls shared functions, and what has one of these names."""
    with _loading:  # by one thread: what another one has loaded as well would be gone again
        _code()
        if pool.RUN in names:
            _threads()


def threads() -> workers.Pool:
    """The pool of threads of this process."""
    return workers.Pool(_threads().variable(pool.MEMORY))


def address(name: str) -> int:
    """Where a shared function stands."""
    return (_threads() if name == pool.RUN else _code()).function(name)
