"""Replicas that run in threads: an engine of collective operations for each thread, in one or several processes.

thread 0: all_reduce [1.] ─┐ the last one to come wakes the others
thread 1: all_reduce [2.] ─┘                                            ==>     [3.] in both
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from .collectives import Array, CollectiveEngine, active

_REDUCE: dict[str, Callable[..., Array]] = {"sum": np.sum, "min": np.min, "max": np.max}


Merge = Callable[[list[Array], CollectiveEngine], Array]


class _StoppedError(Exception):
    """Ends a replica that waits for one that has ended."""


class _Exchange:
    """The place where `size` threads exchange arrays. All give the next array before one of them goes on."""

    def __init__(self, size: int, processes: CollectiveEngine) -> None:
        self.size = size
        self.processes = processes
        self.mismatch = ""
        self._changed = threading.Condition()
        self._parts: dict[int, tuple[str, Array]] = {}
        self._result: Array = np.empty(0)
        self._rounds = 0
        self._has_ended = False

    def exchanged(self, rank: int, what: str, array: Array, merge: Merge) -> Array:
        """Return what `merge` makes of the arrays of all threads, in the order of their ranks."""
        with self._changed:
            number = self._rounds
            self._parts[rank] = what, array
            if len(self._parts) == self.size:
                self._finish(merge)
            else:
                self._changed.wait_for(lambda: self._rounds > number or self._has_ended)
            if self._rounds == number or self.mismatch:
                raise _StoppedError
            return self._result

    def _finish(self, merge: Merge) -> None:
        kinds = [self._parts[rank][0] for rank in range(self.size)]
        if len(set(kinds)) > 1:
            self.mismatch = "; ".join(f"replica {rank} runs {kind}" for rank, kind in enumerate(kinds))
        rows = [self._parts[rank][1] for rank in range(self.size)]
        self._parts = {}
        if not self.mismatch:
            self._result = merge(rows, self.processes)
        self._rounds += 1
        self._changed.notify_all()

    def end(self) -> None:
        """Note that a thread has ended: others cannot exchange any more."""
        with self._changed:
            self._has_ended = True
            if self._parts:
                rank, (what, _) = next(iter(self._parts.items()))
                self.mismatch = self.mismatch or f"replica {rank} waits in {what}, and another one has ended"
            self._changed.notify_all()


class _ThreadEngine:
    """The engine of one thread."""

    mesh = None

    def __init__(self, exchange: _Exchange, rank: int) -> None:
        processes = exchange.processes
        self.rank = processes.rank * exchange.size + rank
        self.size = processes.size * exchange.size
        self._thread = rank
        self._exchange = exchange

    def run(self, what: str, call: Callable[[], Any]) -> Any:
        """Return the result of the call."""
        return call()

    def all_reduce(self, flat: Array, reduction: str) -> Array:
        """Return the vector reduced over the threads of all processes."""

        def merge(rows: list[Array], processes: CollectiveEngine) -> Array:
            total: Array = _REDUCE[reduction](np.stack(rows), axis=0).astype(flat.dtype)
            return processes.all_reduce(total, reduction)

        return self._exchanged(reduction, flat, merge)

    def all_gather(self, flat: Array) -> Array:
        """Return a matrix with the vector of each thread as a row."""

        def merge(rows: list[Array], processes: CollectiveEngine) -> Array:
            return processes.all_gather(np.concatenate(rows)).reshape(-1, flat.size)

        return self._exchanged("gather", flat, merge)

    def _exchanged(self, kind: str, flat: Array, merge: Merge) -> Array:
        what = f"{kind} of {flat.dtype.name}[{flat.size}]"
        return self._exchange.exchanged(self._thread, what, flat, merge)


def run_in_threads(calls: Sequence[Callable[[], Any]], processes: CollectiveEngine) -> list[Any]:
    """Return the results of the calls, each in a thread of its own, as replicas of one program.

    `processes` joins these threads to those of other processes, which make as many calls.

    Raises the error of the first replica that fails, and FailedPreconditionError if they run different collectives.
    """
    exchange = _Exchange(len(calls), processes)
    results: list[Any] = [None] * len(calls)
    failures: list[BaseException | None] = [None] * len(calls)

    def run(rank: int) -> None:
        try:
            with active.in_thread(_ThreadEngine(exchange, rank)):
                results[rank] = calls[rank]()
        except BaseException as error:
            failures[rank] = error
        finally:
            exchange.end()

    threads = [
        threading.Thread(target=run, args=(rank,), name=f"replica {rank}") for rank in range(len(calls))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [error for error in failures if error is not None]
    real = [error for error in found if not _is_stop(error)]
    if real:
        raise real[0]
    if found:
        raise errors.FailedPreconditionError(
            f"the replicas run different collectives: {exchange.mismatch}. All must run the same, in the same order"
        )
    return results


def _is_stop(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, _StoppedError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
