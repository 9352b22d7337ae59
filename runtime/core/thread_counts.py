"""The numbers of threads that operations may use, which `tf.config.threading` sets; 0 leaves the choice to the system.

>>> counts
{'inter': 0, 'intra': 0}
"""

from __future__ import annotations

import os

counts = {"inter": 0, "intra": 0}
"""The maximum number of concurrent operations, and of threads within an operation."""


def threads_within() -> int:
    """Return the maximum threads of an operation: the value set, or the number of processors."""
    return counts["intra"] or processors()


def threads_between() -> int:
    """Return the maximum number of concurrent operations: the value set, or the number of processors."""
    return counts["inter"] or processors()


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
