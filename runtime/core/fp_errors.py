"""Arithmetic without NumPy's warnings: overflow and the like give infinities and NaNs, as in TensorFlow."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def _switch() -> tuple[Any, Callable[[Any], Any], Callable[[Any], None]]:
    """What `begin` is to be called with, `begin` and `end`.

    NumPy keeps how errors are reported in a context variable: setting it to what it is where nothing is reported takes
    a tenth of the time that `np.errstate` takes to work that out anew.
    """
    with np.errstate(all="ignore"):
        known = contextvars.copy_context()
    for variable, silence in known.items():
        if variable.name == "numpy.ufunc.extobj":
            return silence, variable.set, variable.reset
    return None, _enter, _leave


def _enter(_: None) -> np.errstate:
    block = np.errstate(all="ignore")
    block.__enter__()
    return block


def _leave(block: np.errstate) -> None:
    block.__exit__(None, None, None)


SILENCE, begin, end = _switch()
"""`before = begin(SILENCE)` turns the warnings off, and `end(before)` takes that back."""


def quietly(function: F) -> F:
    """The function, called with NumPy's floating-point warnings off.

    >>> import warnings
    >>> with warnings.catch_warnings(action="error"):
    ...     print(quietly(np.divide)(np.float32(1), np.float32(0)))
    inf
    """

    @functools.wraps(function)
    def quiet(*args: Any, **kwargs: Any) -> Any:
        before = begin(SILENCE)
        try:
            return function(*args, **kwargs)
        finally:
            end(before)

    return quiet  # type: ignore[return-value]
