"""A thread pool for big operations. Threads start at first use, and sleep between jobs.

    run_in_pool(work, 3)      runs `work()` here, and in two more threads as soon as they are free
    run_all(f, g, h)          runs these functions in the pool, and returns when all are done

`work` takes parts of a job from a shared counter, so any number of threads can take part. A forked process
starts without threads.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.fp_errors import SILENCE, begin, end
from ..core.inner_thread import InnerThread
from ..core.thread_counts import threads_between

if TYPE_CHECKING:
    from queue import SimpleQueue


class _Job:
    """A job that threads may join until it is closed. The caller waits for the threads that joined."""

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
        """Let no more threads join, and wait for the threads that have."""
        with self.lock:
            self.closed = True
            while self.active:
                self.lock.wait()
        del self.work  # threads that have not returned yet would keep the arrays


class _Crew:
    jobs: SimpleQueue[_Job]

    def __init__(self) -> None:
        self.size = 0
        self.lock = threading.Lock()

    def grow(self, size: int) -> None:
        from queue import SimpleQueue  # at first use: most programs need no pool

        with self.lock:
            if not self.size:
                self.jobs = SimpleQueue()
            while self.size < size:
                self.size += 1
                InnerThread(target=_serve, args=(self.jobs,), name="agc-crew", daemon=True).start()


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
    """Run `work` here and in up to `threads - 1` other threads, and return when all are done.

    `work` must not raise.
    """
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


def run_all(*works: Callable[[], object]) -> None:
    """Run all functions in parallel; raise the failure of the first that fails."""
    if len(works) == 1:
        works[0]()
        return
    numbers = itertools.count()
    failures: dict[int, Exception] = {}

    def work() -> None:
        before = begin(SILENCE)
        try:
            for number in itertools.takewhile(lambda number: number < len(works), numbers):
                try:
                    works[number]()
                except Exception as error:
                    failures[number] = error
        finally:
            end(before)

    run_in_pool(work, min(len(works), threads_between()))
    if failures:
        raise failures[min(failures)]
