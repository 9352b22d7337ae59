"""Elementwise functions, in tables: name, the dtypes that the standard defines it for, and manual.

Their operations are those of NumPy's universal functions with the same names.

>>> add(cast([1, 2], "int8"), cast([1000], "int16")).dtype
tf.int16
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...dtypes import DType
from ...ops.math import elementwise
from ...ops.math.cast import cast
from ...ops.math.derived_math import nextafter as next_number
from ..numpy_dispatch.ufuncs import operation_of
from .data_types import (
    ANY,
    BOOL,
    COMPLEX_FLOATING,
    FLOATING,
    INTEGRAL,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    named,
    tensor_of,
)
from .promotion import together

Function = Callable[..., Tensor]


def _unary(name: str, kinds: tuple[DType, ...], manual: str, ufunc: np.ufunc | None = None) -> Function:
    universal = ufunc or getattr(np, name)

    def function(x: Any, /) -> Tensor:
        tensor = tensor_of(x, kinds, name)
        return operation_of(universal, tensor.dtype)(tensor)

    named(function, name, manual)
    return function


def _binary(name: str, kinds: tuple[DType, ...], manual: str) -> Function:
    universal = getattr(np, name)

    def function(x1: Any, x2: Any, /) -> Tensor:
        first, second = together((x1, x2), kinds, name)
        return operation_of(universal, first.dtype)(first, second)

    named(function, name, manual)
    return function


abs = _unary("abs", NUMERIC, "The distance from zero.")
acos = _unary("acos", FLOATING, "The inverse of the cosine.")
acosh = _unary("acosh", FLOATING, "The inverse of the hyperbolic cosine.")
asin = _unary("asin", FLOATING, "The inverse of the sine.")
asinh = _unary("asinh", FLOATING, "The inverse of the hyperbolic sine.")
atan = _unary("atan", FLOATING, "The inverse of the tangent.")
atanh = _unary("atanh", FLOATING, "The inverse of the hyperbolic tangent.")
bitwise_invert = _unary("bitwise_invert", BOOL + INTEGRAL, "All bits turned over.")
ceil = _unary("ceil", REAL, "The next integer above.")
conj = _unary("conj", NUMERIC, "The complex conjugate; real numbers are their own.")
cos = _unary("cos", FLOATING, "The cosine.")
cosh = _unary("cosh", FLOATING, "The hyperbolic cosine.")
exp = _unary("exp", FLOATING, "The exponential function.")
expm1 = _unary("expm1", FLOATING, "exp(x) - 1, exact near 0.")
floor = _unary("floor", REAL, "The next integer below.")
isfinite = _unary("isfinite", NUMERIC, "Whether the elements are neither infinite nor NaN.")
isinf = _unary("isinf", NUMERIC, "Whether the elements are infinite.")
isnan = _unary("isnan", NUMERIC, "Whether the elements are NaN.")
log = _unary("log", FLOATING, "The natural logarithm.")
log10 = _unary("log10", FLOATING, "The logarithm to base 10.")
log1p = _unary("log1p", FLOATING, "log(1 + x), exact near 0.")
log2 = _unary("log2", FLOATING, "The logarithm to base 2.")
logical_not = _unary("logical_not", BOOL, "True where the elements are false.")
negative = _unary("negative", NUMERIC, "-x.")
positive = _unary("positive", NUMERIC, "The same numbers.")
reciprocal = _unary("reciprocal", FLOATING, "1 / x.")
round = _unary("round", NUMERIC, "The nearest integer, the even one of two.", np.rint)
sign = _unary("sign", NUMERIC, "-1, 0 or 1; of a complex number z, z / |z|.")
signbit = _unary("signbit", REAL_FLOATING, "Whether there is a minus, also of -0.0 and NaN.")
sin = _unary("sin", FLOATING, "The sine.")
sinh = _unary("sinh", FLOATING, "The hyperbolic sine.")
sqrt = _unary("sqrt", FLOATING, "The square root.")
square = _unary("square", NUMERIC, "x * x.")
tan = _unary("tan", FLOATING, "The tangent.")
tanh = _unary("tanh", FLOATING, "The hyperbolic tangent.")
trunc = _unary("trunc", REAL, "The next integer towards zero.")

add = _binary("add", NUMERIC, "x1 + x2.")
atan2 = _binary("atan2", REAL_FLOATING, "The angle of the point (x2, x1).")
bitwise_and = _binary("bitwise_and", BOOL + INTEGRAL, "The bits that both have.")
bitwise_left_shift = _binary("bitwise_left_shift", INTEGRAL, "The bits moved up.")
bitwise_or = _binary("bitwise_or", BOOL + INTEGRAL, "The bits that one of them has.")
bitwise_right_shift = _binary("bitwise_right_shift", INTEGRAL, "The bits moved down.")
bitwise_xor = _binary("bitwise_xor", BOOL + INTEGRAL, "The bits that just one of them has.")
copysign = _binary("copysign", REAL_FLOATING, "|x1| with the sign of x2.")
divide = _binary("divide", FLOATING, "x1 / x2.")
equal = _binary("equal", ANY, "Whether the elements are equal.")
floor_divide = _binary("floor_divide", REAL, "The next integer below x1 / x2.")
greater = _binary("greater", REAL, "Whether x1 > x2.")
greater_equal = _binary("greater_equal", REAL, "Whether x1 >= x2.")
hypot = _binary("hypot", REAL_FLOATING, "The square root of x1 * x1 + x2 * x2.")
less = _binary("less", REAL, "Whether x1 < x2.")
less_equal = _binary("less_equal", REAL, "Whether x1 <= x2.")
logaddexp = _binary("logaddexp", REAL_FLOATING, "log(exp(x1) + exp(x2)).")
logical_and = _binary("logical_and", BOOL, "Whether both are true.")
logical_or = _binary("logical_or", BOOL, "Whether one is true.")
logical_xor = _binary("logical_xor", BOOL, "Whether just one is true.")
maximum = _binary("maximum", REAL, "The larger one, NaN if one is NaN.")
minimum = _binary("minimum", REAL, "The smaller one, NaN if one is NaN.")
multiply = _binary("multiply", NUMERIC, "x1 * x2.")
not_equal = _binary("not_equal", ANY, "Whether the elements differ.")
pow = _binary("pow", NUMERIC, "x1 to the power of x2.")
remainder = _binary("remainder", REAL, "The remainder of x1 / x2, with the sign of x2.")
subtract = _binary("subtract", NUMERIC, "x1 - x2.")


def imag(x: Any, /) -> Tensor:
    """Return the imaginary part."""
    return elementwise.imag(tensor_of(x, COMPLEX_FLOATING, "imag"))


def nextafter(x1: Any, x2: Any, /) -> Tensor:
    """Return the next numbers from `x1` towards `x2`."""
    return next_number(*together((x1, x2), REAL_FLOATING, "nextafter"))


def real(x: Any, /) -> Tensor:
    """Return the real part; real numbers are their own."""
    tensor = tensor_of(x, NUMERIC, "real")
    return elementwise.real(tensor) if tensor.dtype.is_complex else tensor


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Return `x` limited to the range from `min` to `max`; the dtype is that of `x`."""
    tensor = tensor_of(x, REAL, "clip")
    dtype = tensor.dtype
    if not (dtype.is_integer and type(min) is int and min <= dtype.min) and min is not None:
        tensor = maximum(tensor, min)
    if not (dtype.is_integer and type(max) is int and max >= dtype.max) and max is not None:
        tensor = minimum(tensor, max)
    return cast(tensor, dtype)
