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

from ...ops.framework.op import Op
from .kernel_array import DEMAND, KernelArray, NumpyFunction, bare, wrapped
from .rule_registry import NotLoweredError


class _Numpy:
    """The namespace that copied kernels see as `np`, or a part of it such as `np.linalg`.

    Types and constants are those of NumPy; functions are jax.numpy's on traced values.
    """

    ndarray = KernelArray

    def __init__(self, own: Any, counterpart: Any) -> None:
        self._own, self._counterpart = own, counterpart

    def __getattr__(self, name: str) -> Any:
        found = _counterpart(getattr(self._own, name), name, self._counterpart)
        setattr(self, name, found)
        return found

    def errstate(self, **_: str) -> contextlib.AbstractContextManager[None]:
        """Return a scope without effect: XLA raises no floating-point errors."""
        return contextlib.nullcontext()


def _counterpart(own: Any, name: str, library: Any = jnp) -> Any:
    """Return what kernels see for a member of NumPy; types and constants are NumPy's."""
    other = getattr(library, name, None)
    if isinstance(own, types.ModuleType):
        return _Numpy(own, other)
    if isinstance(own, type) or not callable(own):
        return own
    return _copies.get(own) or NumpyFunction(own, other)


NUMPY = _Numpy(np, jnp)


_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError,
    jax.errors.NonConcreteBooleanIndexError, jax.errors.TracerIntegerConversionError,
)  # fmt: skip


def traced(site: Any, *operands: Any) -> Any:
    """Compute the results of an operation by its kernel, on values that JAX traces."""
    scope = DEMAND.set(site.demand)
    try:
        return bare(rebound(site.operation.op.compute)(*wrapped(list(operands)), **site.attrs))
    except _NEEDS_VALUES:
        raise NotLoweredError("its shapes or its steps depend on values") from None
    finally:
        DEMAND.reset(scope)


_copies: dict[Any, Any] = {}


def substitute(own: Any, other: Any) -> None:
    """Let copies of kernels call `other` in the place of the function `own`."""
    _copies[own] = other


def rebound(thing: Any) -> Any:
    """Return a kernel, or a value that a kernel refers to, with jax.numpy in the place of NumPy."""
    if isinstance(thing, types.ModuleType):
        return NUMPY if thing is np else _Module(thing) if thing.__name__.startswith(_KERNELS) else thing
    if isinstance(thing, np.ufunc):
        return getattr(NUMPY, thing.__name__, thing)
    if isinstance(thing, Op):
        return types.SimpleNamespace(compute=rebound(thing.compute))
    if type(thing) is dict:
        return {key: rebound(value) for key, value in thing.items()}
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


_KERNELS = "agc.runtime.kernels."


class _Module:
    """A module of kernels, with functions that are rebound."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return rebound(getattr(self._module, name))


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
