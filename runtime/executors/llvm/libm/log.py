"""Logarithms.

    ln x = k ln 2 + ln m    where x = 2^k m and sqrt(1/2) <= m < sqrt(2)
    ln m = 2 s + s R(s²)    where s = (m - 1) / (m + 1)

(J.-M. Muller, "Elementary Functions", 2016, chapter 11. The order of additions with the least rounding error, with
s = f / (2 + f) and f = m - 1: ln m = f - (f²/2 - s (f²/2 + R)).)
"""

from __future__ import annotations

from typing import NamedTuple

from ....kernels.special_functions import polynomials
from .double_double import DoubleDouble, exact_product, exact_sum, ordered_sum, product
from .exp import LOG_2, exp
from .formula_builder import Number, polynomial

ROOT_HALF = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}
"""The bits of sqrt(1/2)."""
LOG_10_OF_2 = {32: (0.301025390625, 4.605039066518657e-06), 64: (0.30102999566395283, 2.8363394551044964e-14)}
"""The decimal logarithm of two, in two parts. The first part has few bits."""
INVERSE_LOG_OF_2 = {
    32: (1.4426950216293335, 1.925963033500011e-08),
    64: (1.4426950408889634, 2.0355273740931033e-17),
}
INVERSE_LOG_OF_10 = {
    32: (0.4342944920063019, -1.0103049952192578e-08),
    64: (0.4342944819032518, 1.098319650216765e-17),
}
"""The reciprocals of ln 2 and ln 10, in two parts."""


class Split(NamedTuple):
    """A positive number as 2^k m."""

    k: Number
    m: Number


def split(x: Number) -> Split:
    """Return k and m of a positive finite number, which may be subnormal."""
    code = x.code
    tiny = x < 2.0 ** (2 - code.bias)
    scale = code.fraction + 2
    normal = tiny.where(x * 2.0**scale, x)
    root = ROOT_HALF[code.size]
    one = code.bias << code.fraction
    shifted = normal.bits() + (one - root)
    # Put the exponent into the low bits of 2^52 and subtract 2^52: this conversion vectorizes on all targets.
    carrier = 2.0**code.fraction
    exponent = ((shifted >> code.fraction) | code.real(carrier).bits()).as_real()
    k = exponent - tiny.where(code.real(carrier + code.bias + scale), carrier + code.bias)
    m = ((shifted & (1 << code.fraction) - 1) + root).as_real()
    return Split(k, m)


def finished(x: Number, result: Number) -> Number:
    """Return `result` with the special cases of a logarithm: zero, infinity, negative numbers and NaN."""
    infinity, nan = float("inf"), float("nan")
    result = (x < infinity).where(result, x)
    result = x.equals(0.0).where(-infinity, result)
    return x.invalid_below(0.0).where(nan, result)


def log(x: Number) -> Number:
    """Return the natural logarithm of `x`."""
    return increased_log(x, x.code.real(0.0))


def increased_log(x: Number, increase: Number) -> Number:
    """Return the natural logarithm of `x` plus the small `increase`, with one final rounding."""
    code = x.code
    k, m = split(x)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    rest = z * polynomial(z, polynomials.TABLES[code.size]["LOG"])
    half_square = f * f * 0.5
    high, low = LOG_2[code.size]
    small = increase.plus_product(k, low).plus_product(s, half_square + rest)
    return finished(x, k * high + (f - (half_square - small)))


def log_pair(m: Number) -> DoubleDouble:
    """Return the logarithm of a number near one, with about ten extra bits."""
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    rest = z * polynomial(z, polynomials.TABLES[m.code.size]["LOG"])
    square = exact_product(f, f * 0.5)
    high, low = ordered_sum(f, -square.high)
    return ordered_sum(high, (low - square.low).plus_product(s, square.high + rest))


def based(x: Number, inverse: DoubleDouble, unit: DoubleDouble) -> Number:
    """Return a logarithm to another base.

    `inverse` is the reciprocal of the base's natural logarithm; `unit` is the logarithm of two to that base.
    """
    k, m = split(x)
    high, low = product(log_pair(m), inverse)
    whole, lost = exact_sum(k * unit.high, high)
    return finished(x, whole + (lost + low).plus_product(k, unit.low))


def constants(x: Number, parts: dict[int, tuple[float, float]]) -> DoubleDouble:
    return DoubleDouble(*map(x.code.real, parts[x.code.size]))


def log2(x: Number) -> Number:
    """Return the logarithm to base two, which is exact for powers of two."""
    return based(x, constants(x, INVERSE_LOG_OF_2), DoubleDouble(x.code.real(1.0), x.code.real(0.0)))


def log10(x: Number) -> Number:
    """Return the logarithm to base ten."""
    return based(x, constants(x, INVERSE_LOG_OF_10), constants(x, LOG_10_OF_2))


def log1p(x: Number) -> Number:
    """Return the natural logarithm of 1 + `x`, accurate near zero too."""
    result = log_of_pair(exact_sum(x.code.real(1.0), x))
    infinite = x.equals(float("inf"))
    return (infinite | x.equals(0.0)).where(x, result)


def log_of_pair(u: DoubleDouble) -> Number:
    """Return the natural logarithm of a double-double number, accurate near one too."""
    return increased_log(u.high, u.low / u.high)


def softplus(x: Number) -> Number:
    """Return ln(1 + e^x)."""
    small = log_of_pair(ordered_sum(x.code.real(1.0), exp(-x.magnitude())))
    return (x > 0.0).where(x + small, x.is_nan().where(x, small))
