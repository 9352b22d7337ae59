"""Logarithms.

    ln x = k ln 2 + ln m    where x = 2^k m and sqrt(1/2) <= m < sqrt(2)
    ln m = 2 s + s R(s²)    where s = (m - 1) / (m + 1)

(J.-M. Muller, "Elementary Functions", 2016, chapter 11. The order of additions that loses least, with
s = f / (2 + f) and f = m - 1: ln m = f - (f²/2 - s (f²/2 + R)).)
"""

from __future__ import annotations

from typing import NamedTuple

from . import polynomials
from .exponentials import LOG_2
from .numbers import Number, polynomial

ROOT_HALF = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}
"""The bits of sqrt(1/2)."""


class Split(NamedTuple):
    """A positive number as 2^k m."""

    k: Number
    m: Number


def split(x: Number) -> Split:
    """The power of two and the rest, for positive finite numbers; subnormal ones too."""
    code = x.code
    tiny = x < 2.0 ** (2 - code.bias)
    scale = code.fraction + 2
    normal = tiny.where(x * 2.0**scale, x)
    root = ROOT_HALF[code.size]
    one = code.bias << code.fraction
    shifted = normal.bits() + (one - root)
    # The exponent goes into the last bits of 2^52, which is subtracted: a conversion for all machines in lanes.
    carrier = 2.0**code.fraction
    exponent = ((shifted >> code.fraction) | code.real(carrier).bits()).as_real()
    k = exponent - tiny.where(code.real(carrier + code.bias + scale), carrier + code.bias)
    m = ((shifted & (1 << code.fraction) - 1) + root).as_real()
    return Split(k, m)


def finished(x: Number, result: Number) -> Number:
    """A logarithm with its special values: of zero, of infinity, of what is negative or NaN."""
    infinity, nan = float("inf"), float("nan")
    result = (x < infinity).where(result, x)
    result = x.equals(0.0).where(-infinity, result)
    return x.invalid_below(0.0).where(nan, result)


def log(x: Number) -> Number:
    """Natural logarithm."""
    code = x.code
    k, m = split(x)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    rest = z * polynomial(z, polynomials.TABLES[code.size]["LOG"])
    half_square = f * f * 0.5
    high, low = LOG_2[code.size]
    small = (k * low).plus_product(s, half_square + rest)
    return finished(x, k * high + (f - (half_square - small)))
