"""Functions of arrays from those that NumPy's dispatch applies to traced tensors.

lift(linalg.dot, 2)            dot([1, 2], x)       ==>    linalg.dot(*promote(([1, 2], x)))
universal(np.add)              add(x, 1)            ==>    ufuncs.apply(np.add, promote((x, 1)))
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...interop.numpy_dispatch import ufuncs
from ...ops.math import arithmetic
from ...ops.math.cast import cast
from .promotion import Rules, asarray, default_dtype, promote, read_dtype

Function = Callable[..., Any]

PROMOTED = "The arrays are promoted to one dtype."
BROADCAST = "The arrays are broadcast, and promoted to one dtype."

_FLOAT_RESULTS = {np.floor, np.ceil}
"""Functions whose results are floats for integers, too, in TensorFlow."""

_KEEP_INTEGERS: dict[Any, np.ufunc] = {np.fabs: np.absolute}
"""Functions that leave integers as they are, in TensorFlow."""


@functools.cache
def lift(function: Function, count: int = 1) -> Function:
    """Return `function` with its first `count` arguments converted to arrays of one dtype."""
    names = tuple(inspect.signature(function).parameters)[:count]

    @functools.wraps(function)
    def lifted(*args: Any, **options: Any) -> Any:
        given = [*args[:count], *(options.pop(each) for each in names[len(args) :] if each in options)]
        if "dtype" in options and options["dtype"] is not None:
            options["dtype"] = read_dtype(options["dtype"])
        arrays = promote(given) if len(given) > 1 else map(asarray, given)
        return function(*arrays, *args[count:], **options)

    return _named(lifted, function.__name__, PROMOTED if count > 1 else "")


def lift_each(function: Function) -> Function:
    """Return `function` with each positional argument converted to an array of its own dtype."""

    @functools.wraps(function)
    def lifted(*args: Any, **options: Any) -> Any:
        return function(*map(asarray, args), **options)

    return _named(lifted, function.__name__, "")


def lift_sequence(function: Function) -> Function:
    """Return `function` with the items of its first argument, a sequence, converted to arrays of one dtype."""
    (first, *_) = inspect.signature(function).parameters

    @functools.wraps(function)
    def lifted(*args: Any, **options: Any) -> Any:
        arrays, *rest = args or (options.pop(first),)
        return function(promote(list(arrays)), *rest, **options)

    return _named(lifted, function.__name__, PROMOTED)


def _named(lifted: Function, name: str, manual: str) -> Function:
    lifted.__name__ = lifted.__qualname__ = name
    lifted.__doc__ = manual
    lifted.__module__ = __package__
    return lifted


@functools.cache
def universal(ufunc: np.ufunc, name: str | None = None) -> Function:
    """Return a universal function on arrays that are promoted first."""
    if ufunc.nin == 1:

        def unary(x: Any) -> Any:
            return compute(ufunc, [asarray(x)])

        return _named(unary, ufunc.__name__, "Integers become floats." if _returns_floats(ufunc) else "")

    def binary(x1: Any, x2: Any) -> Any:
        return compute(ufunc, promote((x1, x2)))

    return _named(binary, name or ufunc.__name__, BROADCAST)


def compute(ufunc: np.ufunc, values: list[Any]) -> Any:
    """Apply a universal function to arrays of one dtype. Integers become float64 where the result is a float."""
    dtype = values[0].dtype
    if dtype.is_integer or dtype.is_bool:
        ufunc = _KEEP_INTEGERS.get(ufunc, ufunc)
        if ufunc is np.true_divide and dtype.is_integer:
            return arithmetic.divide(*values)  # float32 for integers of up to 16 bits
        if ufunc in _FLOAT_RESULTS or _computes_floats(ufunc, dtype.numpy_dtype):
            values = [cast(each, default_dtype(1.0) if narrow() else "float64") for each in values]
    return ufuncs.apply(ufunc, tuple(values))


def _returns_floats(ufunc: np.ufunc) -> bool:
    """Return whether the results of a unary function are floats for integers, too."""
    if ufunc in _FLOAT_RESULTS or ufunc in _KEEP_INTEGERS:
        return ufunc in _FLOAT_RESULTS
    loop: Any = ufunc.resolve_dtypes((np.dtype("int64"), None))
    return bool(loop[1].kind == "f")


def narrow() -> bool:
    """Return whether float32 is the dtype of floats in the rules in force."""
    return Rules.mode in ("all", "safe")


@functools.cache
def _computes_floats(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    if ufunc is np.matmul:
        return False
    loop: Any = ufunc.resolve_dtypes((*[dtype] * ufunc.nin, *[None] * ufunc.nout))
    return bool(loop[0].kind == "f" and dtype.kind != "f")
