"""Compile hot graphs in a background thread, for which the callers of these graphs wait.

    job ──queue──► compiler thread ──► native code, or none
     ▲                    ▲
     └ later calls wait: the interpreter lock is free, so the compiler runs at full speed

All waits and comparisons of results (first_call_check.py) together take at most half of the program's time. Lowering is
Python code, which would slow down a plan that runs at the same time, as both need the interpreter lock: each of NumPy's
calls that releases the lock may then wait 5 ms for it. So all long stages of lowering pause until the plan has run. For
the rest of the program, the wait is short while a job runs. A pause is limited by the time of the lowering before it: a
program that only runs plans, and has no time left to wait, still gets its native code.

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
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ...core import program_time
from ...core.inner_thread import InnerThread
from .wait_budget import WaitBudget

Result = TypeVar("Result")
Item = TypeVar("Item")

LEAST = 1e-3
"""The fewest seconds of a wait. Less time adds up until a later call."""

PAUSE = 0.1
"""The most seconds of a pause. Then one more operation is lowered: the run may need what the compiler has locked."""

REST = 8.0
"""The most time of a pause, in processor times of the lowering before it: plans that run on and on must not stop it."""


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
        self._spent = 0.0  # seconds of waits and comparisons
        self._may_lower = threading.Event()
        self._may_lower.set()
        self._paused_at = 0.0  # processor time of the thread at the end of the last pause

    def ask(self, call: Callable[[], None]) -> Job:
        """Queue a call."""
        job = Job(call)
        with self._changed:
            self._jobs.append(job)
            self._start()
            self._changed.notify()
        return job

    def left(self) -> float:
        """Return the seconds that calls may now spend on native code: in sum half of the program's time."""
        return program_time.seconds() - 2 * self._spent

    def spend(self, seconds: float) -> None:
        """Count seconds that a call has spent on native code in addition to the plan."""
        self._spent += seconds

    def wait(self, job: Job, budget: WaitBudget) -> None:
        """Wait for a job as long as there is time left, also in the budget of the graph."""
        left = min(self.left(), budget.left())
        if left < LEAST or job.done.is_set():
            return
        if self._thread is None:
            with self._changed:
                self._start()
        start = program_time.seconds()
        job.done.wait(left)
        seconds = program_time.seconds() - start
        self.spend(seconds)
        budget.add_wait(seconds)

    def undisturbed(self, run: Callable[..., Result], *arguments: Any) -> Result:
        """Run while the compiler pauses, or until another thread's run ends."""
        self._may_lower.clear()
        try:
            return run(*arguments)
        finally:
            self._may_lower.set()

    def pause(self) -> None:
        """Pause during undisturbed runs if this is the compiler's thread."""
        if not self._may_lower.is_set() and threading.current_thread() is self._thread:
            worked = time.thread_time() - self._paused_at
            self._may_lower.wait(min(PAUSE, REST * worked))
            self._paused_at = time.thread_time()

    def _start(self) -> None:
        """Start the thread, unless it runs or the process exits."""
        if self._thread is None and not self._is_closing:
            self._thread = InnerThread(target=self._work, name="agc-compiler", daemon=True)
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
            from .parallel_codegen import frequent_switches  # many programs have no job

            with frequent_switches():
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
        self._may_lower.set()
        with self._busy:
            pass

    def before_fork(self) -> None:
        """Wait for the current job, so that the child gets no half-compiled state or lock."""
        self._may_lower.set()
        self._busy.acquire()

    def after_fork_in_parent(self) -> None:
        """Continue."""
        self._busy.release()

    def after_fork_in_child(self) -> None:
        """Continue without the thread, which the child does not have; it starts on demand."""
        self._busy = threading.Lock()
        self._changed = threading.Condition()
        self._may_lower = threading.Event()
        self._may_lower.set()
        self._paused_at = 0.0
        self._thread = None
        for job in self._jobs:
            job.done = threading.Event()


compiler = Compiler()
"""The compiler of graphs."""


def pausing(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a stage of the compiler, which pauses between them."""
    for item in items:
        compiler.pause()
        yield item


helper = Compiler()
"""The compiler of the code that they share, which works at the same time (shared_code.py)."""

for _each in (compiler, helper):
    atexit.register(_each.close)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_each.before_fork,
            after_in_parent=_each.after_fork_in_parent,
            after_in_child=_each.after_fork_in_child,
        )
