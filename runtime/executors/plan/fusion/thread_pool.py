"""The threads that help with big operations. They are started when first needed, and sleep between jobs.

    with_help(work, 3)        `work()` here, and in two more threads as soon as they are free

`work` takes pieces of a job from where all can see them, so it does not matter how many come to help. A process
that is forked starts without threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue


class _Job:
    """Work that helpers may join until it is closed, and that the caller waits for."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.lock = threading.Condition()
        self.closed = False
        self.active = 0

    def join(self) -> None:
        with self.lock:
            if self.closed:
                return
            self.active += 1
        try:
            self.work()
        finally:
            with self.lock:
                self.active -= 1
                self.lock.notify()

    def close(self) -> None:
        """Let nobody join any more, and wait for those who have."""
        with self.lock:
            self.closed = True
            while self.active:
                self.lock.wait()


class _Crew:
    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self.size = 0
        self.lock = threading.Lock()

    def grow(self, size: int) -> None:
        with self.lock:
            while self.size < size:
                self.size += 1
                threading.Thread(target=_serve, args=(self.jobs,), name="agc-crew", daemon=True).start()


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        jobs.get().join()


_crew = _Crew()


def _forget() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def run_in_pool(work: Callable[[], None], threads: int) -> None:
    """Run `work` here and in up to `threads - 1` others, and return when all have. It must not raise."""
    crew = _crew
    if crew.size < threads - 1:
        crew.grow(threads - 1)
    job = _Job(work)
    for _ in range(threads - 1):
        crew.jobs.put(job)
    try:
        work()
    finally:
        job.close()
