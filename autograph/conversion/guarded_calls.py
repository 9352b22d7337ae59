"""Wrappers of functions that look for a backend's value among the arguments.

overload(abs)(x)             the backend's `abs`, if a backend owns `x`
guarded(reason, f)(x)        raises `reason`, if a backend owns `x`
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..errors import ConversionError, leave_no_trace
from ..introspection.frames import STAND_INS
from ..staging import PYTHON, backends


@functools.cache
def overload(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of a built-in function that calls the backend's version on a backend's values."""
    if f in STAND_INS:
        return STAND_INS[f]

    @functools.wraps(f, updated=())
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        try:
            for value in (*args, *kwargs.values()) if kwargs else args:
                backend = backends[type(value)]
                if backend is not PYTHON and backend.owns(value):
                    return backend.builtins.get(f, f)(*args, **kwargs)
            return f(*args, **kwargs)
        except BaseException as error:
            leave_no_trace(error)
            raise

    return dispatch


def guarded(reason: ConversionError, f: FunctionType) -> FunctionType:
    """Return a wrapper of `f` that raises `reason` if it is called with a backend's value."""

    @functools.wraps(f)
    def plain(*args: Any, **kwargs: Any) -> Any:
        try:
            for value in (*args, *kwargs.values()):
                backend = backends[type(value)]
                if backend is not PYTHON and backend.owns(value):
                    raise ConversionError(reason.diagnostic)
            return f(*args, **kwargs)
        except BaseException as error:
            leave_no_trace(error)
            raise

    return plain  # type: ignore[return-value]
