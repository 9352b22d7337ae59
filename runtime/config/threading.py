"""`tf.config.threading`: the numbers of threads that operations may use.

Fused operations respect the number for threads within an operation; NumPy's libraries use their own settings.
The number for concurrent operations limits independent sorts of large tensors.

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
    """Return the last value set; 0 at first, which leaves the choice to the system.

    >>> get_inter_op_parallelism_threads()
    0
    """
    return _threads["inter"]


def get_intra_op_parallelism_threads() -> int:
    """Return the last value set; 0 at first, which leaves the choice to the system.

    >>> get_intra_op_parallelism_threads()
    0
    """
    return _threads["intra"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads for independent operations.

    >>> set_inter_op_parallelism_threads(0)
    """
    _threads["inter"] = operator.index(num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads within one operation.

    >>> set_intra_op_parallelism_threads(2)
    >>> get_intra_op_parallelism_threads()
    2
    >>> set_intra_op_parallelism_threads(0)
    """
    _threads["intra"] = operator.index(num_threads)


def threads_within() -> int:
    """Return the maximum threads of an operation: the value set, or the number of processors."""
    return _threads["intra"] or _processors()


def threads_between() -> int:
    """Return the maximum number of concurrent operations: the value set, or the number of processors."""
    return _threads["inter"] or _processors()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_explain(__name__)
