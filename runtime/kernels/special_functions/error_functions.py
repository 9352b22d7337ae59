"""The error function, inverses of it and of the normal distribution, and Dawson's integral.

>>> quantile(np.array([0.975])).round(6).tolist(), dawson(np.array([1.0])).round(6).tolist()
([1.959964], [0.53808])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .piecewise import piecewise, power_series
from .polynomials import DOUBLE

Array = Any

# Wichura, Algorithm AS 241 (Applied Statistics 37, 1988): quotients of polynomials, lowest coefficient first.
CENTRE = (
    (
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
        4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    (
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
    ),
)  # fmt: skip
SIDE = (
    (
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
        1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
    ),
)  # fmt: skip
TAIL = (
    (
        6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ),
    (
        1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
    ),
)  # fmt: skip


def _quotient(parts: tuple[tuple[float, ...], tuple[float, ...]], r: Array) -> Array:
    return power_series(r, parts[0]) / power_series(r, parts[1])


def _near_center(q: Array) -> Array:
    """Return the quantile of `0.5 + q`, for |q| up to 0.425."""
    return q * _quotient(CENTRE, 0.180625 - q * q)


def _in_the_tail(p: Array) -> Array:
    """Return the absolute quantile of a small `p`; infinite for 0."""
    r = np.sqrt(-np.log(p))
    side = (r <= 5, lambda r: _quotient(SIDE, r - 1.6))
    far = (np.isfinite(r), lambda r: _quotient(TAIL, r - 5))
    return piecewise([r], [side, far], np.inf)


def quantile(p: Array) -> Array:
    """Return the quantile of the standard normal distribution for `p`; NaN outside of [0, 1]."""
    pieces = [
        (np.abs(p - 0.5) <= 0.425, lambda p: _near_center(p - 0.5)),
        ((p >= 0) & (p < 0.5), lambda p: -_in_the_tail(p)),
        ((p > 0.5) & (p <= 1), lambda p: _in_the_tail(1 - p)),
    ]
    return piecewise([p], pieces)


def erf(x: Array) -> Array:
    """Return the error function of float64 numbers, by the polynomials of native code (executors/llvm/libm/erf.py).

    >>> erf(np.array([0.0, 1.0])).round(6).tolist()
    [0.0, 0.842701]
    """
    size = np.minimum(np.abs(x), 30)
    return np.where(np.abs(x) > 1, np.copysign(1 - _tail(size) * np.exp(-size * size), x), _near_zero(x))


def _near_zero(x: Array) -> Array:
    small = np.clip(x, -1, 1)
    return small + small * power_series(small * small, DOUBLE["ERF"])


def _tail(size: Array) -> Array:
    """Return `exp(x * x)` times the complement of the error function."""
    return power_series((size - 3) / (size + 3), DOUBLE["ERFC"]) / (2 * size + 1)


def erfc(x: Array) -> Array:
    """Return `1 - erf(x)` of float64 numbers, accurate where it is small.

    >>> erfc(np.array([0.0, 1.0])).round(6).tolist()
    [1.0, 0.157299]
    """
    size = np.minimum(np.abs(x), 30)
    high = size.astype(np.float32).astype(np.float64)  # whose square is exact
    tail = _tail(size) * np.exp(-high * high) * np.exp((high - size) * (high + size))
    return np.where(size > 0.75, np.where(x < 0, 2 - tail, tail), 1 - _near_zero(x))


def inverse_erf(x: Array) -> Array:
    """Return the inverse of the error function: `quantile((1 + x) / 2) / sqrt(2)`, accurate around 0."""
    tail = (np.abs(x) <= 1, lambda x: np.copysign(_in_the_tail((1 - np.abs(x)) / 2), x))
    return piecewise([x], [(np.abs(x) <= 0.85, lambda x: _near_center(x / 2)), tail]) * np.sqrt(0.5)


def inverse_erfc(x: Array) -> Array:
    """Return the inverse of `1 - erf(x)`, accurate around 0: `-quantile(x / 2) / sqrt(2)`."""
    return -quantile(x / 2) * np.sqrt(0.5)


_STEP = 0.2
_TERMS = 15


def dawson(x: Array) -> Array:
    """Return `exp(-x * x)` times the integral of `exp(t * t)` from 0 to `x`.

    Rybicki's sum over a grid (Computers in Physics 3, 1989), whose error is exp(-61) for steps of 0.2; the power
    series (DLMF 7.6.3) for small numbers, the asymptotic series (7.12.1) for large ones.
    """
    size = np.abs(x)
    pieces = [(size < 0.2, _dawson_small), (size > 12, _dawson_great), (size <= 12, _dawson_grid)]
    return np.copysign(piecewise([size], pieces), x)


def _dawson_grid(x: Array) -> Array:
    middle = 2 * np.rint(x / (2 * _STEP))
    offsets = np.arange(-2 * _TERMS - 1, 2 * _TERMS + 2, 2)
    nodes = middle[..., None] + offsets
    return np.sum(np.exp(-((x[..., None] - nodes * _STEP) ** 2)) / nodes, -1) / np.sqrt(np.pi)


def _dawson_small(x: Array) -> Array:
    coefficients = np.cumprod([1.0, *(-2 / (2 * k + 1) for k in range(1, 10))])
    return x * power_series(x * x, coefficients.tolist())


def _dawson_great(x: Array) -> Array:
    coefficients = np.cumprod([1.0, *((2 * k - 1) / 2 for k in range(1, 12))])
    inverse = 1 / x
    return 0.5 * inverse * power_series(inverse * inverse, coefficients.tolist())
