"""The times of trial calls, and when they suffice to choose between the plan and native code.

plan    8.1 ms      plan    0.9 s   0.8 s      plan    0.30  0.31  0.30  0.31  0.32 ms
native  0.2 ms      native  0.6 s   0.5 s      native  0.25  0.24  0.26  0.24  0.25 ms
==> native: clear   ==> native: long enough    ==> native: five calls of each
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")

TRIALS = 5
"""Measured calls of each kind before one is chosen."""

ENOUGH = 0.1
"""Seconds of trial calls after which the number of calls does not matter."""

CLEAR = 2
"""The factor by which native code must be faster to be kept after one call."""


def measured(run: Callable[..., Result], times: list[float], *arguments: Any) -> Result:
    """Run, and record the time."""
    start = time.perf_counter()
    results = run(*arguments)
    times.append(time.perf_counter() - start)
    return results


def is_known(planned: Sequence[float], compiled: Sequence[float]) -> bool:
    """Return whether these times show which runner is faster.

    The first run of either may be slow, because its memory is new, so one run of each decides only if that is clear.
    """
    if not planned or not compiled:
        return False
    if CLEAR * min(compiled) < min(planned) or min(len(planned), len(compiled)) >= TRIALS:
        return True
    return min(len(planned), len(compiled)) > 1 and sum(planned) + sum(compiled) > ENOUGH
