"""The time of a call, from as many calls as last long enough for the clock.

repetitions(run, lasting=0.03)     →  4100
seconds(run, 4100) / 4100          →  7.3e-06
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(run: Callable[[], Any], count: int) -> float:
    """Return the seconds of `count` calls."""
    repeat = range(count)
    start = time.perf_counter()
    for _ in repeat:
        run()
    return time.perf_counter() - start


def repetitions(run: Callable[[], Any], lasting: float) -> int:
    """Return the number of calls that take about `lasting` seconds."""
    count = 1
    while (taken := seconds(run, count)) < lasting / 4:
        count *= 4
    return max(1, round(count * lasting / taken))
