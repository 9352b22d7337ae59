"""Defer Ctrl-C while a program overwrites variables in Python code that would lose its results.

with deferred_interrupts():
    results = program(v)        an interrupt here is raised at the end of the block
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Defer SIGINT in the main thread, if its handler is one of Python."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    signals: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in signals:
            signal.raise_signal(number)
