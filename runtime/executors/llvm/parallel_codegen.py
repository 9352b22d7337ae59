"""Compilation of several modules at once: LLVM works on each in its own context and thread.

llvmlite serializes all calls of LLVM with a lock. The two that take longest are called without it here: the
passes and code generation. Both release the GIL.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

_PASSES = "LLVMPY_RunNewModulePassManager"
_EMIT = "LLVMPY_TargetMachineEmitToMemory"

Work = Callable[[], bytes]


def in_parallel(works: Sequence[Work]) -> list[bytes]:
    """Return the results of all `works`, which run on as many threads as there are processors."""
    found: list[bytes] = [b""] * len(works)
    errors: list[Exception] = []
    rest = list(enumerate(works))

    def run() -> None:
        while rest and not errors:
            with contextlib.suppress(IndexError):  # another thread has taken the last one
                number, work = rest.pop()
                try:
                    found[number] = work()
                except Exception as error:
                    errors.append(error)

    # A process waits for these threads before it exits, since LLVM must not be interrupted.
    threads = [threading.Thread(target=run, name="agc-codegen") for _ in works[1 : processors()]]
    for thread in threads:
        with contextlib.suppress(RuntimeError):  # if no thread can be started, this one does the work
            thread.start()
    run()
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    if errors:
        raise errors[0]
    return found


def processors() -> int:
    """Return the number of processors that this process may use."""
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run a pass manager of llvmlite on a module."""
    _unlocked(_PASSES)(passes, module, builder)


def emitted(machine: Any, module: Any) -> bytes:
    """Return the object file of a module."""
    from llvmlite.binding import ffi

    with ffi.OutputString() as complaint:
        buffer = _unlocked(_EMIT)(machine, module, 1, complaint)
        if not buffer:
            raise RuntimeError(str(complaint))
    try:
        start, size = ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(start, size)
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@functools.cache
def _unlocked(name: str) -> Any:
    """Return a function of LLVM without llvmlite's lock; with the lock if llvmlite has another structure."""
    from llvmlite.binding import ffi

    locked = getattr(ffi.lib, name)
    try:
        found = getattr(ctypes.CDLL(ffi.lib._name), name)
        found.argtypes, found.restype = locked.argtypes, locked.restype
    except (AttributeError, OSError):
        return locked
    return found
