"""NumPy's weighted averages, sums without NaN, differences and polynomials, with NumPy's parameters and dtypes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...ops.arrays import reshape as shaping
from ...ops.arrays.creation import ones_like, zeros_like
from ...ops.arrays.where_ops import where
from ...ops.math import arithmetic, comparison, elementwise
from ...ops.math.cast import cast
from . import ufuncs
from .registry import as_floats, common, instead_of, rank_of


def _without_nan(a: Any, neutral: float) -> Tensor:
    x = convert_to_tensor(a)
    is_float = x.dtype.is_floating or x.dtype.is_complex
    return where(x != x, cast(neutral, x.dtype), x) if is_float else x


@instead_of(np.nansum)
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    return ufuncs.sum_(_without_nan(a, 0), axis, dtype, keepdims=keepdims)


@instead_of(np.nanprod)
def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    return ufuncs.prod(_without_nan(a, 1), axis, dtype, keepdims=keepdims)


@instead_of(np.nanmean)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    x = as_floats(a) if dtype is None else cast(a, dtype)
    count = ufuncs.sum_(cast(x == x, x.dtype), axis, keepdims=keepdims)
    return nansum(x, axis, keepdims=keepdims) / count


@instead_of(np.average)
def average(a: Any, axis: int | None = None, weights: Any = None, returned: bool = False) -> Any:
    x = as_floats(a)
    heavy = ones_like(x)
    if weights is not None:
        x, heavy = common((x, weights))
        if heavy.shape.rank == 1 and axis is not None and x.shape.rank != 1:
            shape = [1] * rank_of(x, "np.average")
            shape[axis] = -1
            heavy = shaping.reshape(heavy, shape)
        heavy = heavy + zeros_like(x)
    total = ufuncs.sum_(heavy, axis)
    mean = ufuncs.sum_(x * heavy, axis) / total
    return (mean, total) if returned else mean


@instead_of(np.ptp)
def ptp(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return ufuncs.max_(a, axis, keepdims=keepdims) - ufuncs.min_(a, axis, keepdims=keepdims)


@instead_of(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    x = convert_to_tensor(a)
    rest = (slice(None),) * (axis % rank_of(x, "np.diff"))
    subtract: Any = comparison.not_equal if x.dtype.is_bool else arithmetic.subtract
    for _ in range(n):
        x = subtract(x[(*rest, slice(1, None))], x[(*rest, slice(None, -1))])
    return x


@instead_of(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    factors, values = common((p, x), weak=True)
    found = zeros_like(values)
    for index in range(factors.shape[0]):
        found = found * values + factors[index]
    return found


@instead_of(np.sinc)
def sinc(x: Any) -> Any:
    angle = as_floats(x) * math.pi
    safe = where(angle == 0, ones_like(angle), angle)
    return where(angle == 0, ones_like(angle), elementwise.sin(safe) / safe)


@instead_of(np.fix)
def fix(x: Any) -> Any:
    return ufuncs.apply(np.trunc, (x,))


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """Return the powers of a vector in columns, with its dtype, which NumPy's function widens."""
    values = convert_to_tensor(x)
    count = values.shape[0] if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return ufuncs.apply(np.power, (shaping.expand_dims(values, 1), cast(powers, values.dtype)))
