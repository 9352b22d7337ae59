"""An engine of collective operations whose processes are threads: for tests of what is built on engines."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from agc.runtime.kernels import collectives


class _Exchange(threading.local):
    rank = 0


class ThreadEngine:
    """The engine of `size` threads; `calls` lists the collectives of the first one."""

    mesh = None

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls: list[str] = []
        self._own = _Exchange()
        self._parts: list[Any] = [None] * size
        # A thread may wait for another that compiles, on a loaded machine.
        self._barrier = threading.Barrier(size, timeout=300)

    @property
    def rank(self) -> int:
        return self._own.rank

    def all_gather(self, flat: Any) -> Any:
        self._note(f"gather {flat.dtype.name}[{flat.size}]")
        return self._exchanged(flat)

    def all_reduce(self, flat: Any, reduction: str) -> Any:
        self._note(f"{reduction} {flat.dtype.name}[{flat.size}]")
        reduce = {"sum": np.sum, "min": np.min, "max": np.max}[reduction]
        return reduce(self._exchanged(flat), axis=0).astype(flat.dtype)

    def _note(self, call: str) -> None:
        if self.rank == 0:
            self.calls.append(call)

    def _exchanged(self, flat: Any) -> Any:
        self._parts[self.rank] = flat
        self._barrier.wait()
        rows = np.stack(self._parts)
        self._barrier.wait()
        return rows


def run_in_threads(size: int, function: Callable[[int], Any]) -> tuple[list[Any], list[str]]:
    """Return the results of `function(rank)` in each thread, and the collectives of the first one."""
    engine, before = ThreadEngine(size), collectives.active.engine
    results: list[Any] = [None] * size

    def call(rank: int) -> None:
        engine._own.rank = rank
        try:
            results[rank] = function(rank)
        except Exception as error:
            results[rank] = error

    collectives.active.engine = engine
    try:
        threads = [threading.Thread(target=call, args=(rank,)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        collectives.active.engine = before
    return results, engine.calls
