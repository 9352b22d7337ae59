"""Powers.

    x^y = e^(y ln |x|), negative if x is negative and y is odd

The exponent needs eleven more bits than the result, since e^1000 amplifies an error of one ulp a thousandfold.
Hence the logarithm is computed as a pair, with only the polynomial of its smallest part in single numbers.
(J.-M. Muller, "Elementary Functions", 2016, section 12.5.)
"""

from __future__ import annotations

from ....kernels.special_functions import polynomials
from .double_double import DoubleDouble, exact_sum, ordered_sum, product, quotient_pair, total
from .exp import LOG_2, exp, scaled_exp, whole
from .formula_builder import Number, polynomial, through_double
from .log import log, split

TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)


def precise_log(x: Number) -> DoubleDouble:
    """Return the logarithm of a positive finite number, with about twelve extra bits."""
    real = x.code.real
    k, m = split(x)
    below = exact_sum(m, real(1.0))
    s = quotient_pair(DoubleDouble(m - 1.0, real(0.0)), below)
    s = ordered_sum(*s)
    z = product(s, s)
    tail = z.high * polynomial(z.high, polynomials.TABLES[64]["LOG_PAIR"])
    factor = total(DoubleDouble(real(TWO_THIRDS[0]), real(TWO_THIRDS[1])), DoubleDouble(tail, real(0.0)))
    rest = product(product(s, z), factor)
    logarithm = total(DoubleDouble(s.high * 2.0, s.low * 2.0), rest)
    return total(DoubleDouble(k * LOG_2[64][0], k * LOG_2[64][1]), logarithm)


def rough_pow(x: Number, y: Number) -> Number:
    """Return |x|^y with enough accuracy for a float32 result."""
    return exp(y * log(x.magnitude()))


@through_double(rough=rough_pow)
def magnitude_of_pow(x: Number, y: Number) -> Number:
    size = x.magnitude()
    infinity = float("inf")
    logarithm = precise_log(size)
    start = size.equals(0.0).where(-infinity, size.equals(infinity).where(infinity, logarithm.high))
    steep = y * start
    moderate = steep.magnitude() < 1000.0
    exponent = product(DoubleDouble(moderate.where(y, 0.0), x.code.real(0.0)), logarithm)
    limit = (steep > 0.0).where(infinity, x.code.real(0.0))
    power = whole(scaled_exp(exponent.high, exponent.low))
    return moderate.where(power, limit)


def pow(x: Number, y: Number) -> Number:
    """Return `x` to the power `y`."""
    nan, infinity = float("nan"), float("inf")
    size = x.magnitude()
    integer = y.code.call("floor", y).equals(y)
    halved = y * 0.5
    even = y.code.call("floor", halved).equals(halved)
    result = magnitude_of_pow(x, y)
    negative = x.code.real(1.0).with_sign_of(x) < 0.0
    odd = integer & even.compared("==", False)
    result = (negative & odd).where(-result, result)
    strange = (x < 0.0) & (x > -infinity) & integer.compared("==", False)
    result = strange.where(nan, result)
    result = (x.is_nan() | y.is_nan()).where(nan, result)
    unit = size.equals(1.0) & y.magnitude().equals(infinity)
    return (y.equals(0.0) | x.equals(1.0) | unit).where(1.0, result)
