"""Dispatch NumPy's functions on traced tensors to operations, with NumPy's dtypes.

    @tf.function
    def spread(x):
        return np.max(x) - np.mean(x)        recorded: reduce_max, cast to float64, reduce_mean, subtract …

NumPy dispatches a call with a traced tensor through `__array_ufunc__` and `__array_function__`. The operation is
found in the tables of ufuncs.py and registry.py; the other files fill the latter. Other functions raise an error with
advice. Eager tensors are arrays to NumPy, which computes at once. tf.experimental.numpy has the same implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ...errors import OperatorNotAllowedInGraphError
from . import comparisons, joining, linalg, manipulation, nan_sums, statistics  # noqa: F401  # each registers its functions
from .registry import FUNCTIONS
from .ufuncs import REDUCTIONS, apply


def on_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Record `ufunc(*inputs, **options)`, or one of its methods; return the result."""
    name = f"np.{ufunc.__name__}"
    if method == "reduce" and ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](*inputs, **options)
    if method != "__call__":
        _refuse(f"{name}.{method}")
    unknown = sorted(options.keys() - {"dtype"})
    if unknown:
        _refuse(f"{name} with `{unknown[0]}`")
    result = apply(ufunc, inputs, options.get("dtype"))
    return _refuse(name) if result is NotImplemented else result


def on_function(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Record a function of NumPy; return the result."""
    own = FUNCTIONS.get(function)
    name = f"np.{function.__module__.removeprefix('numpy').lstrip('.')}.{function.__name__}".replace(
        "..", "."
    )
    if own is None:
        _refuse(name)
    try:
        return own(*args, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise TypeError(f"{name} on a traced tensor: {str(error).partition(' ')[2]}") from None


def _refuse(what: str) -> NoReturn:
    raise OperatorNotAllowedInGraphError(
        f"{what} cannot be applied to a traced tensor, which gets its value only when the graph runs. Use the function "
        "of TensorFlow's that does the same, or tf.numpy_function, which calls NumPy each time the graph runs"
    )
