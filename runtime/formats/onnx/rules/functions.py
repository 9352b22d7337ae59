"""Functions of one number: operators of ONNX, and compositions that are accurate near 0.

ONNX Runtime computes trigonometric functions of float32 only; for float64 they follow from others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import InexpressibleError
from ..registry import exports, one_to_one

one_to_one({
    "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos", "tanh": "Tanh", "sigmoid": "Sigmoid", "acos": "Acos",
    "asin": "Asin", "atan": "Atan", "erf": "Erf",
})  # fmt: skip


def _has_kernel(x: Any) -> bool:
    return x.dtype is not dtypes.float64


@exports("rsqrt")
def _(e: Any, operation: Any, x: Any) -> Any:
    return 1.0 / e("Sqrt", x)


@exports("tan")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e("Tan", x) if _has_kernel(x) else e("Sin", x) / e("Cos", x)


def expm1(e: Any, x: Any) -> Any:
    """Return `exp(x) - 1`: near 0 from the hyperbolic tangent, so that no digits cancel."""
    half = e("Tanh", x * 0.5)
    return e.where(e("Abs", x) < 0.5, 2.0 * half / (1.0 - half), e("Exp", x) - 1.0)


def log1p(e: Any, x: Any) -> Any:
    """Return `log(1 + x)`, corrected by the rounding error of the sum (Kahan)."""
    total = 1.0 + x
    is_small = total.equals(1.0)
    gap = e.where(is_small, 1.0, total - 1.0)
    near = e.where(is_small, x, e("Log", total) * (x / gap))
    return e.where(e("Abs", x) < 0.5, near, e("Log", total))


@exports("expm1")
def _(e: Any, operation: Any, x: Any) -> Any:
    return expm1(e, x)


@exports("log1p")
def _(e: Any, operation: Any, x: Any) -> Any:
    return log1p(e, x)


@exports("xlog1py")
def _(e: Any, operation: Any, x: Any, y: Any) -> Any:
    return e.where(x.equals(0.0), 0.0, x * log1p(e, y))


@exports("sinh")
def _(e: Any, operation: Any, x: Any) -> Any:
    size = e("Abs", x)
    grown = expm1(e, size)
    near = (grown + grown / (grown + 1.0)) * 0.5
    return e("Sign", x) * e.where(size > 10.0, _half_of_power(e, size), near)


@exports("cosh")
def _(e: Any, operation: Any, x: Any) -> Any:
    size = e("Abs", x)
    return _half_of_power(e, size) + e("Exp", -size) * 0.5


def _half_of_power(e: Any, x: Any) -> Any:
    """Return `exp(x) / 2`, which may be finite where `exp(x)` is not."""
    root = e("Exp", x * 0.5)
    return root * 0.5 * root


_LARGE = {2: 1e2, 4: 1e4, 8: 1e8}
"""By the size of the dtype: the number above which adding 1 to a square changes nothing that matters."""


@exports("asinh")
def _(e: Any, operation: Any, x: Any) -> Any:
    size = e("Abs", x)
    near = log1p(e, size + size * size / (1.0 + e("Sqrt", size * size + 1.0)))
    return e("Sign", x) * e.where(size > _LARGE[x.dtype.size], e("Log", size) + math.log(2), near)


@exports("acosh")
def _(e: Any, operation: Any, x: Any) -> Any:
    near = e("Log", x + e("Sqrt", x - 1.0) * e("Sqrt", x + 1.0))
    return e.where(x > _LARGE[x.dtype.size], e("Log", x) + math.log(2), near)


@exports("atanh")
def _(e: Any, operation: Any, x: Any) -> Any:
    return log1p(e, 2.0 * x / (1.0 - x)) * 0.5


@exports("atan2")
def _(e: Any, operation: Any, y: Any, x: Any) -> Any:
    is_diagonal = e("Abs", y).equals(np.inf) & e("Abs", x).equals(np.inf)
    y, x = e.where(is_diagonal, e("Sign", y), y), e.where(is_diagonal, e("Sign", x), x)
    turn = e.where((y < 0.0) | (1.0 / y < 0.0), -math.pi, e.const(math.pi, x.dtype))
    plain = e("Atan", y / x)
    is_left = (x < 0.0) | (x.equals(0.0) & (1.0 / x < 0.0))
    whole = e.where(is_left, plain + turn, plain)
    return e.where(x.equals(0.0) & y.equals(0.0), e.where(is_left, turn, y), whole)


def softplus(e: Any, x: Any) -> Any:
    """Return `log(1 + exp(x))`."""
    return e("Max", x, e.like(0.0, x)) + log1p(e, e("Exp", -e("Abs", x)))


@exports("softplus")
def _(e: Any, operation: Any, x: Any) -> Any:
    return softplus(e, x)


@exports("log_sigmoid")
def _(e: Any, operation: Any, x: Any) -> Any:
    return -softplus(e, -x)


@exports("erfc")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Return `1 - erf(x)`; from 2 on by a continued fraction, where the difference has no digits."""
    size = e("Max", x, e.like(2.0, x))
    fraction = size
    for k in range(40, 0, -1):
        fraction = size + (k / 2) / fraction
    tail = e("Exp", -size * size) / (fraction * math.sqrt(math.pi))
    return e.where(x < 2.0, 1.0 - e("Erf", x), tail)


