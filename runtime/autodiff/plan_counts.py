"""Count runs without a plan, and decide when a key has run often enough to get one.

65 keys in turn, 64 plans      64 keys find their plan; the other one replaces any of these after many more runs
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..core.eviction import make_room

MOST = 64
"""The maximum number of plans in a dictionary."""

_PATIENCE = 32
"""The number of times as many runs before a plan replaces another one, so that programs do not only trace."""

_MOST_COUNTED = 4_096


class RunCounts:
    """Numbers of runs by the hash values of keys, which may be long."""

    def __init__(self) -> None:
        self.runs: dict[int, int] = {}

    def is_due(self, key: Hashable, plans: dict[Any, Any], often: int, weight: int = 1) -> bool:
        """Count a run; return whether it should have a plan, for which `plans` gets room then."""
        number = hash(key)
        count = self.runs.pop(number, 0) + weight
        if count <= often * (_PATIENCE if len(plans) >= MOST else 1):
            make_room(self.runs, _MOST_COUNTED)
            self.runs[number] = count
            return False
        make_room(plans, MOST)
        return True
