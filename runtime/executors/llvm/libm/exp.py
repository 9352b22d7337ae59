"""Exponentials: e^x, 2^x, e^x - 1, and the sigmoid.

    e^x = 2^n e^r    where n = round(x / ln 2) and r = x - n ln 2, so that |r| <= ln 2 / 2

(W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980: ln 2 is a sum of two constants, the
first so short that its products with n are exact.) A polynomial gives e^r - 1. Rounding errors of its steps are kept,
so that results are almost correctly rounded. 2^n is multiplied in as two factors, since one factor does not reach the
ends of the range. Overflow, subnormal results, infinities and NaN then need no special case.
"""

from __future__ import annotations

from typing import NamedTuple

from ....kernels.special_functions import polynomials
from .double_double import DoubleDouble, collapsed, exact_product, exact_sum, ordered_sum, quotient
from .formula_builder import Number, horner, polynomial, through_double

LOG_2 = {32: (0.693145751953125, 1.428606765330187e-06), 64: (0.6931471805598903, 5.497923018708371e-14)}
"""ln 2 in two parts. The first part has few bits."""
LOG_2_NEAREST = {32: 0.6931471824645996, 64: 0.6931471805599453}
"""ln 2 rounded to the format."""
INVERSE_LOG_2 = 1.4426950408889634
RANGE = {32: (-176.0, 89.5), 64: (-1418.0, 710.5)}
"""The arguments below which both factors of 2^n are 0, and above which e^x is infinite.

A product that underflows takes a processor longer than the whole formula; masks make many arguments like -1e9."""


class Scaled(NamedTuple):
    """The number 2^n (1 + fraction). n plus twice the exponent bias is in the low bits of the integer `power`."""

    power: Number
    fraction: DoubleDouble

    def factors(self) -> tuple[Number, Number]:
        """Return two factors of 2^n, neither of which overflows."""
        return factors(self.power)


def factors(power: Number) -> tuple[Number, Number]:
    """Return two factors of 2^n for the integer `power`, neither of which overflows."""
    part = power >> 1
    rest = power - part
    return (part << power.code.fraction).as_real(), (rest << power.code.fraction).as_real()


def scaled_exp(x: Number, more: Number | None = None) -> Scaled:
    """Return e^(x + more) as a power of two and a fraction; `more` is small."""
    code = x.code
    x = x.clamped(*RANGE[code.size])
    n, power = x.rounded(2 * code.bias, INVERSE_LOG_2)
    first, second = LOG_2[code.size]
    near = x.plus_product(n, -first)  # the product is exact
    lost = n * second if more is None else n * second - more
    r = near - lost
    error = (near - r) - lost
    tail = polynomial(r, polynomials.TABLES[code.size]["EXP"])
    return Scaled(power, DoubleDouble(r, error.plus_product(r, error.plus_product(r, tail))))


def quick_exp(x: Number) -> Number:
    """Return e^x of a float32 on a target with fused multiply-add, where r needs no correction."""
    code = x.code
    x = x.clamped(*RANGE[code.size])
    n, power = x.rounded(2 * code.bias, INVERSE_LOG_2)
    high, low = factors(power)
    return (1.0 + less_one(x, n, "EXP")) * high * low


def exp(x: Number) -> Number:
    """Return e to the power `x`."""
    if x.code.size == 32 and x.code.fused:
        return quick_exp(x)
    return whole(scaled_exp(x))


def whole(scaled: Scaled) -> Number:
    """Return the value of `scaled` as one number."""
    high, low = scaled.factors()
    return (1.0 + collapsed(scaled.fraction)) * high * low


def exp2(x: Number) -> Number:
    """Return 2 to the power `x`."""
    code = x.code
    x = x.clamped(-2.0 * code.bias, code.bias + 2.0)
    n, power = x.rounded(2 * code.bias)
    r = x - n
    table = polynomials.TABLES[code.size]["EXP2"]
    linear = exact_product(r, code.real(LOG_2_NEAREST[code.size]))
    tail = linear.low.plus_product(r * r, polynomial(r, table))
    one = ordered_sum(code.real(1.0), linear.high)
    high, low = Scaled(power, linear).factors()
    return (one.high + (one.low + tail)) * high * low


def expm1_pair(x: Number) -> DoubleDouble:
    """Return e^x - 1 as a pair, for `x` that does not overflow."""
    scaled = scaled_exp(x)
    r, rest = scaled.fraction
    high, low = scaled.factors()
    power = high * low
    less = exact_sum(power, x.code.real(-1.0))
    total = exact_sum(less.high, power * r)
    return ordered_sum(total.high, (less.low + total.low).plus_product(power, rest))


def expm1(x: Number) -> Number:
    """Return e^x - 1, accurate near zero too."""
    result = collapsed(expm1_pair(x))
    result = (x > 3.0 * x.code.fraction).where(exp(x), result)
    return (x.magnitude() < 2.0 ** -(x.code.fraction + 2)).where(x, result)


def exp_plus(x: Number, more: float) -> Number:
    """Return e^x + more with a polynomial of float32 accuracy, for `x` that does not overflow."""
    code = x.code
    n, power = x.rounded(code.bias, INVERSE_LOG_2)
    scale = (power << code.fraction).as_real()
    near_one = "EXP" if more == -1.0 else "EXP_WHOLE"
    return (scale + more).plus_product(scale, less_one(x, n, near_one))


def less_one(x: Number, n: Number, table: str) -> Number:
    """Return e^r - 1 with float32 accuracy, where r = x - n ln 2."""
    first, second = LOG_2[x.code.size]
    r = x.plus_product(n, -first).plus_product(n, -second)
    return r.plus_product(r * r, horner(r, polynomials.FLOAT[table]))


def rough_sigmoid(x: Number) -> Number:
    return 1.0 / exp_plus(-x.clamped(-200.0, 200.0), 1.0)


@through_double(rough=rough_sigmoid)
def sigmoid(x: Number) -> Number:
    """Return 1 / (1 + e^-x)."""
    scaled = scaled_exp(-x.magnitude())
    high, low = scaled.factors()
    one = ordered_sum(x.code.real(1.0), collapsed(scaled.fraction))
    above = DoubleDouble(one.high * high * low, one.low * high * low)
    below = ordered_sum(x.code.real(1.0), above.high)
    below = DoubleDouble(below.high, below.low + above.low)
    negative = x < 0.0
    unit = x.code.real(1.0)
    return quotient(DoubleDouble(negative.where(above.high, unit), negative.where(above.low, 0.0)), below)
