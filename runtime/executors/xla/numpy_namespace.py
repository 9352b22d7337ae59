"""Kernels written in NumPy, with jax.numpy in its place: copies of their functions with other globals.

    def _relu(x):                              a copy of the code, whose global `np` is `NUMPY`,
        return np.maximum(x, 0)        ==>     which has jax.numpy's functions and NumPy's dtypes

The modules of the kernels are unchanged. The functions that a kernel calls are copied in the same way.
"""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...kernels.matrix_products import multiply
from ...ops.reduce.short_axis_kernels import is_short


class _Numpy:
    """The namespace that copied kernels see as `np`: types and constants of NumPy, functions of jax.numpy."""

    ndarray = jax.Array
    generic = np.generic

    def __getattr__(self, name: str) -> Any:
        found = _counterpart(getattr(np, name), name)
        setattr(self, name, found)
        return found

    def errstate(self, **_: str) -> contextlib.AbstractContextManager[None]:
        """Return a scope without effect: XLA raises no floating-point errors."""
        return contextlib.nullcontext()


NUMPY = _Numpy()


def _counterpart(own: Any, name: str) -> Any:
    """Return what jax.numpy has for a function of NumPy; types and constants are NumPy's."""
    if isinstance(own, type) or not callable(own):
        return own
    return getattr(jnp, name, own)


def traced(site: Any, *operands: Any) -> Any:
    """Compute the results of an operation by its kernel, on values that JAX traces."""
    return rebound(site.operation.op.compute)(*operands, **site.attrs)


_copies: dict[Any, Any] = {
    is_short: lambda x, axis: False,
    multiply: lambda a, b: jnp.matmul(a, b),
}
"""Functions with jax.numpy in the place of NumPy. XLA itself orders loops and divides products, so these need not."""


def rebound(thing: Any) -> Any:
    """Return a kernel, or a value that a kernel refers to, with jax.numpy in the place of NumPy."""
    if thing is np:
        return NUMPY
    if isinstance(thing, np.ufunc):
        return getattr(jnp, thing.__name__, thing)
    if isinstance(thing, functools.partial):
        options = {name: rebound(value) for name, value in thing.keywords.items()}
        return functools.partial(rebound(thing.func), *map(rebound, thing.args), **options)
    if isinstance(thing, types.FunctionType):
        module = thing.__module__ or ""
        if module.startswith("agc.runtime."):
            return _copies.get(thing) or _copied(thing)
        return _counterpart(thing, thing.__name__) if module.startswith("numpy") else thing
    if isinstance(thing, types.BuiltinMethodType) and isinstance(thing.__self__, np.ufunc):
        return getattr(rebound(thing.__self__), thing.__name__)
    return thing


def _copied(function: types.FunctionType) -> Any:
    scope = {"__builtins__": function.__globals__["__builtins__"], "__name__": function.__module__}
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    _copies[function] = copy  # before its globals: functions may be recursive
    for name in _names(function.__code__):
        if name in function.__globals__:
            scope[name] = rebound(function.__globals__[name])
    for cell, old in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = rebound(old.cell_contents)
    return copy


def _names(code: types.CodeType) -> set[str]:
    """Return the names that code and the functions inside of it may read as globals."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)
