"""The regularized incomplete gamma and beta functions: the fraction of the whole integral below `x`.

>>> lower_gamma(np.array([1.0]), np.array([1.0])).round(6).tolist()
[0.632121]
>>> beta(np.array([2.0]), np.array([1.0]), np.array([0.5])).round(12).tolist()
[0.25]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .error_functions import erfc
from .gamma import digamma, log_gamma, stirling
from .piecewise import piecewise, power_series

Array = Any

_LARGE = 1e5
_BLOCK = 4
"""The number of terms between checks for convergence; even, so that signs alternate."""

_TEMME = (
    (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515),
    (-1 / 540, -1 / 288, 1 / 378, -77 / 77760),
    (25 / 6048, -139 / 51840),
)
"""The coefficients of Temme's expansion, as series in eta (DLMF 8.12.7, 8.12.12)."""


def lower_gamma(a: Array, x: Array) -> Array:
    """Return P(a, x): the power series (DLMF 8.11.4) below `a + 1`, one minus the fraction for Q above."""
    pieces = [
        (x == 0, lambda a, x: np.zeros_like(x)),
        (~((a > 0) & (x > 0)), lambda a, x: np.full_like(x, np.nan)),
        (a == np.inf, lambda a, x: np.zeros_like(x)),
        (x == np.inf, lambda a, x: np.ones_like(x)),
        (a > _LARGE, lambda a, x: _temme(a, x, -1.0)),
        (x < a + 1, _gamma_series),
        (x > 0, lambda a, x: 1 - _gamma_fraction(a, x)),
    ]
    return piecewise([a, x], pieces)


def upper_gamma(a: Array, x: Array) -> Array:
    """Return Q(a, x) = 1 - P(a, x): the continued fraction (DLMF 8.9.2) above `a + 1`."""
    pieces = [
        (~((a > 0) & (x >= 0)), lambda a, x: np.full_like(x, np.nan)),
        (x == 0, lambda a, x: np.ones_like(x)),
        (x == np.inf, lambda a, x: np.zeros_like(x)),
        (a == np.inf, lambda a, x: np.ones_like(x)),
        (a > _LARGE, lambda a, x: _temme(a, x, 1.0)),
        (x < a + 1, lambda a, x: 1 - _gamma_series(a, x)),
        (x > 0, _gamma_fraction),
    ]
    return piecewise([a, x], pieces)


def _excess(t: Array) -> Array:
    """Return `t - log(1 + t)`, accurate around 0."""
    series = [0.0, 0.0, *((-1.0) ** k / k for k in range(2, 34))]
    near = (np.abs(t) < 0.3, lambda t: power_series(t, series))
    return piecewise([t], [near, (t > -1, lambda t: t - np.log1p(t))], np.inf)


def _gamma_weight(a: Array, x: Array) -> Array:
    """Return `x ** a * exp(-x) / gamma(a + 1)`; for larger `a` by Stirling's formula, to avoid cancellation."""
    small = (a < 10, lambda a, x: np.exp(a * np.log(x) - x - log_gamma(a + 1)))
    return piecewise([a, x], [small, (a >= 10, _gamma_weight_by_stirling)])


def _gamma_weight_by_stirling(a: Array, x: Array) -> Array:
    return np.exp(-a * _excess((x - a) / a) - stirling(a)) / np.sqrt(2 * np.pi * a)


def _converged(step: Callable[..., tuple[Array, ...]], total: Array, *state: Array) -> Array:
    """Return the limit of `total`: `step(n, total, *state)` returns which elements still move, and all after step n.

    A step may change its arguments in place.
    """
    result, rows, n = np.empty_like(total), np.arange(len(total)), 0
    while len(rows) and n < 100_000:
        n += 1
        moving, total, *rest = step(n, total, *state)
        state = tuple(rest)
        if 2 * np.count_nonzero(moving) <= len(rows):
            result[rows] = total
            rows, total, state = rows[moving], total[moving], tuple(array[moving] for array in state)
    result[rows] = total
    return result


def _gamma_series(a: Array, x: Array) -> Array:
    def step(n: int, total: Array, term: Array, a: Array, x: Array) -> tuple[Array, ...]:
        for k in range(1 - _BLOCK, 1):
            term *= x
            term /= a + (n * _BLOCK + k)
            total += term
        return term > total * 1e-17, total, term, a, x

    return _converged(step, np.ones_like(x), np.ones_like(x), a, x) * _gamma_weight(a, x)


def _gamma_fraction(a: Array, x: Array) -> Array:
    def part(n: int, a: Array, first: Array) -> tuple[Array, Array]:
        return n * (a - n), first + 2 * n

    return _gamma_weight(a, x) * a * _fraction(x + 1 - a, part, a, x + 1 - a)


