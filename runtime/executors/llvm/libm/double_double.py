"""Pairs of numbers whose sum is more exact than one number can be.

    x + y    ==>    s = x + y, and e, what the rounding of s lost: x + y = s + e exactly

The steps are Dekker's and Knuth's (T. J. Dekker, "A floating-point technique for extending the available precision",
1971; J.-M. Muller et al., "Handbook of Floating-Point Arithmetic", chapter 4).
"""

from __future__ import annotations

from typing import NamedTuple

from .formula_builder import Number


class Pair(NamedTuple):
    """An unevaluated sum: `high` is it rounded, `low` what that lost."""

    high: Number
    low: Number


def ordered_sum(x: Number, y: Number) -> Pair:
    """The exact sum where `x` is at least as large as `y` in magnitude, or zero."""
    total = x + y
    return Pair(total, y - (total - x))


def exact_sum(x: Number, y: Number) -> Pair:
    """The exact sum of any two numbers."""
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def exact_product(x: Number, y: Number) -> Pair:
    """The exact product, as long as its error does not underflow."""
    product = x * y
    if x.code.fused:
        return Pair(product, (-product).plus_product(x, y))
    (a, b), (c, d) = halves(x), halves(y)
    return Pair(product, ((a * c - product) + a * d + b * c) + b * d)


def halves(x: Number) -> Pair:
    """Two numbers of half the bits each that add up to `x` (Veltkamp)."""
    scaled = x * float((1 << ((x.code.fraction + 2) // 2)) + 1)
    high = scaled - (scaled - x)
    return Pair(high, x - high)


def product(x: Pair, y: Pair) -> Pair:
    """The product of pairs, to about twice the precision of a number."""
    high, low = exact_product(x.high, y.high)
    return ordered_sum(high, low.plus_product(x.high, y.low).plus_product(x.low, y.high))


def quotient(x: Pair, y: Pair) -> Number:
    """`x / y` rounded nearly to the nearest: one division, and one step that corrects it."""
    return collapsed(quotient_pair(x, y))


def quotient_pair(x: Pair, y: Pair) -> Pair:
    """`x / y` as a pair."""
    inverse = 1.0 / y.high
    guess = x.high * inverse
    high, low = exact_product(guess, y.high)
    rest = ((x.high - high) - low) + (x.low - guess * y.low)
    return Pair(guess, rest * inverse)


def collapsed(x: Pair) -> Number:
    """The pair as one number."""
    return x.high + x.low


def total(x: Pair, y: Pair) -> Pair:
    """The sum of pairs."""
    high, low = exact_sum(x.high, y.high)
    return ordered_sum(high, low + (x.low + y.low))


def root(x: Pair) -> Pair:
    """The square root of a pair; zero of zero."""
    guess = x.high.sqrt()
    square = exact_product(guess, guess)
    rest = ((x.high - square.high) - square.low) + x.low
    positive = guess > 0.0
    return Pair(guess, positive.where(rest / (guess * 2.0), 0.0))
