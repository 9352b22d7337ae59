"""Elementwise functions, in tables: name, operation, and the dtypes that the standard defines it for.

If TensorFlow's operation supports fewer dtypes than the standard's function, the entry has operations for the others.

>>> add(cast([1, 2], dtypes.int8), cast([1000], dtypes.int16)).dtype
tf.int16
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dtypes import DType
from ...ops.arrays.creation import ones_like, zeros_like
from ...ops.arrays.where_ops import where
from ...ops.math import arithmetic, bitwise, comparison, elementwise
from ...ops.math import cast as casting
from ...ops.math.cast import cast, identity
from ...ops.math.derived_math import nextafter as next_number
from ...ops.math.hypot_logaddexp import copy_sign, hypotenuse, log_of_sum, sign_bit
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


def _unary(name: str, operation: Function, kinds: tuple[DType, ...], manual: str) -> Function:
    def function(x: Any, /) -> Tensor:
        return operation(tensor_of(x, kinds, name))

    named(function, name, manual)
    return function


def _binary(name: str, operation: Function, kinds: tuple[DType, ...], manual: str) -> Function:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return operation(*together((x1, x2), kinds, name))

    named(function, name, manual)
    return function


def _by_kind(
    floats: Function, *, integers: Function | None = None, unsigned: Function | None = None,
    complexes: Function | None = None,
) -> Function:  # fmt: skip
    """Return a function that selects the operation by the kind of its first argument's dtype."""

    def operation(x: Tensor, *others: Tensor) -> Tensor:
        dtype = x.dtype
        chosen = floats
        if dtype.is_complex:
            chosen = complexes or floats
        elif dtype.is_unsigned and unsigned is not None:
            chosen = unsigned
        elif dtype.is_integer and integers is not None:
            chosen = integers
        return chosen(x, *others)

    return operation


def _both_parts(operation: Function) -> Function:
    """Return a function that applies the operation to the real and the imaginary part of a complex number."""
    return lambda z: casting.complex(operation(elementwise.real(z)), operation(elementwise.imag(z)))


def _either_part(operation: Function) -> Function:
    return lambda z: comparison.logical_or(operation(elementwise.real(z)), operation(elementwise.imag(z)))


def _truncated(x: Tensor) -> Tensor:
    return where(x < 0, elementwise.ceil(x), elementwise.floor(x))


def _logarithm(base: float) -> Function:
    """Return the logarithm to a base; complex parts are divided separately, as complex division makes NaN of inf."""

    def of_real(x: Tensor) -> Tensor:
        return x / math.log(base)

    return _by_kind(
        lambda x: of_real(elementwise.log(x)), complexes=lambda z: _both_parts(of_real)(elementwise.log(z))
    )


def _integer_quotient(x: Tensor, y: Tensor) -> Tensor:
    """Return the floor of the quotient. A finite number divided by an infinity of the opposite sign is -1."""
    unseen = elementwise.is_finite(x) & elementwise.is_inf(y) & (x != 0) & ((x < 0) != (y < 0))
    return where(unseen, cast(-1, x.dtype), arithmetic.floordiv(x, y))


def _power_of_unsigned(x: Tensor, y: Tensor) -> Tensor:
    """Return the power, computed in int64 since its low bits are those of the power in any narrower type."""
    return cast(arithmetic.pow(cast(x, dtypes.int64), cast(y, dtypes.int64)), x.dtype)


def _real_part(x: Tensor) -> Tensor:
    return elementwise.real(x) if x.dtype.is_complex else x


def _false(x: Tensor) -> Tensor:
    return zeros_like(x, dtypes.bool_)


