"""The runtime library: functions shared by all compiled code, compiled once in a process and linked by name.

f.o ──┐
g.o ──┼── agc_take, agc_interrupted …        one object file for the whole process, in the object cache
h.o ──┘   agc_run_part                       another one, loaded only for parallel loops
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Container

from . import arena, gil, opt_levels, worker_threads  # noqa: F401  (their shared functions are registered)
from .codegen import half_floats, thread_pool_ir  # noqa: F401
from .codegen.llvm_types import ir
from .codegen.shared_functions import WRITERS, written
from .external_symbols import declare
from .llvm_engine import LinkedCode, assembled, known_as

_loading = threading.Lock()


@functools.cache
def _code() -> LinkedCode:
    declare()
    module = ir().Module("agc library")
    for name in WRITERS:
        written(module, name)
    code = LinkedCode(*assembled(str(module)))
    for name in WRITERS:
        known_as(name, code.function(name))
    return code


@functools.cache
def _threads() -> LinkedCode:
    declare()
    code = LinkedCode(*assembled(thread_pool_ir.text(), opt_levels.NONE))
    worker_threads.begin(code.variable(thread_pool_ir.MEMORY))
    known_as(thread_pool_ir.RUN, code.function(thread_pool_ir.RUN))
    return code


def load(names: Container[str] = ()) -> None:
    """Load the library, so that its symbols resolve; load the thread pool if its function is in `names`."""
    with _loading:  # by one thread: code that a second thread loads as well would be unloaded again
        _code()
        if thread_pool_ir.RUN in names:
            _threads()


def threads() -> worker_threads.Pool:
    """Return the thread pool of this process."""
    return worker_threads.Pool(_threads().variable(thread_pool_ir.MEMORY))


def address(name: str) -> int:
    """Return the address of a shared function."""
    return (_threads() if name == thread_pool_ir.RUN else _code()).function(name)
