"""The runtime library: functions shared by all compiled code, compiled once in a process and linked by name.

f.o ──┐
g.o ──┼── agc_take, agc_interrupted …        one object file for the whole process, in the object cache
h.o ──┘   agc_run_part                       another one, loaded only for parallel loops
"""

from __future__ import annotations

from collections.abc import Iterable

from . import arena, gil, opt_levels, worker_threads  # noqa: F401  (their shared functions are registered)
from .codegen import half_floats, thread_pool_ir  # noqa: F401
from .codegen.llvm_types import ir
from .codegen.shared_functions import WRITERS, written
from .external_symbols import declare
from .llvm_engine import LinkedCode, assembled
from .shared_code import SharedCode
from .shared_code import load as load_shared


def _functions() -> LinkedCode:
    declare()
    module = ir().Module("agc library")
    for name in WRITERS:
        written(module, name)
    return LinkedCode(*assembled(str(module)))


def _pool() -> LinkedCode:
    declare()
    code = LinkedCode(*assembled(thread_pool_ir.text(), opt_levels.NONE))
    worker_threads.begin(code.variable(thread_pool_ir.MEMORY))
    return code


_FUNCTIONS = SharedCode(_functions, {name: name for name in WRITERS})
_POOL = SharedCode(_pool, {thread_pool_ir.RUN: thread_pool_ir.RUN})


def begin() -> None:
    """Compile the library in the background: almost all graphs need it."""
    _FUNCTIONS.begin()
    _POOL.begin()


def load(names: Iterable[str] = ()) -> None:
    """Load the library and the other shared code with symbols in `names`, so that the symbols resolve."""
    _FUNCTIONS.load()
    load_shared(names)


def threads() -> worker_threads.Pool:
    """Return the thread pool of this process."""
    return worker_threads.Pool(_POOL.load().variable(thread_pool_ir.MEMORY))


def address(name: str) -> int:
    """Return the address of a shared function."""
    return (_POOL if name == thread_pool_ir.RUN else _FUNCTIONS).load().function(name)
