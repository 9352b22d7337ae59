"""The gamma function: its logarithm, digamma, Hurwitz's zeta, polygamma.

>>> digamma(np.array([1.0])).round(12).tolist()
[-0.577215664902]
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .piecewise import piecewise, power_series
from .polynomials import DOUBLE

Array = Any

_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
"""B2, B4, … B20."""

_SLOPES = [-b / (2 * k) for k, b in enumerate(_BERNOULLI[:9], 1)]
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI[:9], 1)]
_FAR = 8.0
_ROOT = 1.4616321449683622
_ROOT_REST = 9.549995429965697e-17
"""The positive zero of digamma, in two parts that add up to it (Abramowitz and Stegun, 6.3.19)."""
_REST = 0.4189385332046727418
"""ln(2π)/2 - 1/2."""
_TINY = 2.0**-60


def digamma(x: Array) -> Array:
    """Return the derivative of the logarithm of the gamma function, by the formulas of native code (libm/lgamma.py).

    At 0 and the negative integers the result is NaN.
    """
    pieces = [
        (x >= _FAR, _digamma_far),
        (x > 2, lambda x: _digamma_near(_lowered(x)) + _inverses(x)),
        (x >= 1, _digamma_near),
        (x > 0, lambda x: _digamma_near(x + 1) - 1 / x),
        (
            (x < 0) & (x != np.floor(x)),
            lambda x: digamma(1 - x) - np.pi / np.tan(np.pi * (x - np.rint(x))),
        ),  # period 1
    ]
    return piecewise([x], pieces)


def _lowered(x: Array) -> Array:
    """Return numbers up to 8, less the integers that leave a number in (1, 2]."""
    return x - (np.ceil(x) - 2)


def _inverses(x: Array) -> Array:
    """Return the sum of `1 / (x - k)` for k = 1, 2, … down to `_lowered(x)`."""
    terms = (np.divide(1, x - k, out=np.zeros_like(x), where=x - k > 1) for k in range(1, int(_FAR) - 1))
    return sum(terms)


def _digamma_near(x: Array) -> Array:
    return ((x - _ROOT) - _ROOT_REST) * power_series(x - 1.5, DOUBLE["DIGAMMA"])


def _digamma_far(x: Array) -> Array:
    inverse = 1 / x
    return np.log(x) - inverse / 2 + power_series(inverse * inverse, [0.0, *_SLOPES])


def hurwitz(s: Array, q: Array) -> Array:
    """Return the sum of `(q + k) ** -s` for k = 0, 1, …

    It is twelve terms and the Euler-Maclaurin formula (DLMF 25.11.5).
    """
    start, total = q, np.zeros_like(q)
    for k in range(12):
        total = total + np.power(start + k, -s)
    end = start + 12
    power = np.power(end, -s)
    total = total + power * end / (s - 1) + power / 2
    factor = s * power / end
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * factor
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (end * end)
    return total


def zeta(x: Array, q: Array) -> Array:
    """Return Hurwitz's zeta function of `x > 1` and `q`, with TensorFlow's edge cases.

    The result is infinite for `x == 1`, and at q = 0, -1, … for even `x`. It is NaN for `x < 1`, and at q = 0, -1, …
    for other `x`. For a negative non-integer `q` only integer `x` have a value.
    """
    pieces = [
        (x == 1, lambda x, q: np.full_like(x, np.inf)),
        (~(x > 1) | np.isnan(q), lambda x, q: np.full_like(x, np.nan)),
        (x == np.inf, lambda x, q: np.where(q < 1, np.inf, np.where(q == 1, 1.0, 0.0))),
        (q == np.inf, lambda x, q: np.zeros_like(x)),
        ((q <= 0) & (q == np.floor(q)), lambda x, q: np.where(np.mod(x, 2) == 0, np.inf, np.nan)),
        (q > 0, hurwitz),
        (x == np.floor(x), _hurwitz_below_zero),
    ]
    return piecewise([x, q], pieces)


def _hurwitz_below_zero(s: Array, q: Array) -> Array:
    """Return the sum for negative `q`: its terms before 0 are, up to sign, the first terms of another such sum."""
    count = np.ceil(-q)
    nearest = 1 - q - count
    sign = np.where(np.mod(s, 2) == 0, 1.0, -1.0)
    return sign * (hurwitz(s, nearest) - hurwitz(s, nearest + count)) + hurwitz(s, q + count)


def polygamma(n: Array, x: Array) -> Array:
    """Return the derivative of digamma of order `n`: `(-1) ** (n + 1) * n! * zeta(n + 1, x)` (6.4.10)."""
    ordered = (n > 0) & (n == np.floor(n))
    return piecewise([n, x], [(n == 0, lambda n, x: digamma(x)), (ordered, _derivative)])


_FACTORIALS = np.array([math.factorial(k) for k in range(21)], np.float64)


def _derivative(n: Array, x: Array) -> Array:
    factorials = np.exp(log_gamma(n + 1))
    small = n <= 20
    exact = np.take(_FACTORIALS, np.where(small, n, 0).astype(int))
    return np.where(np.mod(n, 2) == 0, -1.0, 1.0) * np.where(small, exact, factorials) * zeta(n + 1, x)


def log_gamma(x: Array) -> Array:
    """Return the logarithm of the absolute value of the gamma function; infinite at 0 and the negative integers."""
    pieces = [
        (x == np.inf, lambda x: x),
        (x >= _FAR, lambda x: (x - 0.5) * (np.log(x) - 1) + (_REST + stirling(x))),
        (x > 2, lambda x: _log_gamma_near(_lowered(x)) + np.log(_product(x))),
        (x >= 0.5, _log_gamma_near),
        (x > 0, lambda x: _log_gamma_near(x + 1) - np.log(x)),
        (x == np.floor(x), lambda x: np.full_like(x, np.inf)),
        (x > -_TINY, lambda x: -np.log(-x)),
        (x < 0, lambda x: np.log(np.pi / np.abs(x * np.sin(np.pi * (x - np.rint(x))))) - log_gamma(-x)),
    ]
    return piecewise([x], pieces)


def _log_gamma_near(x: Array) -> Array:
    return (x - 1) * (x - 2) * power_series(x - 1.25, DOUBLE["LGAMMA"]) + 0.0  # no -0.0 at 1 and 2


def _product(x: Array) -> Array:
    """Return the product of `x - 1`, `x - 2`, … down to `_lowered(x)`."""
    return functools.reduce(np.multiply, (np.maximum(x - k, 1) for k in range(1, int(_FAR) - 1)))


def stirling(x: Array) -> Array:
    """Return the remainder of Stirling's formula for the logarithm of gamma (6.1.41), for numbers from 8 on."""
    return power_series(1 / (x * x), _STIRLING) / x
