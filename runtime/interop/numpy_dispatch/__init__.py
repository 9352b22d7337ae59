"""NumPy's functions on traced tensors record operations, with NumPy's dtypes.

    @tf.function
    def spread(x):
        return np.max(x) - np.mean(x)        recorded: reduce_max, cast to float64, reduce_mean, subtract …

A NumPy function that meets a traced tensor hands the call over (`__array_ufunc__`, `__array_function__`). What it does
is looked up in tables: that of `ufuncs`, and `table`, which `values`, `arrangement` and `algebra` fill. What is not
there is refused, with a way to do it. Eager tensors are arrays to NumPy, which computes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ...errors import OperatorNotAllowedInGraphError
from . import linalg, manipulation, statistics  # noqa: F401  # each fills its part of the table
from .registry import FUNCTIONS
from .ufuncs import REDUCTIONS, apply


def on_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """What `ufunc(*inputs, **options)`, or one of its methods, records."""
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
    """What a function of NumPy's records."""
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
