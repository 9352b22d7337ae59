"""Hyperbolic functions and their inverses.

    tanh x = t / (t + 2)                  where t = e^(2 |x|) - 1
    sinh x = (t + t / (t + 1)) / 2        where t = e^|x| - 1
    asinh x = ln(1 + (|x| + x² / (1 + sqrt(1 + x²))))

with the sign of x. Intermediate results are double-double, so that rounding errors do not add up; float32 has
shorter formulas. (W. Kahan, "Branch cuts for complex elementary functions", 1987, has the forms without cancellation.)
"""

from __future__ import annotations

from ....kernels.special_functions import polynomials
from .double_double import (
    DoubleDouble,
    collapsed,
    exact_product,
    exact_sum,
    ordered_sum,
    product,
    quotient,
    quotient_pair,
    root,
    total,
)
from .exp import LOG_2_NEAREST, exp_plus, expm1_pair, scaled_exp
from .formula_builder import Number, horner, through_double
from .log import log, log1p, log_of_pair


def quick_tanh(x: Number) -> Number:
    """Return tanh x of a float32 on a target with fused multiply-add.

    For |x| ≥ 1 the term 2 / (e^(2 |x|) + 1) is so small relative to 1 that its rounding error hardly matters.
    Both branches of the select have the sign of `x` or none.
    """
    size = x.magnitude()
    square = size * size
    near = x.plus_product(x * square, horner(square, polynomials.FLOAT["TANH"]))
    far = 1.0 - 2.0 / exp_plus(size.clamped(0.0, 10.0) * 2.0, 1.0)
    return ((size < 1.0).where(near, far).bits() | (x.bits() & -(1 << 31))).as_real()


def tanh(x: Number) -> Number:
    """Return the hyperbolic tangent of `x`."""
    if x.code.size == 32 and x.code.fused:
        return quick_tanh(x)
    limit = 10.0 if x.code.size == 32 else 20.0
    doubled = x.magnitude().clamped(0.0, limit) * 2.0
    above = expm1_pair(doubled)
    below = exact_sum(x.code.real(2.0), above.high)
    result = quotient(above, DoubleDouble(below.high, below.low + above.low))
    return result.with_sign_of(x)


def halved(x: Number) -> DoubleDouble:
    """Return e^x / 2, which overflows a little later than e^x."""
    scaled = scaled_exp(x)
    near = ordered_sum(x.code.real(1.0), scaled.fraction.high)
    one = ordered_sum(near.high, near.low + scaled.fraction.low)
    high, low = scaled.factors()
    return DoubleDouble(one.high * high * 0.5 * low, one.low * high * 0.5 * low)


def rough_sinh(x: Number) -> Number:
    """Return sinh x with enough accuracy for a float32 result, like the other `rough_` functions below."""
    t = exp_plus(x.magnitude().clamped(0.0, 100.0), -1.0)
    return ((t + t / (t + 1.0)) * 0.5).with_sign_of(x)


@through_double(rough=rough_sinh)
def sinh(x: Number) -> Number:
    """Return the hyperbolic sine of `x`."""
    size = x.magnitude()
    t = expm1_pair(size.clamped(0.0, 50.0))
    below = total(DoubleDouble(x.code.real(1.0), x.code.real(0.0)), t)
    near = collapsed(total(t, quotient_pair(t, below))) * 0.5
    result = (size > 40.0).where(collapsed(halved(size)), near)
    return (size < 2.0**-27).where(x, result.with_sign_of(x))


@through_double()
def cosh(x: Number) -> Number:
    """Return the hyperbolic cosine of `x`."""
    high, low = halved(x.magnitude())
    inverse = 0.25 / high
    whole, lost = ordered_sum(high, inverse)
    finite = high < float("inf")
    return finite.where(whole + (low + lost), high)


def rough_asinh(x: Number) -> Number:
    size = x.magnitude()
    square = size * size
    result = log1p(size + square / ((square + 1.0).sqrt() + 1.0)).with_sign_of(x)
    return (size < float("inf")).where(result, x)


@through_double(rough=rough_asinh)
def asinh(x: Number) -> Number:
    """Return the inverse hyperbolic sine of `x`."""
    size = x.magnitude()
    one = DoubleDouble(x.code.real(1.0), x.code.real(0.0))
    near = size.clamped(0.0, 1e150)
    square = exact_product(near, near)
    below = total(one, root(total(square, one)))
    argument = total(quotient_pair(square, below), DoubleDouble(near, x.code.real(0.0)))
    result = log_of_pair(total(one, argument))
    result = (size > 1e150).where(log(size) + LOG_2_NEAREST[64], result)
    return (size < 2.0**-27).where(x, result.with_sign_of(x))


def rough_acosh(x: Number) -> Number:
    more = x - 1.0
    result = log1p(more + (more * (x + 1.0)).sqrt())
    return x.invalid_below(1.0).where(float("nan"), result)


@through_double(rough=rough_acosh)
def acosh(x: Number) -> Number:
    """Return the inverse hyperbolic cosine of `x`; NaN below 1."""
    one = DoubleDouble(x.code.real(1.0), x.code.real(0.0))
    near = (x > 1e150).where(1e150, x)
    more = exact_sum(near, x.code.real(-1.0))
    argument = total(more, root(product(more, exact_sum(near, x.code.real(1.0)))))
    result = log_of_pair(total(one, argument))
    result = (x > 1e150).where(log(x) + LOG_2_NEAREST[64], result)
    result = x.equals(1.0).where(0.0, result)
    return x.invalid_below(1.0).where(float("nan"), result)


def rough_atanh(x: Number) -> Number:
    size = x.magnitude()
    return (log1p(size * 2.0 / (1.0 - size)) * 0.5).with_sign_of(x)


@through_double(rough=rough_atanh)
def atanh(x: Number) -> Number:
    """Return the inverse hyperbolic tangent of `x`, for |x| ≤ 1."""
    size = x.magnitude()
    one = x.code.real(1.0)
    argument = quotient_pair(DoubleDouble(size * 2.0, x.code.real(0.0)), exact_sum(one, -size))
    result = log_of_pair(total(DoubleDouble(one, x.code.real(0.0)), argument)) * 0.5
    result = size.equals(1.0).where(float("inf"), result)
    return (size < 2.0**-27).where(x, result.with_sign_of(x))
