"""Modified Bessel functions of the first kind, of order 0 and 1, with and without exponential scaling.

    I x = (x/2)^n Σ (x²/4)^k / (k! (k + n)!)                 for x ≤ 25: all terms are positive
    e^-x I x = Σ (-1)^k a_k / x^k / sqrt(2 π x)              for larger x

(Digital Library of Mathematical Functions, 10.25.2 and 10.40.1. The unscaled functions overflow later than e^x,
so they are multiplied twice by e^(x/2).)
"""

from __future__ import annotations

import math

from .exp import exp
from .formula_builder import Number, polynomial, through_double

GREAT = 25.0
SERIES = tuple(
    tuple(1 / (math.factorial(k) * math.factorial(k + order)) for k in range(44)) for order in (0, 1)
)


def _hankel(order: int) -> tuple[float, ...]:
    found = [1.0]
    for k in range(1, 26):
        found.append(-found[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return tuple(found)


FAR = (_hankel(0), _hankel(1))


def _scaled(order: int, x: Number) -> Number:
    size = x.magnitude()
    inner = size.clamped(0.0, GREAT)
    near = exp(-inner) * polynomial(inner * inner * 0.25, SERIES[order])
    if order:
        near = near * (inner * 0.5)
    outer = (size > GREAT).where(size, GREAT)
    far = polynomial(1.0 / outer, FAR[order]) / (outer * (2 * math.pi)).sqrt()
    value = (size > GREAT).where(far, near)
    return value.with_sign_of(x) if order else value


def _grown(order: int, x: Number) -> Number:
    half = exp(x.magnitude() * 0.5)
    return _scaled(order, x) * half * half


@through_double()
def bessel_i0e(x: Number) -> Number:
    """Return the function of order 0, times e^-|x|."""
    return _scaled(0, x)


@through_double()
def bessel_i1e(x: Number) -> Number:
    """Return the function of order 1, times e^-|x|."""
    return _scaled(1, x)


@through_double()
def bessel_i0(x: Number) -> Number:
    """Return the function of order 0."""
    return _grown(0, x)


@through_double()
def bessel_i1(x: Number) -> Number:
    """Return the function of order 1."""
    return _grown(1, x)