abs = _unary("abs", _by_kind(elementwise.abs, unsigned=identity), NUMERIC, "The distance from zero.")
acos = _unary("acos", elementwise.acos, FLOATING, "The inverse of the cosine.")
acosh = _unary("acosh", elementwise.acosh, FLOATING, "The inverse of the hyperbolic cosine.")
asin = _unary("asin", elementwise.asin, FLOATING, "The inverse of the sine.")
asinh = _unary("asinh", elementwise.asinh, FLOATING, "The inverse of the hyperbolic sine.")
atan = _unary("atan", elementwise.atan, FLOATING, "The inverse of the tangent.")
atanh = _unary("atanh", elementwise.atanh, FLOATING, "The inverse of the hyperbolic tangent.")
bitwise_invert = _unary("bitwise_invert", lambda x: ~x, BOOL + INTEGRAL, "All bits turned over.")
ceil = _unary("ceil", _by_kind(elementwise.ceil, integers=identity), REAL, "The next integer above.")
conj = _unary("conj", elementwise.conj, NUMERIC, "The complex conjugate; real numbers are their own.")
cos = _unary("cos", elementwise.cos, FLOATING, "The cosine.")
cosh = _unary("cosh", elementwise.cosh, FLOATING, "The hyperbolic cosine.")
exp = _unary("exp", elementwise.exp, FLOATING, "The exponential function.")
expm1 = _unary("expm1", elementwise.expm1, FLOATING, "exp(x) - 1, exact near 0.")
floor = _unary("floor", _by_kind(elementwise.floor, integers=identity), REAL, "The next integer below.")
imag = _unary("imag", elementwise.imag, COMPLEX_FLOATING, "The imaginary part.")
isfinite = _unary(
    "isfinite",
    _by_kind(
        elementwise.is_finite,
        integers=lambda x: ones_like(x, dtypes.bool_),
        complexes=lambda z: comparison.logical_not(_either_part(lambda x: ~elementwise.is_finite(x))(z)),
    ),
    NUMERIC,
    "Whether the elements are neither infinite nor NaN.",
)
isinf = _unary("isinf",
               _by_kind(elementwise.is_inf, integers=_false, complexes=_either_part(elementwise.is_inf)),
               NUMERIC, "Whether the elements are infinite.")  # fmt: skip
isnan = _unary("isnan",
               _by_kind(elementwise.is_nan, integers=_false, complexes=_either_part(elementwise.is_nan)),
               NUMERIC, "Whether the elements are NaN.")  # fmt: skip
log = _unary("log", elementwise.log, FLOATING, "The natural logarithm.")
log10 = _unary("log10", _logarithm(10.0), FLOATING, "The logarithm to base 10.")
log1p = _unary("log1p", elementwise.log1p, FLOATING, "log(1 + x), exact near 0.")
log2 = _unary("log2", _logarithm(2.0), FLOATING, "The logarithm to base 2.")
logical_not = _unary("logical_not", comparison.logical_not, BOOL, "True where the elements are false.")
negative = _unary(
    "negative", _by_kind(elementwise.negative, unsigned=lambda x: zeros_like(x) - x), NUMERIC, "-x."
)
positive = _unary("positive", identity, NUMERIC, "The same numbers.")
real = _unary("real", _real_part, NUMERIC, "The real part; real numbers are their own.")
reciprocal = _unary("reciprocal", elementwise.reciprocal, FLOATING, "1 / x.")
round = _unary("round",
               _by_kind(elementwise.rint, integers=identity, complexes=_both_parts(elementwise.rint)),
               NUMERIC, "The nearest integer, the even one of two.")  # fmt: skip
sign = _unary("sign", _by_kind(elementwise.sign, unsigned=lambda x: cast(x > 0, x.dtype)), NUMERIC,
              "-1, 0 or 1; of a complex number z, z / |z|.")  # fmt: skip
signbit = _unary("signbit", sign_bit, REAL_FLOATING, "Whether there is a minus, also of -0.0 and NaN.")
sin = _unary("sin", elementwise.sin, FLOATING, "The sine.")
sinh = _unary("sinh", elementwise.sinh, FLOATING, "The hyperbolic sine.")
sqrt = _unary("sqrt", elementwise.sqrt, FLOATING, "The square root.")
square = _unary("square", elementwise.square, NUMERIC, "x * x.")
tan = _unary("tan", elementwise.tan, FLOATING, "The tangent.")
tanh = _unary("tanh", elementwise.tanh, FLOATING, "The hyperbolic tangent.")
trunc = _unary("trunc", _by_kind(_truncated, integers=identity), REAL, "The next integer towards zero.")

