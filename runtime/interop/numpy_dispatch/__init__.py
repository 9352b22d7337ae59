"""Dispatch NumPy's functions on traced tensors to operations, with NumPy's dtypes.

    @tf.function
    def spread(x):
        return np.max(x) - np.mean(x)        recorded: reduce_max, cast to float64, reduce_mean, subtract …

NumPy dispatches a call with a traced tensor through `__array_ufunc__` and `__array_function__`. The operation is
found in the tables of ufuncs.py and registry.py; the other files fill the latter. Other functions raise an error with
advice. Eager tensors are arrays to NumPy, which computes at once. tf.experimental.numpy has the same implementations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .registry import refuse
from .ufuncs import REDUCTIONS, apply


def on_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Record `ufunc(*inputs, **options)`, or one of its methods; return the result."""
    name = f"np.{ufunc.__name__}"
    if method == "reduce" and ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](*inputs, **options)
    if method != "__call__":
        refuse(f"{name}.{method}")
    unknown = sorted(options.keys() - {"dtype"})
    if unknown:
        refuse(f"{name} with `{unknown[0]}`")
    result = apply(ufunc, inputs, options.get("dtype"))
    return refuse(name) if result is NotImplemented else result