_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


@exports("lgamma")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Return the logarithm of the gamma function: Lanczos' series, and the reflection for small numbers."""
    x = e.cast(x, dtypes.float64)
    is_low = x < 0.5
    z = e.where(is_low, 1.0 - x, x) - 1.0
    total = e.const(_LANCZOS[0], dtypes.float64)
    for i, coefficient in enumerate(_LANCZOS[1:], 1):
        total = total + coefficient / (z + float(i))
    t = z + 7.5
    upper = 0.5 * math.log(2 * math.pi) + (z + 0.5) * e("Log", t) - t + e("Log", total)
    rest = x - e("Round", x)
    sine = e("Abs", e("Sin", rest * math.pi))
    lower = math.log(math.pi) - e("Log", sine) - upper
    found = e.where(is_low, e.where(rest.equals(0.0), np.inf, lower), upper)
    found = e.where(e("Abs", x).equals(np.inf), np.inf, found)
    return e.cast(found, operation.outputs[0].dtype)


@exports("digamma")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Return the derivative of `lgamma`: an asymptotic series at `x + 8`, and the reflection."""
    x = e.cast(x, dtypes.float64)
    is_low = x < 0.0
    z = e.where(is_low, 1.0 - x, x)
    down = e.const(0.0, dtypes.float64)
    for k in range(8):
        down = down + 1.0 / (z + float(k))
    w = z + 8.0
    inverse = 1.0 / (w * w)
    series = inverse * (
        1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132))))
    )
    upper = e("Log", w) - 0.5 / w - series - down
    rest = (x - e("Round", x)) * math.pi
    lower = upper - math.pi * e("Cos", rest) / e("Sin", rest)
    is_pole = (x < 0.5) & rest.equals(0.0)
    return e.cast(e.where(is_pole, np.nan, e.where(is_low, lower, upper)), operation.outputs[0].dtype)


def inverse_erf(e: Any, x: Any) -> Any:
    """Return the inverse of `erf` on float64, by Giles' polynomials, which are accurate in float32."""
    w = -e("Log", (1.0 - x) * (1.0 + x))
    center = _polynomial(e, w - 2.5, _CENTER)
    tail = _polynomial(e, e("Sqrt", w) - 3.0, _TAIL)
    y = e.where(w < 5.0, center, tail) * x
    return e.where(e("Abs", x).equals(1.0), x * np.inf, y)


@exports("erfinv", "ndtri", "erfcinv")
def _(e: Any, operation: Any, x: Any) -> Any:
    own, x = x.dtype, e.cast(x, dtypes.float64)
    if own is dtypes.float64:
        raise InexpressibleError("its composition is accurate in float32 only")
    if operation.type == "ndtri":
        return e.cast(inverse_erf(e, 2.0 * x - 1.0) * math.sqrt(2.0), own)
    return e.cast(inverse_erf(e, x if operation.type == "erfinv" else 1.0 - x), own)


_CENTER = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
           -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
         0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def _polynomial(e: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    total = e.const(coefficients[0], x.dtype)
    for each in coefficients[1:]:
        total = total * x + each
    return total