def _fraction(first: Array, part: Callable[..., tuple[Array, Array]], *arguments: Array) -> Array:
    """Return `1 / (first + a(1) / (b(1) + a(2) / (b(2) + …)))`, whose denominators are all positive.

    Steed's method adds the differences of the convergents (Barnett, Computer Physics Communications 8, 1974).
    """

    def step(n: int, total: Array, change: Array, inverse: Array, *arguments: Array) -> tuple[Array, ...]:
        for k in range(1 - _BLOCK, 1):
            above, below = part(n * _BLOCK + k, *arguments)
            above *= inverse
            below += above
            inverse = 1 / below
            above *= inverse
            change *= above
            total += change if k % 2 == 0 else -change
        return np.abs(change) > 1e-16 * np.abs(total), total, change, inverse, *arguments

    inverse = 1 / first
    return _converged(step, inverse.copy(), inverse.copy(), inverse, *arguments)


def _temme(a: Array, x: Array, side: float) -> Array:
    """Return Q (or P, for `side` -1) for large `a`: Temme's uniform expansion (DLMF 8.12.3, 8.12.4)."""
    step = (x - a) / a
    half_square = _excess(step)
    eta = np.copysign(np.sqrt(2 * half_square), step)
    near = np.clip(eta, -0.2, 0.2)  # for larger eta the weight is 0
    rest = sum(power_series(near, c) / a**k for k, c in enumerate(_TEMME))
    return (
        erfc(side * eta * np.sqrt(a / 2)) / 2
        + side * np.exp(-a * half_square) / np.sqrt(2 * np.pi * a) * rest
    )


def lower_gamma_slope(a: Array, x: Array) -> Array:
    """Return the derivative of P(a, x) by `a`: the series, term by term, with an absolute error of about 1e-15."""
    inside = (a > 0) & (x > 0) & (a < np.inf)
    far = x > a + 40 + 9 * np.sqrt(np.maximum(a, 0))
    ends = (far | (x == 0) | (x == np.inf), lambda a, x: np.zeros_like(x))
    return piecewise([a, x], [(inside & ~far, _slope_series), ends])


def _slope_series(a: Array, x: Array) -> Array:
    def step(
        n: int, total: Array, term: Array, rest: Array, last: Array, a: Array, x: Array
    ) -> tuple[Array, ...]:
        for k in range(1 - _BLOCK, 1):
            total += term * rest
            divisor = a + (n * _BLOCK + k)
            term *= x
            term /= divisor
            rest -= 1 / divisor
        moving = (term > 1e-18) & (n * _BLOCK <= last) | (divisor < x) & (term > 0)
        return moving, total, term, rest, last, a, x

    last = np.maximum(x, a) + 40 + 9 * np.sqrt(np.maximum(x, a))
    rest = np.log(x) - digamma(a + 1)
    return _converged(step, np.zeros_like(x), _gamma_weight(a, x), rest, last, a, x)


def beta(a: Array, b: Array, x: Array) -> Array:
    """Return the regularized incomplete beta function: the continued fraction (DLMF 8.17.22), from the nearer end.

    At x = 0 and 1 the result is 0 and 1 even if `a` or `b` is NaN.
    """
    outside = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    turned = x > (a + 1) / (a + b + 2)
    pieces = [
        (outside, lambda a, b, x: np.full_like(x, np.nan)),
        ((x == 0) | (x == 1), lambda a, b, x: x),
        (~(np.isfinite(a) & np.isfinite(b) & np.isfinite(x)), lambda a, b, x: np.full_like(x, np.nan)),
        (turned, lambda a, b, x: 1 - _beta_fraction(b, a, 1 - x, x)),
        (~turned, lambda a, b, x: _beta_fraction(a, b, x, 1 - x)),
    ]
    return piecewise([a, b, x], pieces)


def _beta_fraction(a: Array, b: Array, x: Array, rest: Array) -> Array:
    def part(n: int, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
        m, odd = n // 2, n % 2
        along = a + 2 * m
        above = (m - odd * along) * (b - m + odd * along) * x / (along * (along + 2 * odd - 1))
        return above, np.ones_like(x)

    return _beta_weight(a, b, x, rest) / a * _fraction(np.ones_like(x), part, a, b, x)


def _beta_weight(a: Array, b: Array, x: Array, rest: Array) -> Array:
    """Return `x ** a * rest ** b / B(a, b)`, computed like `_gamma_weight`."""
    great = (np.minimum(a, b) >= 10, _beta_weight_by_stirling)
    small = (x > 0, lambda a, b, x, rest: np.exp(a * np.log(x) + b * np.log(rest) - log_beta(a, b)))
    return piecewise([a, b, x, rest], [great, small])


def _beta_weight_by_stirling(a: Array, b: Array, x: Array, rest: Array) -> Array:
    n = a + b
    exponent = a * _excess((x * b - rest * a) / a) + b * _excess((rest * a - x * b) / b)
    return np.sqrt(a / (2 * np.pi) * (b / n)) * np.exp(stirling(n) - stirling(a) - stirling(b) - exponent)


def log_beta(a: Array, b: Array) -> Array:
    """Return the logarithm of Euler's beta function of positive numbers."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)
