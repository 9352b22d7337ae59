"""Functions related to the gamma function: digamma, Hurwitz's zeta, polygamma.

>>> digamma(np.array([1.0])).round(12).tolist()
[-0.577215664902]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .piecewise import piecewise, power_series

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

_DIGAMMA = [-b / (2 * k) for k, b in enumerate(_BERNOULLI[:8], 1)]
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI[:8], 1)]
_STEPS = 10
_ROOT = 1.4616321449683622
_ROOT_REST = 9.549995429965697e-17
"""The positive zero of digamma, in two parts that add up to it (Abramowitz and Stegun, 6.3.19)."""


def digamma(x: Array) -> Array:
    """Return the derivative of the logarithm of the gamma function.

    The asymptotic series (Abramowitz and Stegun, 6.3.18) is used from 10 on. The recurrence 6.3.5 reduces smaller
    arguments to it, the reflection 6.3.7 negative ones. At 0 and the negative integers the result is NaN.
    """
    return piecewise([x], [(x > 0, _digamma_of_positive), ((x < 0) & (x != np.floor(x)), _reflected)])


def _reflected(x: Array) -> Array:
    part = x - np.rint(x)  # the tangent has the period 1
    return _digamma_of_positive(1 - x) - np.pi / np.tan(np.pi * part)


def _digamma_of_positive(x: Array) -> Array:
    near = np.abs(x - _ROOT) < 0.05
    return piecewise([x], [(near, _digamma_near_root), (x == np.inf, lambda x: x), (x > 0, _digamma_far)])


def _digamma_far(x: Array) -> Array:
    total = np.zeros_like(x)
    for _ in range(_STEPS):
        small = x < _STEPS
        total = total - np.where(small, 1 / x, 0)
        x = np.where(small, x + 1, x)
    return total + np.log(x) - 0.5 / x + power_series(1 / (x * x), [0.0, *_DIGAMMA])


def _digamma_near_root(x: Array) -> Array:
    """Return the Taylor series around the zero; its coefficients are values of zeta (6.4.9)."""
    step = (x - _ROOT) - _ROOT_REST
    orders = np.arange(2.0, 16.0)
    values = hurwitz(orders, np.full_like(orders, _ROOT))
    return power_series(step, [0.0, *(values * (-1.0) ** orders)])


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


def _derivative(n: Array, x: Array) -> Array:
    factorials = np.exp(log_gamma(n + 1))
    small = n <= 20
    exact = np.array([math.factorial(int(k)) for k in np.where(small, n, 0)], np.float64)
    return np.where(np.mod(n, 2) == 0, -1.0, 1.0) * np.where(small, exact, factorials) * zeta(n + 1, x)


def log_gamma(x: Array) -> Array:
    """Return the logarithm of the gamma function of positive numbers; see `stirling`."""
    flat = np.ravel(x)
    exact = np.array(
        [math.lgamma(v) if 0 < v < np.inf else np.inf for v in np.where(flat < 20, flat, 1.0).tolist()]
    )
    far = (flat - 0.5) * np.log(flat) - flat + 0.5 * np.log(2 * np.pi) + stirling(flat)
    return np.where(flat < 20, exact, np.where(flat == np.inf, np.inf, far)).reshape(np.shape(x))


def stirling(x: Array) -> Array:
    """Return the remainder of Stirling's formula for the logarithm of gamma (6.1.41), for numbers from 8 on."""
    return power_series(1 / (x * x), _STIRLING) / x
