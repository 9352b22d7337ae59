"""What all compiled code shares, in memory: compiled when the first function is, and found by the loader by its names.

f.o ──┐
g.o ──┼── agc_take, agc_run_part, agc_interrupted …        one object file for the whole process, on disk as others
h.o ──┘
"""

from __future__ import annotations

import functools
import threading

from . import dispatch, entry  # noqa: F401  (shared functions are entered, as those of threads)
from .emit import threads  # noqa: F401
from .emit.shared import WRITERS, written
from .emit.types import ir
from .engine import Code, assembled, known_as

_loading = threading.Lock()


@functools.cache
def _code() -> Code:
    module = ir().Module("agc library")
    for name in WRITERS:
        written(module, name)
    code = Code(assembled(str(module)))
    for name in WRITERS:
        known_as(name, code.function(name))
    return code


def load() -> None:
    """See that code which calls shared functions can be loaded."""
    with _loading:  # by one thread: what another one has loaded as well would be gone again
        _code()


def address(name: str) -> int:
    """Where a shared function stands."""
    return _code().function(name)
