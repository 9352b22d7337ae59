"""Sine, cosine and tangent, with Cody-Waite range reduction.

    x = n π/2 + r    with n the nearest integer, so that |r| <= π/4
    sin x = ± sin r or ± cos r, by the last two bits of n

(W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980. π/2 is a sum of three constants.
x - n c with the first constant c is exact if it is rounded once, since both are multiples of the ulp of c.)
If x is so large that n overflows, the C library computes it. That call costs almost nothing if it is not needed.
"""

from __future__ import annotations

from ....kernels.special_functions import polynomials
from .double_double import DoubleDouble, collapsed, exact_product, exact_sum, ordered_sum, quotient
from .formula_builder import Number, polynomial
from .slow_paths import rarely

HALF_PI = {
    32: (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    64: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
"""π/2 as a sum of three constants of full precision."""
INVERSE_HALF_PI = 0.6366197723675814
LIMIT = {32: 2.0**17, 64: 2.0**40}
"""The largest magnitudes for which this range reduction is exact."""


def reduced(x: Number) -> tuple[Number, DoubleDouble]:
    """Return n, in the low bits of an integer, and r."""
    code = x.code
    n, quadrant = (x * INVERSE_HALF_PI).rounded()
    first, second, third = map(code.real, HALF_PI[code.size])
    if code.fused:
        near = x.plus_product(-n, first)
    else:
        product = exact_product(n, first)
        near = (x - product.high) - product.low
    middle = exact_product(n, second)
    high, low = exact_sum(near, -middle.high)
    return quadrant, exact_sum(high, (low - middle.low) - n * third)


def sine(r: DoubleDouble) -> DoubleDouble:
    """Return sin r for |r| ≤ π/4."""
    x, rest = r
    z = x * x
    return DoubleDouble(x, rest.plus_product(x * z, polynomial(z, polynomials.TABLES[x.code.size]["SIN"])))


def cosine(r: DoubleDouble) -> DoubleDouble:
    """Return cos r for |r| ≤ π/4."""
    x, rest = r
    z, lost = exact_product(x, x)
    half = z * 0.5
    one = 1.0 - half
    linear = (x * rest).plus_product(lost, 0.5)
    tail = (-linear).plus_product(z * z, polynomial(z, polynomials.TABLES[x.code.size]["COS"]))
    return DoubleDouble(one, ((1.0 - one) - half) + tail)


def turned(quadrant: Number, r: DoubleDouble) -> Number:
    """Return sin r, cos r, -sin r or -cos r, as `quadrant` demands."""
    odd = (quadrant & 1).equals(1)
    result = odd.where(collapsed(cosine(r)), collapsed(sine(r)))
    sign = (quadrant & 2) << (r.high.code.size - 2)
    return (result.bits() ^ sign).as_real()


def ratio(quadrant: Number, r: DoubleDouble) -> Number:
    """Return tan r or -1 / tan r."""
    odd = (quadrant & 1).equals(1)
    above, below = ordered_sum(*sine(r)), ordered_sum(*cosine(r))
    upper = DoubleDouble(odd.where(below.high, above.high), odd.where(below.low, above.low))
    lower = DoubleDouble(odd.where(-above.high, below.high), odd.where(-above.low, below.low))
    return quotient(upper, lower)


def far(x: Number, name: str) -> Number:
    """Return the result of the C library where `x` is beyond the limit; elsewhere it is unspecified."""
    return rarely(x, LIMIT[x.code.size], f"{name}.far", lambda x: x.code.call(name, x))


def sin(x: Number) -> Number:
    """Return the sine of `x`."""
    large = x.magnitude() > LIMIT[x.code.size]
    result = large.where(far(x, "sin"), turned(*reduced(x)))
    return x.equals(0.0).where(x, result)


def cos(x: Number) -> Number:
    """Return the cosine of `x`."""
    quadrant, r = reduced(x)
    large = x.magnitude() > LIMIT[x.code.size]
    return large.where(far(x, "cos"), turned(quadrant + 1, r))


def tan(x: Number) -> Number:
    """Return the tangent of `x`."""
    large = x.magnitude() > LIMIT[x.code.size]
    result = large.where(far(x, "tan"), ratio(*reduced(x)))
    return x.equals(0.0).where(x, result)
