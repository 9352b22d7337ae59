"""Bessel functions of order 0 and 1.

>>> i(0, np.array([1.0])).round(6).tolist(), j(1, np.array([1.0])).round(6).tolist()
([0.46576], [0.440051])

Small arguments use the power series, large ones Hankel's asymptotic series (Abramowitz and Stegun, chapter 9; DLMF,
chapter 10). Between them the oscillating functions use Miller's recurrence, and K an integral. `i` and `k`
are scaled: `exp(-|x|) * I` and `exp(x) * K`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loops import scan
from .piecewise import piecewise, power_series

Array = Any

_EULER = 0.57721566490153286061
_GREAT = 25.0


def _series(order: int, z: Array, weights: Array | None = None) -> Array:
    """Return the sum of `weights[k] * z ** k / (k! * (k + order)!)`, less negligible terms."""
    steps = np.arange(1.0, 80)
    factors = np.cumprod([1.0, *1 / (steps * (steps + order))])
    count = terms_needed(z, steps * (steps + order))
    return power_series(z, (factors if weights is None else factors * weights)[:count].tolist())


def terms_needed(z: Array, divisors: Array) -> int:
    great = np.max(np.abs(z), initial=0.0)
    return 1 + int(np.count_nonzero(np.cumprod(great / divisors) > 1e-18))


def _harmonic(order: int) -> Array:
    """Return `H(k) + H(k + order)` for k = 0, 1, …, where H(k) is the sum of 1, 1/2, … 1/k."""
    sums = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, 90))])
    return sums[:80] + sums[order : 80 + order]


def _hankel(order: int, x: Array, terms: int) -> list[Array]:
    """Return the terms `a(k) / x ** k` of the asymptotic series (DLMF 10.17.1)."""
    found = [np.ones_like(x)]
    for k in range(1, terms):
        found.append(found[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x))
    return found


def i(order: int, x: Array) -> Array:
    """Return `exp(-|x|)` times the modified function of the first kind (DLMF 10.25.2, 10.40.1)."""
    size = np.abs(x)
    small = (size <= _GREAT, lambda x: np.exp(-x) * (x / 2) ** order * _series(order, x * x / 4))
    value = piecewise(
        [size], [small, (size == np.inf, np.zeros_like), (size > _GREAT, lambda x: _i_great(order, x))]
    )
    return np.copysign(value, x) if order else value


def _i_great(order: int, x: Array) -> Array:
    signs = (-1.0) ** np.arange(30)
    total = sum(sign * term for sign, term in zip(signs, _hankel(order, x, 30), strict=True))
    return total / np.sqrt(2 * np.pi * x)


def k(order: int, x: Array) -> Array:
    """Return `exp(x)` times the modified function of the second kind; infinite up to 0 (DLMF 10.31.1, 10.32.9)."""
    pieces = [
        (x <= 0, lambda x: np.full_like(x, np.inf)),
        (x <= 2, lambda x: np.exp(x) * _k_small(order, x)),
        (x > 2, lambda x: _k_integral(order, x)),
    ]
    return piecewise([x], pieces)


def _k_small(order: int, x: Array) -> Array:
    z, half = x * x / 4, x / 2
    if order == 0:
        return -(np.log(half) + _EULER) * _series(0, z) + _series(0, z, _harmonic(0)) / 2
    weights = (_harmonic(1) - 2 * _EULER) / 2
    return 1 / x + half * (np.log(half) * _series(1, z) - _series(1, z, weights))


def _k_integral(order: int, x: Array) -> Array:
    """Integrate with `cosh(t) = 1 + v * v / x`: a bell curve, for which the trapezoidal rule is exact to exp(-42)."""
    grid = np.arange(0, 6.75, 0.25)
    weights = 0.25 * np.exp(-grid * grid) * np.where(grid == 0, 0.5, 1.0)
    squares = grid * grid / x[..., None]
    terms = weights / np.sqrt(1 + squares / 2)
    return np.sum(terms * (1 + squares) if order else terms, -1) * np.sqrt(2 / x)


def j(order: int, x: Array) -> Array:
    """Return the function of the first kind."""
    size = np.abs(x)
    small = (size <= 4, lambda x: (x / 2) ** order * _series(order, -x * x / 4))
    pieces = [
        small,
        (size <= _GREAT, lambda x: _ladder(x)[order]),
        (size < np.inf, lambda x: _wave(order, x)[0]),
    ]
    value = piecewise([size], pieces)
    return np.where(np.signbit(x), -value, value) if order else value


def y(order: int, x: Array) -> Array:
    """Return the function of the second kind; minus infinity up to 0."""
    pieces = [
        (x <= 0, lambda x: np.full_like(x, -np.inf)),
        (x <= 4, lambda x: _y_small(order, x)),
        (x <= _GREAT, lambda x: _y_from_ladder(order, x)),
        (x < np.inf, lambda x: _wave(order, x)[1]),
    ]
    return piecewise([x], pieces)


def _y_small(order: int, x: Array) -> Array:
    """Return the power series of Abramowitz and Stegun, 9.1.11."""
    z, half = -x * x / 4, x / 2
    if order == 0:
        return 2 / np.pi * ((np.log(half) + _EULER) * _series(0, z) - _series(0, z, _harmonic(0)) / 2)
    rest = _series(1, z, _harmonic(1) - 2 * _EULER)
    return 2 / np.pi * (np.log(half) * half * _series(1, z) - 1 / x) - half / np.pi * rest


def _ladder(x: Array) -> Array:
    """Return the functions of the first kind of orders 0 to 79: Miller's recurrence, downwards (9.12, example 1)."""

    def step(pair: Array, n: Array) -> tuple[Array, Array]:
        before = 2 * n / x * pair[0] - pair[1]
        return np.stack([before, pair[0]]), before

    # Grows by 1e95 for x = 4, less for larger ones.
    start = np.stack([np.full_like(x, 1e-290), np.zeros_like(x)])
    values = scan(step, start, (np.arange(80.0, 0, -1),))[::-1]
    return values / (values[0] + 2 * np.sum(values[2::2], axis=0))


def _y_from_ladder(order: int, x: Array) -> Array:
    """Return Neumann's series (9.1.88, 9.1.89)."""
    steps = _ladder(x)
    logarithm = np.log(x / 2) + _EULER
    if order == 0:
        n = np.arange(1, 39)
        weights = (-1.0) ** n / n
        return 2 / np.pi * logarithm * steps[0] - 4 / np.pi * np.tensordot(weights, steps[2:78:2], 1)
    n = np.arange(1, 39)
    weights = (-1.0) ** n * (2 * n + 1) / (n * (n + 1))
    tail = np.tensordot(weights, steps[3:79:2], 1)
    return -2 / (np.pi * x) * steps[0] + 2 / np.pi * (logarithm - 1) * steps[1] - 2 / np.pi * tail


def _wave(order: int, x: Array) -> tuple[Array, Array]:
    """Return Hankel's asymptotic series of both kinds (9.2.5 to 9.2.10)."""
    terms = _hankel(order, x, 24)
    signs = (-1.0) ** np.arange(12)
    p = sum(sign * term for sign, term in zip(signs, terms[0::2], strict=True))
    q = sum(sign * term for sign, term in zip(signs, terms[1::2], strict=True))
    sine, cosine = np.sin(x), np.cos(x)
    along, across = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -sine - cosine)
    scale = 1 / np.sqrt(np.pi * x)
    return scale * (p * along - q * across), scale * (p * across + q * along)
