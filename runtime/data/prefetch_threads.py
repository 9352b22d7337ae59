"""Threads of pipelines: functions applied to several elements at a time, and prefetched elements.

Threads hold no reference to the user's iterator: when that is deleted, the threads end.
Errors are raised at their element.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from ..core.thread_counts import processors
from .element_spec import Row
from .pipeline_stage import Elements

if TYPE_CHECKING:
    from .user_functions import Calls

AUTOTUNE = -1

_SLOW = 2e-4
"""The seconds that a call must take before threads are worthwhile."""

_TRIALS = 4


def workers(wanted: int) -> int:
    """Return the number of threads, or of open datasets; AUTOTUNE means one per processor."""
    if wanted != AUTOTUNE:
        return int(wanted)
    return processors()


class Parallel(Elements):
    """A function applied to rows by several threads; the results in order, or as they are ready.

    The first calls are timed in the caller's thread: threads only help functions that wait or compute for long.
    """

    def __init__(self, calls: Calls, rows: Elements, count: int, in_order: bool) -> None:
        self.calls, self.rows, self.count, self.in_order = calls, rows, count, in_order
        self.pool: ThreadPoolExecutor | None = None
        self.pending: deque[Future[Row]] = deque()
        self.trials: list[float] = []
        self.is_quick = False
        self.has_more = True

    def __next__(self) -> Row:
        if self.is_quick:
            return self.calls(next(self.rows))
        if self.pool is None:
            if len(self.trials) < 2 or min(self.trials) < _SLOW:
                return self._timed()
            self.pool = ThreadPoolExecutor(self.count, "agc-map")
        self._fill(self.pool)
        if not self.pending:
            self.pool.shutdown(wait=False)
            raise StopIteration
        return self._first().result()

    def _timed(self) -> Row:
        row = next(self.rows)
        start = time.perf_counter()
        try:
            return self.calls(row)
        finally:
            self.trials.append(time.perf_counter() - start)
            self.is_quick = len(self.trials) == _TRIALS and min(self.trials) < _SLOW

    def _fill(self, pool: ThreadPoolExecutor) -> None:
        while self.has_more and len(self.pending) < self.count:
            try:
                row = next(self.rows)
            except StopIteration:
                self.has_more = False
            except Exception as error:
                failed: Future[Row] = Future()
                failed.set_exception(error)
                self.pending.append(failed)
            else:
                self.calls.index += 1
                self.pending.append(pool.submit(self.calls.at, self.calls.index, row))

    def _first(self) -> Future[Row]:
        if self.in_order:
            return self.pending.popleft()
        wait(self.pending, return_when=FIRST_COMPLETED)
        found = next(future for future in self.pending if future.done())
        self.pending.remove(found)
        return found

    def __del__(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)


class _Buffer:
    """A queue between two threads of at most `size` items; errors are items, too."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.items: deque[Any] = deque()
        self.changed = threading.Condition()
        self.is_closed = False

    def put(self, item: Any) -> bool:
        """Add an item; return False once the buffer is closed."""
        with self.changed:
            while len(self.items) >= self.size and not self.is_closed:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()
            return not self.is_closed

    def take(self) -> Any:
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.items.clear()
            self.changed.notify_all()


class _Failed:
    def __init__(self, error: Exception) -> None:
        self.error = error


_END = object()


def _pump(rows: Elements, buffer: _Buffer) -> None:
    """Put all rows into the buffer; runs in the thread."""
    while True:
        try:
            item: Any = next(rows)
        except StopIteration:
            item = _END
        except Exception as error:
            item = _Failed(error)
        if not buffer.put(item) or item is _END:
            return


class Prefetched(Elements):
    """Rows prefetched by a thread, up to `size` of them.

    The thread starts once the rows after the first take long on average: the caller gets quick ones sooner without it.
    """

    def __init__(self, rows: Elements, size: int) -> None:
        self._rows: Elements | None = rows
        self._buffer = _Buffer(size)
        self._count = 0  # of the rows that the caller's thread has made
        self._spent = 0.0  # seconds for those after the first, which may fill buffers
        self._ended = False

    def __next__(self) -> Row:
        if self._rows is not None:
            if self._count < 2 or self._spent < _SLOW * (self._count - 1):
                return self._timed(self._rows)
            rows, self._rows = self._rows, None
            threading.Thread(
                target=_pump, args=(rows, self._buffer), name="agc-prefetch", daemon=True
            ).start()
            del rows
        if self._ended:
            raise StopIteration
        item = self._buffer.take()
        if item is _END:
            self._ended = True
            raise StopIteration
        if type(item) is _Failed:
            raise item.error
        return item  # type: ignore[no-any-return]

    def _timed(self, rows: Elements) -> Row:
        start = time.perf_counter()
        try:
            return next(rows)
        finally:
            self._spent += time.perf_counter() - start if self._count else 0.0
            self._count += 1

    def __del__(self) -> None:
        self._buffer.close()
