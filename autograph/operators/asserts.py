"""The operator for `assert`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..staging import PYTHON, backends
from ..traceback_filter import leaves_no_trace


@leaves_no_trace
def check(test: Any, message: Callable[[], Any] | None = None) -> Any:
    """Return the test of an `assert` statement. A staged test is checked when the graph runs, so here it
    passes.

    >>> check([]), check(3)
    ([], 3)
    """
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        return test
    backend.check(test, message)
    return True
