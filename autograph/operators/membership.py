"""Operators for `in` and `not in`, for containers that are ranges or displays of numbers.

x in (1, 2, 3)         ag__.in_(x, (1, 2, 3))
i not in range(n)      ag__.not_in(i, range(n))
"""

from __future__ import annotations

import operator
from typing import Any

from ..staging import PYTHON, Backend, backend_of
from ..traceback_filter import leaves_no_trace
from .logical import not_


@leaves_no_trace
def in_(item: Any, container: Any) -> Any:
    """Return `item in container`.

    >>> in_(2, (1, 2, 3)), in_(7, range(3))
    (True, False)
    """
    backend = _owner(item, container)
    if backend is PYTHON:
        return item in container
    return backend.builtins.get(operator.contains, operator.contains)(container, item)


@leaves_no_trace
def not_in(item: Any, container: Any) -> Any:
    """Return `item not in container`."""
    return not_(in_(item, container))


def _owner(item: Any, container: Any) -> Backend:
    """Return the backend of the item, of the container, or of an element of the container."""
    elements = container if isinstance(container, (tuple, list)) else ()
    owners = map(backend_of, (item, container, *elements))
    return next((owner for owner in owners if owner is not PYTHON), PYTHON)
