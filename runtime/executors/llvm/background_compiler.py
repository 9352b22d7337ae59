"""Compile hot graphs in a background thread, to which the callers of these graphs lend their time.

    job ──queue──► compiler thread ──► native code, or none
     ▲                    ▲
     └ later calls wait: the interpreter lock is free, so the compiler runs at full speed

Lowering is Python code. While a plan runs, that would get the interpreter lock for a small part of the time.

A fork waits for the current job. The child process starts again with the jobs that are not done. An exit waits only
for LLVM, which must not be interrupted: the compiler's Python code ends with an exception.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import ctypes
import os
import threading
from collections.abc import Callable


class Job:
    """A call that the compiler thread makes once; `done` is set afterwards."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.done = threading.Event()


class Compiler:
    """The background thread that makes one call after another."""

    def __init__(self) -> None:
        self._jobs: collections.deque[Job] = collections.deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = threading.Lock()  # held during a job
        self._is_closing = False

    def ask(self, call: Callable[[], None]) -> Job:
        """Queue a call."""
        job = Job(call)
        with self._changed:
            self._jobs.append(job)
            self._start()
            self._changed.notify()
        return job

    def wait(self, job: Job, seconds: float) -> None:
        """Wait for a job, but no longer than this."""
        if self._thread is None:
            with self._changed:
                self._start()
        job.done.wait(seconds)

    def _start(self) -> None:
        """Start the thread, unless it runs or the process exits."""
        if self._thread is None and not self._is_closing:
            self._thread = threading.Thread(target=self._work, name="agc-compiler", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        with contextlib.suppress(SystemExit):  # from `close`
            while not self._is_closing:
                with self._changed:
                    self._changed.wait_for(lambda: self._jobs)
                with self._busy:
                    if not self._is_closing:
                        self._run_next()

    def _run_next(self) -> None:
        job = self._jobs[0]
        try:
            job.call()
        finally:
            self._jobs.popleft()
            job.done.set()

    def close(self) -> None:
        """Interrupt the current job, and wait until LLVM has returned: the process exits."""
        self._is_closing = True
        thread = self._thread
        if thread is None or thread.ident is None:
            return
        interrupt = ctypes.pythonapi.PyThreadState_SetAsyncExc
        interrupt(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
        with self._busy:
            pass

    def before_fork(self) -> None:
        """Wait for the current job, so that the child gets no half-compiled state or lock."""
        self._busy.acquire()

    def after_fork_in_parent(self) -> None:
        """Continue."""
        self._busy.release()

    def after_fork_in_child(self) -> None:
        """Continue without the thread, which the child does not have; it starts on demand."""
        self._busy = threading.Lock()
        self._changed = threading.Condition()
        self._thread = None
        for job in self._jobs:
            job.done = threading.Event()


compiler = Compiler()
atexit.register(compiler.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=compiler.before_fork,
        after_in_parent=compiler.after_fork_in_parent,
        after_in_child=compiler.after_fork_in_child,
    )
