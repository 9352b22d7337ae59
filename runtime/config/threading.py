"""`tf.config.threading`: how many threads operations may use.

Fused operations keep to the number for threads within an operation; NumPy's libraries decide for themselves.
The number for operations beside each other is kept by those that sort big tensors, and do not need each other.

>>> set_inter_op_parallelism_threads(2)
>>> get_inter_op_parallelism_threads(), get_intra_op_parallelism_threads()
(2, 0)
>>> set_inter_op_parallelism_threads(0)
"""

from __future__ import annotations

import operator
import os

from ..core.missing_names import explain as _explain

_threads = {"inter": 0, "intra": 0}


def get_inter_op_parallelism_threads() -> int:
    """What was last set; 0, which leaves the choice to the system, at first."""
    return _threads["inter"]


def get_intra_op_parallelism_threads() -> int:
    """What was last set; 0, which leaves the choice to the system, at first."""
    return _threads["intra"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Threads for operations that do not need each other."""
    _threads["inter"] = operator.index(num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Threads within one operation."""
    _threads["intra"] = operator.index(num_threads)


def threads_within() -> int:
    """How many threads an operation may take: as many as the process has processors unless another number is set."""
    return _threads["intra"] or _processors()


def threads_between() -> int:
    """How many operations may run at once: as many as there are processors unless another number is set."""
    return _threads["inter"] or _processors()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_explain(__name__)
