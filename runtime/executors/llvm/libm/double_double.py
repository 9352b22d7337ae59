"""Double-double arithmetic: a pair of numbers represents a sum with more precision than one number has.

    x + y    ==>    s = x + y, and e, the rounding error of s: x + y = s + e exactly

The steps are Dekker's and Knuth's (T. J. Dekker, "A floating-point technique for extending the available precision",
1971; J.-M. Muller et al., "Handbook of Floating-Point Arithmetic", chapter 4).
"""

from __future__ import annotations

from typing import NamedTuple

from .formula_builder import Number


class DoubleDouble(NamedTuple):
    """An unevaluated sum: `high` is the rounded sum, `low` its rounding error."""

    high: Number
    low: Number


def ordered_sum(x: Number, y: Number) -> DoubleDouble:
    """Return the exact sum if |x| ≥ |y|, or `x` is zero (Fast2Sum)."""
    total = x + y
    return DoubleDouble(total, y - (total - x))


def exact_sum(x: Number, y: Number) -> DoubleDouble:
    """Return the exact sum of any two numbers (2Sum)."""
    total = x + y
    part = total - x
    return DoubleDouble(total, (x - (total - part)) + (y - part))


def exact_product(x: Number, y: Number) -> DoubleDouble:
    """Return the exact product, if its error does not underflow."""
    product = x * y
    if x.code.fused:
        return DoubleDouble(product, (-product).plus_product(x, y))
    (x, up), (y, more) = scaled(x), scaled(y)
    (a, b), (c, d) = halves(x), halves(y)
    return DoubleDouble(product, (((a * c - x * y) + a * d + b * c) + b * d) * up * more)


def scaled(x: Number) -> tuple[Number, Number]:
    """Return a number of which `halves` does not overflow, and the power of two by which `x` is larger."""
    step = 2.0 ** (x.code.fraction // 2 + 3)
    is_large = x.magnitude() > 2.0**x.code.bias / step
    return is_large.where(x / step, x), is_large.where(step, x.code.real(1.0))


def halves(x: Number) -> DoubleDouble:
    """Return two numbers of half the bits each that add up to `x` (Veltkamp)."""
    times = x * float((1 << ((x.code.fraction + 2) // 2)) + 1)
    high = times - (times - x)
    return DoubleDouble(high, x - high)


def product(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """Return the product of pairs, to about twice the precision of a number."""
    high, low = exact_product(x.high, y.high)
    return ordered_sum(high, low.plus_product(x.high, y.low).plus_product(x.low, y.high))


def quotient(x: DoubleDouble, y: DoubleDouble) -> Number:
    """Return `x / y` with almost correct rounding, by one division and one correction step."""
    return collapsed(quotient_pair(x, y))


def quotient_pair(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """Return `x / y` as a pair."""
    inverse = 1.0 / y.high
    guess = x.high * inverse
    high, low = exact_product(guess, y.high)
    rest = ((x.high - high) - low) + (x.low - guess * y.low)
    return DoubleDouble(guess, rest * inverse)


def collapsed(x: DoubleDouble) -> Number:
    """Return the pair as one number."""
    return x.high + x.low


def total(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """Return the sum of pairs."""
    high, low = exact_sum(x.high, y.high)
    return ordered_sum(high, low + (x.low + y.low))


def root(x: DoubleDouble) -> DoubleDouble:
    """Return the square root of a pair; zero for zero."""
    guess = x.high.sqrt()
    square = exact_product(guess, guess)
    rest = ((x.high - square.high) - square.low) + x.low
    positive = guess > 0.0
    return DoubleDouble(guess, positive.where(rest / (guess * 2.0), 0.0))
