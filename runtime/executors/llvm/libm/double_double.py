"""Double-double arithmetic: a pair of numbers represents a sum with more precision than one number has.

    x + y    ==>    s = x + y, and e, the rounding error of s: x + y = s + e exactly

The steps are Dekker's and Knuth's (T. J. Dekker, "A floating-point technique for extending the available precision",
1971; J.-M. Muller et al., "Handbook of Floating-Point Arithmetic", chapter 4).
"""

from __future__ import annotations

from typing import NamedTuple

from .formula_builder import Number


class Pair(NamedTuple):
    """An unevaluated sum: `high` is the rounded sum, `low` its rounding error."""

    high: Number
    low: Number


def ordered_sum(x: Number, y: Number) -> Pair:
    """Return the exact sum if |x| ≥ |y|, or `x` is zero (Fast2Sum)."""
    total = x + y
    return Pair(total, y - (total - x))


def exact_sum(x: Number, y: Number) -> Pair:
    """Return the exact sum of any two numbers (2Sum)."""
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def exact_product(x: Number, y: Number) -> Pair:
    """Return the exact product, if its error does not underflow."""
    product = x * y
    if x.code.fused:
        return Pair(product, (-product).plus_product(x, y))
    (a, b), (c, d) = halves(x), halves(y)
    return Pair(product, ((a * c - product) + a * d + b * c) + b * d)


def halves(x: Number) -> Pair:
    """Return two numbers of half the bits each that add up to `x` (Veltkamp)."""
    scaled = x * float((1 << ((x.code.fraction + 2) // 2)) + 1)
    high = scaled - (scaled - x)
    return Pair(high, x - high)


def product(x: Pair, y: Pair) -> Pair:
    """Return the product of pairs, to about twice the precision of a number."""
    high, low = exact_product(x.high, y.high)
    return ordered_sum(high, low.plus_product(x.high, y.low).plus_product(x.low, y.high))


def quotient(x: Pair, y: Pair) -> Number:
    """Return `x / y` with almost correct rounding, by one division and one correction step."""
    return collapsed(quotient_pair(x, y))


def quotient_pair(x: Pair, y: Pair) -> Pair:
    """Return `x / y` as a pair."""
    inverse = 1.0 / y.high
    guess = x.high * inverse
    high, low = exact_product(guess, y.high)
    rest = ((x.high - high) - low) + (x.low - guess * y.low)
    return Pair(guess, rest * inverse)


def collapsed(x: Pair) -> Number:
    """Return the pair as one number."""
    return x.high + x.low


def total(x: Pair, y: Pair) -> Pair:
    """Return the sum of pairs."""
    high, low = exact_sum(x.high, y.high)
    return ordered_sum(high, low + (x.low + y.low))


def root(x: Pair) -> Pair:
    """Return the square root of a pair; zero for zero."""
    guess = x.high.sqrt()
    square = exact_product(guess, guess)
    rest = ((x.high - square.high) - square.low) + x.low
    positive = guess > 0.0
    return Pair(guess, positive.where(rest / (guess * 2.0), 0.0))
