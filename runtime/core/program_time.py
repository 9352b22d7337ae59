"""The time that the program has run, at least: imports and other work before the runtime was imported count, too.

>>> seconds() >= 0.0
True
"""

from __future__ import annotations

import time

_START = time.perf_counter() - time.thread_time()
"""A time after the program's start: no thread has used more of a processor than it has run."""


def seconds() -> float:
    """Return the seconds since the runtime was imported, and those that its thread has used before."""
    return time.perf_counter() - _START
