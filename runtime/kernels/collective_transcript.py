"""Results of the collective operations of a run, for a second run of the same inputs.

compiled code: all_reduce x ─► 3.0, then a check fails     ==>     the plan takes 3.0 for all_reduce x, and raises

Compiled code that fails is run again by the plan, which names the line. The other processes do not run again, so that
the second run must not communicate until it is further than the first one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Transcript:
    """The results of collective operations in their order: one for each tensor."""

    def __init__(self) -> None:
        self._results: list[Any] = []
        self._next: int | None = None  # the next result to give; None in the first run

    def add(self, results: Sequence[Any]) -> None:
        """Keep results, unless they come from here."""
        if self._next is None:
            self._results += results

    def take(self, count: int) -> Sequence[Any] | None:
        """Return the next results in a second run; None if there are fewer, or if this is the first run."""
        if self._next is None or self._next + count > len(self._results):
            return None
        start, self._next = self._next, self._next + count
        return self._results[start : self._next]

    @contextlib.contextmanager
    def recording(self) -> Iterator[Transcript]:
        """Keep the results of the collective operations that the block runs in this thread."""
        _running.stack.append(self)
        try:
            yield self
        finally:
            _running.stack.pop()

    def repeated(self, run: Callable[[], Any]) -> Any:
        """Return the result of `run`, whose first collective operations return the kept results."""
        self._next = 0
        with self.recording():
            return run()


class _Running(threading.local):
    def __init__(self) -> None:
        self.stack: list[Transcript] = []


_running = _Running()


def results_of(count: int, run: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    """Return the results of a collective operation on `count` tensors: kept ones, or those of `run`."""
    if not _running.stack:
        return run()
    inner: list[Transcript] = []
    for transcript in reversed(_running.stack):
        found = transcript.take(count)
        if found is not None:
            break
        inner.append(transcript)
    else:
        found = run()
    for transcript in inner:
        transcript.add(found)
    return found
