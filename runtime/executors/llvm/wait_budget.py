"""The time that the calls of a graph may wait for its native code, in all.

    plan 0.1 s ─hot─► wait 2 s ─► plan 1.9 s ─► plan 0.03 s ─► wait 0.03 s ─► plan …       while it is compiled

The budget is the time that these calls have run in the plan. So native code that comes late, because other programs use
the processors, makes the calls at most twice as long (ski rental). Two seconds are allowed in any case: in this time,
even a slow machine compiles graphs of 10,000 operations.
"""

from __future__ import annotations

LEAST = 2.0
"""The seconds that calls may wait even if they have run for less time."""


class WaitBudget:
    """Seconds that calls have run in the plan, and that they have waited. Parts of a graph share its budget."""

    def __init__(self) -> None:
        self._run = 0.0
        self._waited = 0.0

    def add_run(self, seconds: float) -> None:
        """Count a call of the plan."""
        self._run += seconds

    def add_wait(self, seconds: float) -> None:
        """Count a wait."""
        self._waited += seconds

    def left(self) -> float:
        """Return the seconds that calls may wait now."""
        return max(LEAST, self._run) - self._waited
