"""The time that the program has run, since the runtime was imported.

>>> seconds() >= 0.0
True
"""

from __future__ import annotations

import time

_START = time.perf_counter()


def seconds() -> float:
    """Return the seconds since the runtime was imported."""
    return time.perf_counter() - _START
