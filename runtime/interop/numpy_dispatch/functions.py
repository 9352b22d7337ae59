"""Dispatch of NumPy's functions, such as np.max, on traced tensors.

Operators of arrays and tensors are universal functions: programs that use no other functions of NumPy on traced tensors
do not import this module, which imports all implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import comparisons, joining, linalg, manipulation, nan_sums, statistics  # noqa: F401  # each registers its functions
from .registry import FUNCTIONS, refuse

__all__ = ["FUNCTIONS", "on_function"]


def on_function(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Record a function of NumPy; return the result."""
    own = FUNCTIONS.get(function)
    name = f"np.{function.__module__.removeprefix('numpy').lstrip('.')}.{function.__name__}".replace(
        "..", "."
    )
    if own is None:
        refuse(name)
    try:
        return own(*args, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise TypeError(f"{name} on a traced tensor: {str(error).partition(' ')[2]}") from None
