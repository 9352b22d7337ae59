"""Operators for the tests of `match` patterns.

case [a, b]:      ag__.has_length(x, 2)
case True:        ag__.is_(x, True)
"""

from __future__ import annotations

from typing import Any

from ..staging import PYTHON, backends
from ..traceback_filter import leaves_no_trace


@leaves_no_trace
def has_length(subject: Any, count: int, more: bool = False) -> bool:
    """Return whether a sequence pattern of `count` parts (with `more`, and a starred part) matches the
    subject.

    A string is not a sequence for `match`. The answer never depends on values in a graph.

    >>> has_length([1, 2], 2), has_length("ab", 2), has_length((1, 2, 3), 2, more=True)
    (True, False, True)
    """
    backend = backends[type(subject)]
    if backend is not PYTHON and backend.owns(subject):
        length = backend.length(subject)
        return length is not None and (length >= count if more else length == count)
    match subject:
        case [*_]:  # tests the type only
            if more:
                return count == 0 or len(subject) >= count
            return len(subject) == count
    return False


@leaves_no_trace
def is_(value: Any, truth: bool) -> Any:
    """Return `value is True` or `value is False`. For a backend's boolean, test its value."""
    backend = backends[type(value)]
    if backend is PYTHON or not backend.owns(value):
        return value is truth
    return backend.is_(value, truth)
