"""The times of trial calls, and when they suffice to choose between the plan and native code.

plan    8.1 ms, never less      plan    0.8 s   0.8 s      plan    0.25  0.24  0.26  0.24  0.25 ms
native  7.2 ms                  native  0.9 s   0.9 s      native  0.30  0.31  0.30  0.31  0.32 ms
==> native                      ==> plan: long enough      ==> plan: five calls of each
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


def measured(run: Callable[..., Result], times: list[float], *arguments: Any) -> Result:
    """Run, and record the time."""
    start = time.perf_counter()
    results = run(*arguments)
    times.append(time.perf_counter() - start)
    return results


def is_known(planned: Sequence[float], compiled: Sequence[float], best: float) -> bool:
    """Return whether these times show which runner is faster; `best` is the least time of all calls of the plan.

    The first run of either may be slow, because its memory is new: one run of each does not show that the plan is
    faster.
    """
    count = min(len(planned), len(compiled))
    is_less = min(compiled, default=best) < best
    return is_less or count >= TRIALS or (count > 1 and sum(planned) + sum(compiled) > ENOUGH)
