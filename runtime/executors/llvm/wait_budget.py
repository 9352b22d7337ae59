"""The time that the calls of a graph may wait for its native code, in all.

    plan 0.1 s ─hot─► wait 2 s ─► plan 1.9 s ─► plan 0.03 s ─► wait 0.03 s ─► plan …       while it is compiled

The budget is the time that these calls have run in the plan. So native code that comes late, because other programs use
the processors, makes the calls at most twice as long (ski rental). The time that a slow machine takes to compile a
graph of this size is allowed in any case: next to calls that do not wait, a compilation takes several times as long.
"""

from __future__ import annotations

LEAST = 2.0
"""The seconds that calls may wait even if they have run for less time."""

OPERATION = 1.5e-3
"""The seconds that calls of a larger graph may wait for each of its operations."""


class WaitBudget:
    """Seconds that calls have run in the plan, and that they have waited. Parts of a graph share its budget."""

    def __init__(self, operations: int = 0) -> None:
        self._least = max(LEAST, OPERATION * operations)
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
        return max(self._least, self._run) - self._waited
