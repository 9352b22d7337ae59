"""Inverse trigonometric functions.

    asin x = s + s z p(z)                  for x ≤ 1/2, with s = x and z = x²
    asin x = π/2 - 2 (s + s z p(z))        for larger x, with z = (1 - x) / 2 and s = sqrt(z)
    atan x = c + q + q z p(z)              with z = q², and q and c as below

      x up to tan(π/8)    x    0
      up to tan(3π/8)     (x - 1) / (x + 1)    π/4
      above               -1 / x    π/2

(W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980, with other polynomials.)
"""

from __future__ import annotations

from ....kernels.special_functions import polynomials
from .double_double import DoubleDouble, exact_sum, ordered_sum, quotient_pair
from .formula_builder import Number, polynomial

HALF_PI = {32: (1.5707963705062866, -4.371138828673793e-08), 64: (1.5707963267948966, 6.123233995736766e-17)}
TAN_EIGHTH, TAN_THREE_EIGHTHS = 0.41421356237309503, 2.414213562373095


def half_pi(x: Number) -> DoubleDouble:
    return DoubleDouble(*map(x.code.real, HALF_PI[x.code.size]))


def folded(x: Number) -> tuple[Number, DoubleDouble]:
    """Return whether |x| > 1/2, and asin s for the s of the module docstring."""
    size = x.magnitude()
    above = size > 0.5
    z = above.where((1.0 - size) * 0.5, size * size)
    guess = z.sqrt()
    s = above.where(guess, size)
    lost = above.where((z.plus_product(-s, s) / (guess + guess)), 0.0)
    exact = z.equals(0.0).where(0.0, lost)
    return above, DoubleDouble(
        s, exact.plus_product(s * z, polynomial(z, polynomials.TABLES[x.code.size]["ASIN"]))
    )


def asin(x: Number) -> Number:
    """Return the inverse sine of `x`, for |x| ≤ 1."""
    above, arc = folded(x)
    high, low = half_pi(x)
    whole, lost = ordered_sum(high, arc.high * -2.0)
    far = whole + (lost + (low - arc.low * 2.0))
    result = above.where(far, arc.high + arc.low)
    return result.with_sign_of(x)


def acos(x: Number) -> Number:
    """Return the inverse cosine of `x`, for |x| ≤ 1."""
    above, arc = folded(x)
    negative = x < 0.0
    turns = above.where(negative.where(2.0, x.code.real(0.0)), 1.0)
    times = above.where(negative.where(-2.0, x.code.real(2.0)), negative.where(1.0, x.code.real(-1.0)))
    high, low = half_pi(x)
    whole, lost = exact_sum(turns * high, arc.high * times)
    return whole + lost.plus_product(turns, low).plus_product(times, arc.low)


def arc_of(q: DoubleDouble, offset: DoubleDouble) -> DoubleDouble:
    """Return atan q plus an angle, for a small q."""
    z = q.high * q.high
    rest = q.low.plus_product(q.high * z, polynomial(z, polynomials.TABLES[z.code.size]["ATAN"]))
    whole, lost = exact_sum(offset.high, q.high)
    return DoubleDouble(whole, lost + (offset.low + rest))


def atan(x: Number) -> Number:
    """Return the inverse tangent of `x`."""
    code = x.code
    size = x.magnitude()
    middle, far = size > TAN_EIGHTH, size > TAN_THREE_EIGHTHS
    less, more = exact_sum(size, code.real(-1.0)), exact_sum(size, code.real(1.0))
    zero = code.real(0.0)
    above = DoubleDouble(
        far.where(-1.0, middle.where(less.high, size)), far.where(0.0, middle.where(less.low, zero))
    )
    below = DoubleDouble(
        far.where(size, middle.where(more.high, 1.0)), far.where(0.0, middle.where(more.low, zero))
    )
    q = quotient_pair(above, below)
    infinite = size.equals(float("inf"))
    q = DoubleDouble(infinite.where(0.0, q.high), infinite.where(0.0, q.low))
    high, low = half_pi(x)
    turns = far.where(1.0, middle.where(0.5, zero))
    arc = arc_of(q, DoubleDouble(turns * high, turns * low))
    return (arc.high + arc.low).with_sign_of(x)


def atan2(y: Number, x: Number) -> Number:
    """Return the angle of the point (`x`, `y`), between -π and π."""
    code = x.code
    steep = y.magnitude() > x.magnitude()
    over, under = steep.where(x.magnitude(), y.magnitude()), steep.where(y.magnitude(), x.magnitude())
    # Scale huge and tiny operands: their sums would overflow, and the errors of quotients would underflow.
    edge = 2.0 ** (code.bias // 2)
    scale = (under > edge).where(1.0 / edge, (over < 1.0 / edge).where(code.real(edge), 1.0))
    infinite = over.equals(float("inf"))
    under_scaled = infinite.where(1.0, under.equals(0.0).where(1.0, under * scale))
    over_scaled = infinite.where(1.0, over * scale)
    middle = over_scaled > under_scaled * TAN_EIGHTH
    less, more = exact_sum(over_scaled, -under_scaled), exact_sum(over_scaled, under_scaled)
    above = DoubleDouble(middle.where(less.high, over_scaled), middle.where(less.low, 0.0))
    below = DoubleDouble(middle.where(more.high, under_scaled), middle.where(more.low, 0.0))
    q = quotient_pair(above, below)
    vanishing = under.equals(float("inf")) & (over < float("inf"))
    q = DoubleDouble(vanishing.where(0.0, q.high), vanishing.where(0.0, q.low))
    zero = code.real(0.0)
    high, low = half_pi(x)
    turns = middle.where(0.5, zero)
    # Undo the reflections at the diagonal and at the vertical.
    turns = steep.where(1.0 - turns, turns)
    left = code.real(1.0).with_sign_of(x) < 0.0
    turns = left.where(2.0 - turns, turns)
    sign = (steep ^ left).where(-1.0, code.real(1.0))
    arc = arc_of(DoubleDouble(q.high * sign, q.low * sign), DoubleDouble(turns * high, turns * low))
    result = (arc.high + arc.low).with_sign_of(y)
    return (x.is_nan() | y.is_nan()).where(float("nan"), result)
