"""Unary elementwise functions.

>>> sqrt([1., 4.]).numpy().tolist(), sign([-3, 0, 3]).numpy().tolist()
([1.0, 2.0], [-1, 0, 1])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import CHEAP, ELEMENTWISE, MAY_ALIAS, MODULAR
from ..arrays.reshape import fitted
from ..framework import intervals
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Name, Op
from ..framework.op_families import (
    BOOLS,
    COMPLEX,
    CURVED,
    FLOATS,
    NUMERIC,
    REAL,
    SIGNED,
    Array,
    boolean,
    real_part,
    unary,
)
from .cast import cast, of_parts


def _sign(x: Array) -> Array:
    if x.dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    return np.where(size == 0, x.dtype.type(0), x / size)


def _rsqrt(x: Array) -> Array:
    return np.reciprocal(np.sqrt(x))


def _sigmoid(x: Array) -> Array:
    if x.dtype == np.float16:  # exponentials of float16 overflow where the result is not yet zero
        return _sigmoid(x.astype(np.float32)).astype(np.float16)
    y = np.empty(x.shape, x.dtype)  # all steps in one array, also of rank 0
    np.exp(np.negative(x, y), y)
    return np.reciprocal(np.add(y, 1, y), y)


def _softplus(x: Array) -> Array:
    """Return `np.logaddexp(x, 0)` by functions for which NumPy has vector instructions."""
    if x.dtype == np.float16:
        return _softplus(x.astype(np.float32)).astype(np.float16)
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _log_sigmoid(x: Array) -> Array:
    return -_softplus(-x)


def _rounded(x: Array) -> Array:
    return np.rint(x) if x.dtype.kind == "f" else x


def _curve(name: str, compute: Callable[..., Any], manual: str, example: str, gives: str, cost: int) -> Op:
    """Declare a function of real and complex numbers, which is public at the top and in `math`."""
    return unary(name, compute, CURVED, manual, example, gives, cost=cost, export=(f"math.{name}", name))


ALL = SIGNED | CURVED
abs = unary("abs", np.abs, ALL, "The absolute value; the modulus of a complex number.", "[-2, 3]", "[2, 3]",
            real_part, traits=CHEAP, scalar={"if": "abs({0})"}, interval=intervals.absolute,
            export=("math.abs", "abs"))  # fmt: skip
negative = unary("negative", operator.neg, ALL, "`-x`.", "[1, -2]", "[-1, 2]", expression="-{0}",
                 traits=MODULAR | CHEAP, ufunc=np.negative, scalar={"if": "-{0}"},
                 interval=intervals.negative, export=("math.negative", "negative"))  # fmt: skip
sign = unary("sign", _sign, ALL, "-1, 0 or 1; for complex numbers `x / abs(x)`.", "[-2., 0., 7.]",
             "[-1.0, 0.0, 1.0]", traits=ELEMENTWISE | CHEAP, out={"f": ("np.sign({0}, out={o})",)},
             export=("math.sign", "sign"))  # fmt: skip
square = unary("square", np.square, NUMERIC, "`x * x`.", "[2, -3]", "[4, 9]", expression="{0} * {0}",
               traits=CHEAP, scalar={"iuf": "{0} * {0}"}, interval=intervals.square,
               export=("math.square", "square"))  # fmt: skip
sqrt = unary("sqrt", np.sqrt, CURVED, "The square root; NaN for negative numbers.", "[4., 9.]", "[2.0, 3.0]",
             cost=6, scalar={"f": "{sqrt}({0}) if {0} >= 0.0 else {kernel}({0})"},
             export=("math.sqrt", "sqrt"))  # fmt: skip
rsqrt = unary("rsqrt", _rsqrt, CURVED, "`1 / sqrt(x)`.", "[4., 0.]", "[0.5, inf]", traits=ELEMENTWISE,
              out={"f": ("np.sqrt({0}, out={o})", "np.reciprocal({o}, out={o})")}, cost=10,
              formula=lambda m, x: 1 / m.sqrt(x), export=("math.rsqrt",))  # fmt: skip
reciprocal = unary("reciprocal", np.reciprocal, CURVED, "`1 / x`.", "[4., 0.]", "[0.25, inf]", cost=4,
                   export=("math.reciprocal",))  # fmt: skip
exp = _curve("exp", np.exp, "e to the power `x`.", "[0.]", "[1.0]", 10)
expm1 = unary(
    "expm1", np.expm1, CURVED, "`exp(x) - 1`, exact near 0.", "[0.]", "[0.0]", cost=14, export=("math.expm1",)
)
log = unary(
    "log", np.log, CURVED, "The natural logarithm.", "[1., 0.]", "[0.0, -inf]", cost=14, export=("math.log",)
)
log1p = unary(
    "log1p", np.log1p, CURVED, "`log(1 + x)`, exact near 0.", "[0.]", "[0.0]", cost=16, export=("math.log1p",)
)
sin = _curve("sin", np.sin, "The sine of an angle in radians.", "[0.]", "[0.0]", 16)
cos = _curve("cos", np.cos, "The cosine of an angle in radians.", "[0.]", "[1.0]", 16)
tan = _curve("tan", np.tan, "The tangent of an angle in radians.", "[0.]", "[0.0]", 24)
asin = _curve("asin", np.arcsin, "The angle whose sine is `x`.", "[0.]", "[0.0]", 16)
acos = _curve("acos", np.arccos, "The angle whose cosine is `x`.", "[1.]", "[0.0]", 16)
atan = _curve("atan", np.arctan, "The angle whose tangent is `x`.", "[0.]", "[0.0]", 20)
sinh = _curve("sinh", np.sinh, "The hyperbolic sine.", "[0.]", "[0.0]", 30)
cosh = _curve("cosh", np.cosh, "The hyperbolic cosine.", "[0.]", "[1.0]", 20)
tanh = unary("tanh", np.tanh, CURVED, "The hyperbolic tangent.", "[0.]", "[0.0]", cost=20,
             export=("math.tanh", "nn.tanh", "tanh"))  # fmt: skip
asinh = _curve("asinh", np.arcsinh, "The inverse of `sinh`.", "[0.]", "[0.0]", 40)
acosh = _curve("acosh", np.arccosh, "The inverse of `cosh`.", "[1.]", "[0.0]", 40)
atanh = _curve("atanh", np.arctanh, "The inverse of `tanh`.", "[0.]", "[0.0]", 30)
sigmoid = unary("sigmoid", _sigmoid, CURVED, "`1 / (1 + exp(-x))`.", "[0.]", "[0.5]", traits=ELEMENTWISE, cost=20,
                out={"f": ("np.negative({0}, out={o})", "np.exp({o}, out={o})", "np.add({o}, {one}, out={o})",
                           "np.reciprocal({o}, out={o})"),
                     "float16": ("{o}[...] = {kernel}",)},
                export=("math.sigmoid", "nn.sigmoid", "sigmoid"))  # fmt: skip
log_sigmoid = unary("log_sigmoid", _log_sigmoid, FLOATS, "The logarithm of `sigmoid`.", "[-100.]", "[-100.0]",
                    traits=ELEMENTWISE, cost=30, out={"f": ("{o}[...] = {kernel}",)},
                    formula=lambda m, x: -m.softplus(-x), export=("math.log_sigmoid",))  # fmt: skip
softplus = unary("softplus", _softplus, FLOATS, "`log(1 + exp(x))`.", "[100.]", "[100.0]",
                 parameter="features", traits=ELEMENTWISE, cost=30,
                 out={"f": ("{o}[...] = {kernel}",)},
                 export=("math.softplus", "nn.softplus"))  # fmt: skip
ceil = unary("ceil", np.ceil, FLOATS, "The next whole number that is not smaller.", "[1.2, -1.2]",
             "[2.0, -1.0]", export=("math.ceil",))  # fmt: skip
floor = unary("floor", np.floor, FLOATS, "The next whole number that is not larger.", "[1.2, -1.2]",
              "[1.0, -2.0]", export=("math.floor", "floor"))  # fmt: skip
round = unary("round", _rounded, REAL, "The nearest whole number, the even one of two.", "[0.5, 1.5]",
              "[0.0, 2.0]", traits=ELEMENTWISE | MAY_ALIAS, out={"f": ("np.rint({0}, out={o})",)},
              export=("math.round", "round"))  # fmt: skip
rint = unary(
    "rint", np.rint, FLOATS, "The same as `round`.", "[0.5, 1.5]", "[0.0, 2.0]", export=("math.rint",)
)
is_nan = unary("is_nan", np.isnan, FLOATS, "Which elements are not a number.", "[0., float('nan')]",
               "[False, True]", boolean, scalar={"f": "{0} != {0}"}, export=("math.is_nan",))  # fmt: skip
is_inf = unary("is_inf", np.isinf, FLOATS, "Which elements are infinite.", "[0., float('-inf')]",
               "[False, True]", boolean, export=("math.is_inf",))  # fmt: skip
is_finite = unary("is_finite", np.isfinite, FLOATS, "Which elements are neither infinite nor NaN.",
                  "[0., float('inf')]", "[True, False]", boolean, export=("math.is_finite",))  # fmt: skip


def _angle_of(x: Array) -> Array:
    if x.dtype.kind != "c":
        return np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0))
    return np.arctan2(x.imag, x.real)


_real = unary("real", np.real, COMPLEX, "The real parts of complex numbers.", "[1+2j]", "[1.0]", real_part,
              traits=ELEMENTWISE | MAY_ALIAS)  # fmt: skip
imag = unary("imag", np.imag, NUMERIC | BOOLS, "The imaginary parts; zeros for other numbers.", "[1+2j]",
             "[2.0]", real_part, parameter="input", traits=ELEMENTWISE | MAY_ALIAS,
             export=("math.imag",))  # fmt: skip
_conj = unary(
    "conj", np.conj, COMPLEX, "Complex numbers with the other sign of `imag`.", "[1+2j]", "[(1-2j)]"
)
_angle = unary("angle", _angle_of, CURVED, "The angles of numbers in the complex plane.", "[1+0j, 2+0j]",
               "[0.0, 0.0]", real_part, traits=ELEMENTWISE, cost=20)  # fmt: skip


@export("math.conj")
@cached_dispatch
def conj(x: TensorLike, name: Name = None) -> Tensor:
    """Return the complex conjugate: `x` itself if it is not complex.

    >>> conj([1+2j]).numpy().tolist(), conj([3]).numpy().tolist()
    ([(1-2j)], [3])
    """
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        return _conj(x, name)  # type: ignore[no-any-return]
    return _numeric(x)


# Gradient functions. For complex functions, `dy` is multiplied by the conjugate of the derivative, as in
# TensorFlow.

abs.gradient(lambda dy, y, x: cast(dy, x.dtype) * sign(x))
negative.gradient(lambda dy, y, x: -dy)
square.gradient(lambda dy, y, x: dy * (conj(x) * 2))
exp.gradient(lambda dy, y, x: dy * conj(y))
expm1.gradient(lambda dy, y, x: dy * exp(conj(x)))
sin.gradient(lambda dy, y, x: dy * cos(conj(x)))
cos.gradient(lambda dy, y, x: -dy * sin(conj(x)))
tan.gradient(lambda dy, y, x: dy / square(cos(conj(x))))
asin.gradient(lambda dy, y, x: dy * rsqrt(1 - square(conj(x))))
acos.gradient(lambda dy, y, x: -dy * rsqrt(1 - square(conj(x))))
atan.gradient(lambda dy, y, x: dy / (square(conj(x)) + 1))
sinh.gradient(lambda dy, y, x: dy * cosh(conj(x)))
cosh.gradient(lambda dy, y, x: dy * sinh(conj(x)))
tanh.gradient(lambda dy, y, x: dy * (1 - square(conj(y))))
asinh.gradient(lambda dy, y, x: dy / cosh(conj(y)))
acosh.gradient(lambda dy, y, x: dy / sinh(conj(y)))
atanh.gradient(lambda dy, y, x: dy / (1 - square(conj(x))))
sigmoid.gradient(lambda dy, y, x: dy * (conj(y) * (1 - conj(y))))
log_sigmoid.gradient(lambda dy, y, x: dy * sigmoid(-x))
softplus.gradient(lambda dy, y, x: dy * sigmoid(x))
ceil.no_gradient("it is piecewise constant")
floor.no_gradient("it is piecewise constant")
round.no_gradient("it is piecewise constant")
rint.no_gradient("it is piecewise constant")
_real.gradient(lambda dy, y, x: cast(dy, x.dtype))
imag.gradient(lambda dy, y, x: cast(dy, x.dtype) * 1j if x.dtype.is_complex else None)
_conj.gradient(lambda dy, y, x: conj(dy))
of_parts.gradient(lambda dy, y, real, imaginary: (fitted(_real(dy), real), fitted(imag(dy), imaginary)))
_angle.gradient(lambda dy, y, x: cast(dy, x.dtype) * 1j / conj(x) if x.dtype.is_complex else None)


@export("math.real")
@cached_dispatch
@dispatching_composites("real", element_operands=1)
def real(input: TensorLike, name: Name = None) -> Tensor:
    """Return the real parts: `input` itself if it is not complex.

    >>> real([1+2j]).numpy().tolist(), real([3]).numpy().tolist()
    ([1.0], [3])
    """
    input = convert_to_tensor(input)
    if input.dtype.is_complex:
        return _real(input, name)  # type: ignore[no-any-return]
    return _numeric(input)


def as_real(x: Any) -> Any:
    """Return a tensor with its imaginary parts set to zero, of the same dtype."""
    return cast(_real(x), x.dtype) if x.dtype.is_complex else x


@export("math.angle")
def angle(input: TensorLike, name: Name = None) -> Tensor:
    """Return the angles of numbers in the complex plane: pi for negative reals.

    >>> angle([1., -1.]).numpy().round(2).tolist()
    [0.0, 3.140000104904175]
    """
    input = convert_to_tensor(input)
    if input.dtype not in CURVED:
        raise TypeError(f"angle takes floating point or complex numbers, not {input.dtype.name}")
    return _angle(input, name)  # type: ignore[no-any-return]


def _numeric(x: Tensor) -> Tensor:
    if x.dtype not in NUMERIC:
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype!r}")
    return x
