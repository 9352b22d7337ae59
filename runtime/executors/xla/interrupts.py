"""Defer Ctrl-C while a program overwrites variables in Python code that would lose its results.

with Deferred():
    results = program(v)        an interrupt here is raised at the end of the block
"""

from __future__ import annotations

import signal
import threading
from typing import Any


class Deferred:
    """Context manager that defers SIGINT in the main thread, if its handler is one of Python."""

    _before: Any = None

    def __enter__(self) -> None:
        self._signals: list[int] = []
        if threading.current_thread() is threading.main_thread() and callable(
            signal.getsignal(signal.SIGINT)
        ):
            self._before = signal.signal(signal.SIGINT, lambda number, frame: self._signals.append(number))

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        for number in self._signals:
            signal.raise_signal(number)
