"""Compilation of several modules at once: LLVM works on each in its own context and thread.

llvmlite serializes all calls of LLVM with a lock. The two that take longest are called without it here: the
passes and code generation. Both release the GIL.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.inner_thread import InnerThread
from ...core.thread_counts import processors

_PASSES = "LLVMPY_RunNewModulePassManager"
_EMIT = "LLVMPY_TargetMachineEmitToMemory"

Task = Callable[[], bytes]


class Tasks(contextlib.ExitStack):
    """Tasks that threads run, by name, the heaviest first; the thread that needs the results helps.

    The results are needed inside of the `with` block, which may enter other contexts for all tasks.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rest: dict[str, Task] = {}
        self._weights: dict[str, int] = {}
        self._found: dict[str, bytes] = {}
        self._errors: list[Exception] = []
        self._threads: list[threading.Thread] = []

    def add(self, name: str, task: Task, weight: int = 0) -> None:
        """Add a task, unless it is known. `weight` estimates its time, in any unit."""
        if name not in self._weights:
            self._weights[name] = weight
            self._rest[name] = task

    def begin(self) -> None:
        """Run the tasks in the background, if there is a second processor."""
        if processors() > 1 and not any(thread.is_alive() for thread in self._threads):
            self._start()

    def results(self, names: Sequence[str]) -> list[bytes]:
        """Return the results of some tasks. Other tasks that have not begun are dropped."""
        for other in self._weights.keys() - names:
            self._rest.pop(other, None)
        busy = sum(thread.is_alive() for thread in self._threads)
        for _ in range(min(len(self._rest), processors()) - 1 - busy):
            self._start()
        self._run()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]
        return [self._found[name] for name in names]

    def _start(self) -> None:
        # A process waits for these threads before it exits, since LLVM must not be interrupted.
        thread = InnerThread(target=self._run_promptly, name="agc-codegen")
        with contextlib.suppress(RuntimeError):  # if no thread can be started, this one does the work
            thread.start()
            self._threads.append(thread)

    def _run_promptly(self) -> None:
        with frequent_switches():
            self._run()

    def _run(self) -> None:
        while not self._errors:
            # Other threads add and take tasks meanwhile.
            name = max(self._rest.copy(), key=self._weights.__getitem__, default=None)
            if name is None:
                return
            task = self._rest.pop(name, None)
            try:
                if task is not None:
                    self._found[name] = task()
            except Exception as error:
                self._errors.append(error)


_PROMPT = 1e-4
"""Seconds after which a waiting thread gets the GIL: LLVM is called many times, and needs the GIL after each call."""

_lock = threading.Lock()
_interval = [0, 0.0]
"""The number of blocks that need frequent switches, and the switch interval before them."""


@contextlib.contextmanager
def frequent_switches() -> Iterator[None]:
    """Switch between threads often in this block."""
    with _lock:
        if not _interval[0]:
            _interval[1] = sys.getswitchinterval()
            sys.setswitchinterval(min(_interval[1], _PROMPT))
        _interval[0] += 1
    try:
        yield
    finally:
        with _lock:
            _interval[0] -= 1
            if not _interval[0]:
                sys.setswitchinterval(_interval[1])


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