add = _binary("add", arithmetic.add, NUMERIC, "x1 + x2.")
atan2 = _binary("atan2", arithmetic.atan2, REAL_FLOATING, "The angle of the point (x2, x1).")
bitwise_and = _binary("bitwise_and", lambda x, y: x & y, BOOL + INTEGRAL, "The bits that both have.")
bitwise_left_shift = _binary("bitwise_left_shift", bitwise.left_shift, INTEGRAL, "The bits moved up.")
bitwise_or = _binary("bitwise_or", lambda x, y: x | y, BOOL + INTEGRAL, "The bits that one of them has.")
bitwise_right_shift = _binary("bitwise_right_shift", bitwise.right_shift, INTEGRAL, "The bits moved down.")
bitwise_xor = _binary(
    "bitwise_xor", lambda x, y: x ^ y, BOOL + INTEGRAL, "The bits that just one of them has."
)
copysign = _binary("copysign", copy_sign, REAL_FLOATING, "|x1| with the sign of x2.")
divide = _binary("divide", arithmetic.divide, FLOATING, "x1 / x2.")
equal = _binary("equal", comparison.equal, ANY, "Whether the elements are equal.")
floor_divide = _binary("floor_divide", _by_kind(_integer_quotient, integers=arithmetic.floordiv), REAL,
                       "The next integer below x1 / x2.")  # fmt: skip
greater = _binary("greater", comparison.greater, REAL, "Whether x1 > x2.")
greater_equal = _binary("greater_equal", comparison.greater_equal, REAL, "Whether x1 >= x2.")
hypot = _binary("hypot", hypotenuse, REAL_FLOATING, "The square root of x1 * x1 + x2 * x2.")
less = _binary("less", comparison.less, REAL, "Whether x1 < x2.")
less_equal = _binary("less_equal", comparison.less_equal, REAL, "Whether x1 <= x2.")
logaddexp = _binary("logaddexp", log_of_sum, REAL_FLOATING, "log(exp(x1) + exp(x2)).")
logical_and = _binary("logical_and", comparison.logical_and, BOOL, "Whether both are true.")
logical_or = _binary("logical_or", comparison.logical_or, BOOL, "Whether one is true.")
logical_xor = _binary("logical_xor", comparison.not_equal, BOOL, "Whether just one is true.")
maximum = _binary("maximum", arithmetic.maximum, REAL, "The larger one, NaN if one is NaN.")
minimum = _binary("minimum", arithmetic.minimum, REAL, "The smaller one, NaN if one is NaN.")
multiply = _binary("multiply", arithmetic.multiply, NUMERIC, "x1 * x2.")
nextafter = _binary("nextafter", next_number, REAL_FLOATING, "The next number from x1 towards x2.")
not_equal = _binary("not_equal", comparison.not_equal, ANY, "Whether the elements differ.")
pow = _binary("pow", _by_kind(arithmetic.pow, unsigned=_power_of_unsigned), NUMERIC, "x1 to the power of x2.")
remainder = _binary("remainder", arithmetic.floormod, REAL, "What is left of x1, with the sign of x2.")
subtract = _binary("subtract", arithmetic.subtract, NUMERIC, "x1 - x2.")


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Return `x` limited to the range from `min` to `max`; the dtype is that of `x`."""
    tensor = tensor_of(x, REAL, "clip")
    dtype = tensor.dtype
    if not (dtype.is_integer and type(min) is int and min <= dtype.min) and min is not None:
        tensor = maximum(tensor, min)
    if not (dtype.is_integer and type(max) is int and max >= dtype.max) and max is not None:
        tensor = minimum(tensor, max)
    return cast(tensor, dtype)
