"""The exponential integral, Fresnel's integrals and the dilogarithm.

>>> exponential(np.array([1.0])).round(6).tolist(), dilogarithm(np.array([0.0])).round(6).tolist()
([1.895118], [1.644934])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .piecewise import piecewise, power_series

Array = Any

_EULER = 0.57721566490153286061


def exponential(x: Array) -> Array:
    """Return the principal value of the integral of `exp(t) / t` from minus infinity to `x`; NaN for `x < 0`.

    The power series (DLMF 6.6.1) is used up to 40, the asymptotic series (6.12.2) above.
    """
    edge = (x == 0, lambda x: np.full_like(x, -np.inf))
    great = ((x > 40) & (x < np.inf), _exponential_great)
    return piecewise([x], [edge, ((x > 0) & (x <= 40), _exponential_series), great])


def _exponential_series(x: Array) -> Array:
    term, total = np.ones_like(x), np.zeros_like(x)
    for k in range(1, int(20 + 4 * np.max(x, initial=0))):
        term = term * x / k
        total = total + term / k
    return _EULER + np.log(x) + total


def _exponential_great(x: Array) -> Array:
    coefficients = np.cumprod([1.0, *range(1, 40)])
    half = np.exp(x / 2)  # exp(x) alone would overflow before the result does
    return half / x * power_series(1 / x, coefficients.tolist()) * half


def fresnel(x: Array) -> tuple[Array, Array]:
    """Return the integrals of `sin(pi / 2 * t * t)` and `cos(pi / 2 * t * t)` from 0 to `x`.

    The power series (DLMF 7.6.4, 7.6.6) are used up to 1.6. Above, the auxiliary functions f and g (7.7.10, 7.7.11)
    use the trapezoidal rule, whose error is exp(-35) with steps of a quarter.
    """
    size = np.abs(x)
    sine = piecewise([size], [(size < 1.6, lambda x: _fresnel_series(x, 1)), (size >= 1.6, _fresnel_sine)])
    cosine = piecewise(
        [size], [(size < 1.6, lambda x: _fresnel_series(x, 0)), (size >= 1.6, _fresnel_cosine)]
    )
    return np.copysign(sine, x), np.copysign(cosine, x)


def _fresnel_series(x: Array, start: int) -> Array:
    angle = np.pi / 2 * x * x
    term = x * angle if start else x
    total = term / (2 * start + 1)
    for k in range(start + 2, start + 36, 2):
        term = term * -(angle * angle) / (k * (k - 1))
        total = total + term / (2 * k + 1)
    return total


def _auxiliary(x: Array) -> tuple[Array, Array]:
    grid = np.arange(0, 6.75, 0.25)
    weights = 0.25 * np.exp(-grid * grid) * np.where(grid == 0, 0.5, 1.0)
    scale = x * np.sqrt(np.pi / 2)
    nodes = grid / scale[..., None]
    terms = weights / (1 + nodes**4) * (np.sqrt(2) / np.pi / scale)[..., None]
    return np.sum(terms, -1), np.sum(terms * nodes**2, -1)


def _turned(x: Array) -> tuple[Array, Array, Array, Array]:
    f, g = _auxiliary(x)
    angle = np.pi / 2 * np.fmod(np.minimum(x, 1e100) ** 2, 4)
    return f, g, np.sin(angle), np.cos(angle)


def _fresnel_sine(x: Array) -> Array:
    f, g, sine, cosine = _turned(x)
    return 0.5 - f * cosine - g * sine


def _fresnel_cosine(x: Array) -> Array:
    f, g, sine, cosine = _turned(x)
    return 0.5 + f * sine - g * cosine


_DEBYE = (
    1.0, -1 / 4, 1 / 36, 0.0, -1 / 3600, 0.0, 1 / 211680, 0.0, -1 / 10886400, 0.0, 1 / 526901760, 0.0,
    -691 / 16999766784000, 0.0, 1 / 1120863744000, 0.0, -3617 / 181400588328960000, 0.0,
    43867 / 97072790126247936000, 0.0, -174611 / 16860010916664115200000,
)  # fmt: skip
"""Bernoulli's numbers B0, B1, … Bn, divided by (n + 1)!."""


def dilogarithm(x: Array) -> Array:
    """Return the integral of `-log(t) / (t - 1)` from 1 to `x`, which is Li2(1 - x); NaN for `x < 0`.

    The series in `log(x)` with Bernoulli's numbers (Lewin, Polylogarithms, 1.5) is used between 1/2 and 2.
    Reflection (DLMF 25.12.6) and inversion (25.12.4) reduce other arguments to that range.
    """
    pieces = [
        (x == 0, lambda x: np.full_like(x, np.pi**2 / 6)),
        (
            (x > 0) & (x < 0.5),
            lambda x: np.pi**2 / 6 - np.log(x) * np.log1p(-x) - _dilogarithm_near_one(1 - x),
        ),
        ((x >= 0.5) & (x <= 2), _dilogarithm_near_one),
        ((x > 2) & (x < np.inf), lambda x: -dilogarithm(1 / x) - np.log(x) ** 2 / 2),
    ]
    return piecewise([x], pieces)


def _dilogarithm_near_one(x: Array) -> Array:
    u = 0.0 - np.log(x)  # no negative zero
    return u * power_series(u, _DEBYE)
