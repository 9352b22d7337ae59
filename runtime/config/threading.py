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

from ..core.missing_names import explain as _explain
from ..core.thread_counts import counts as _counts


def get_inter_op_parallelism_threads() -> int:
    """Return the last value set; 0 at first, which leaves the choice to the system.

    >>> get_inter_op_parallelism_threads()
    0
    """
    return _counts["inter"]


def get_intra_op_parallelism_threads() -> int:
    """Return the last value set; 0 at first, which leaves the choice to the system.

    >>> get_intra_op_parallelism_threads()
    0
    """
    return _counts["intra"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads for independent operations.

    >>> set_inter_op_parallelism_threads(0)
    """
    _counts["inter"] = operator.index(num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads within one operation.

    >>> set_intra_op_parallelism_threads(2)
    >>> get_intra_op_parallelism_threads()
    2
    >>> set_intra_op_parallelism_threads(0)
    """
    _counts["intra"] = operator.index(num_threads)


_explain(__name__)
