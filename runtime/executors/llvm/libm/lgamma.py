"""The logarithm of the gamma function, and its derivative.

    lgamma x = (x - 1) (x - 2) p(x)                               for 1/2 ≤ x ≤ 2
    lgamma x = lgamma y + ln ((x - 1) (x - 2) … y)                for x < 8, with y between one and two
    lgamma x = (x - 1/2) (ln x - 1) + ln(2π)/2 - 1/2 + s(1/x²)/x  for larger x
    lgamma -x = ln (π / (x |sin π x|)) - lgamma x

The derivative has the same cases: (x - x₀) p(x) near its zero x₀, and sums of 1 / (x - k). (M. Abramowitz and I.
Stegun, "Handbook of Mathematical Functions", 6.1.15 to 6.1.41 and 6.3.5 to 6.3.18; the polynomials are this project's.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ....kernels.special_functions import polynomials
from .formula_builder import Number, polynomial, through_double
from .log import log
from .trig import sin, tan

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
"""B2, B4, … B18."""
STIRLING = tuple(b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1))
SLOPES = tuple(-b / (2 * k) for k, b in enumerate(BERNOULLI, 1))

FAR = 8.0
REST = 0.4189385332046727418
"""ln(2π)/2 - 1/2."""
ZERO = (1.4616321449683622, 9.549995429965697e-17)
"""The zero of the derivative, in two parts."""
WHOLE = 2.0**52
"""The magnitude from which on all floats are integers."""
TINY = 2.0**-60
"""The magnitude below which results are the same for both signs."""
INFINITY, NAN = float("inf"), float("nan")


class Lowered(NamedTuple):
    """An argument reduced to at most two: the product of the factors, and the sum of their reciprocals."""

    y: Number
    product: Number
    inverses: Number


def lowered(x: Number) -> Lowered:
    """Apply the recurrence to an argument up to eight."""
    y, product, inverses = x, x.code.real(1.0), x.code.real(0.0)
    for _ in range(6):
        following = y - 1.0
        goes_on = y > 2.0
        product = goes_on.where(product * following, product)
        inverses = goes_on.where(inverses + 1.0 / following, inverses)
        y = goes_on.where(following, y)
    return Lowered(y, product, inverses)


def lgamma_of_positive(x: Number) -> Number:
    is_small, is_far = x < 0.5, x >= FAR
    y, product, _ = lowered(is_small.where(x + 1.0, x))
    inner = (y - 1.0) * (y - 2.0) * polynomial(y - 1.25, polynomials.DOUBLE["LGAMMA"])
    logarithm = log((is_small | is_far).where(x, product))
    inner = inner + is_small.where(-logarithm, logarithm)
    series = polynomial(1.0 / (x * x), STIRLING) / x
    far = (series + REST).plus_product(x - 0.5, logarithm - 1.0)
    return is_far.where(far, inner)


def behind_the_point(x: Number) -> Number:
    """Return the distance to the nearest integer; 0 from 2^52 on."""
    part = x - x.code.call("rint", x)
    return (x.magnitude() < WHOLE).where(part, 0.0)


@through_double()
def lgamma(x: Number) -> Number:
    """Return the logarithm of the absolute value of the gamma function; infinity at 0, -1, …."""
    size = x.magnitude()
    value = lgamma_of_positive(size)
    part = behind_the_point(size)
    mirrored = log(math.pi / (size * sin(part * math.pi).magnitude())) - value
    mirrored = (size < TINY).where(value, mirrored)
    is_pole = (x <= 0.0) & part.equals(0.0)
    result = (x < 0.0).where(mirrored, value)
    return (is_pole | size.equals(INFINITY)).where(INFINITY, result)


def digamma_of_positive(x: Number) -> Number:
    is_small, is_far = x < 1.0, x >= FAR
    y, _, inverses = lowered(is_small.where(x + 1.0, x))
    inverse = 1.0 / x
    inner = ((y - ZERO[0]) - ZERO[1]) * polynomial(y - 1.5, polynomials.DOUBLE["DIGAMMA"])
    inner = inner + is_small.where(-inverse, inverses)
    square = inverse * inverse
    far = log(x) + (square * polynomial(square, SLOPES) - inverse * 0.5)
    return is_far.where(far, inner)


@through_double()
def digamma(x: Number) -> Number:
    """Return the derivative of `lgamma`; NaN at 0, -1, …."""
    is_negative = x < 0.0
    value = digamma_of_positive(is_negative.where(1.0 - x, x))
    part = behind_the_point(x)
    mirrored = value - math.pi / tan(part * math.pi)
    result = is_negative.where(mirrored, value)
    return ((x <= 0.0) & part.equals(0.0)).where(NAN, result)
