"""NumPy's tests of arrays (almost equal, real, infinite) as operations, with NumPy's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.tensor import Tensor
from ...ops.arrays.creation import zeros_like
from ...ops.math import comparison, elementwise
from ...ops.reduce.reductions import reduce_all
from . import ufuncs
from .registry import common, instead_of


@instead_of(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    x, y = common((a, b), weak=True)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        if x.dtype.is_bool:
            return comparison.equal(x, y)
        x, y = (ufuncs.apply(np.true_divide, (each, 1)) for each in (x, y))
    limit = atol + rtol * elementwise.abs(y)
    is_near = comparison.logical_and(elementwise.abs(x - y) <= limit, elementwise.is_finite(limit))
    near = comparison.logical_or(is_near, x == y)
    return comparison.logical_or(near, comparison.logical_and(x != x, y != y)) if equal_nan else near


@instead_of(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    return reduce_all(isclose(a, b, rtol, atol, equal_nan))


@instead_of(np.array_equal)
def array_equal(a1: Any, a2: Any) -> Any:
    x, y = common((a1, a2), weak=True)
    if not x.shape.is_compatible_with(y.shape):
        return convert_to_tensor(False)
    return reduce_all(comparison.equal_or_false(x, y))


@instead_of(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return x.dtype.is_complex if is_tensor_like(x) else bool(np.iscomplexobj(x))


@instead_of(np.isrealobj)
def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


@instead_of(np.iscomplex)
def iscomplex(x: Any) -> Any:
    values = convert_to_tensor(x)
    return elementwise.imag(values) != 0 if values.dtype.is_complex else zeros_like(values, dtypes.bool_)


@instead_of(np.isreal)
def isreal(x: Any) -> Any:
    return comparison.logical_not(iscomplex(x))


@instead_of(np.isposinf)
def isposinf(x: Any) -> Tensor:
    return _is(x, np.inf)


@instead_of(np.isneginf)
def isneginf(x: Any) -> Tensor:
    return _is(x, -np.inf)


def _is(x: Any, infinity: float) -> Tensor:
    values = convert_to_tensor(x)
    return values == infinity if values.dtype.is_floating else zeros_like(values, dtypes.bool_)
