"""Quantiles of the normal distribution, and the inverses of the error functions.

    ndtri p = q R(0.180625 - q²)        in the center, where q = p - 1/2 is at most 0.425
    ndtri p = ± S(sqrt(-ln p))          in the tails, with two rational functions

(M. Wichura, Algorithm AS 241, Applied Statistics 37, 1988; its coefficients are those of
`agc.runtime.kernels.special_functions.error_functions`.)
"""

from __future__ import annotations

from ....kernels.special_functions.error_functions import CENTRE, SIDE, TAIL
from .formula_builder import Number, polynomial, through_double
from .log import log

Quotient = tuple[tuple[float, ...], tuple[float, ...]]

ROOT_HALF = 0.7071067811865476
INFINITY = float("inf")


def _quotient(parts: Quotient, r: Number) -> Number:
    return polynomial(r, parts[0]) / polynomial(r, parts[1])


def _near_center(q: Number) -> Number:
    return q * _quotient(CENTRE, 0.180625 - q * q)


def _in_the_tail(p: Number) -> Number:
    """Return the magnitude of the quantile of a small `p`; infinity for 0."""
    r = (-log(p)).sqrt()
    inner = (r <= 5.0).where(_quotient(SIDE, r - 1.6), _quotient(TAIL, r - 5.0))
    return r.equals(INFINITY).where(INFINITY, inner)


@through_double()
def ndtri(p: Number) -> Number:
    """Return the quantile of the standard normal distribution; NaN outside of [0, 1]."""
    q = p - 0.5
    is_low = q < 0.0
    tail = _in_the_tail(is_low.where(p, 1.0 - p))
    return (q.magnitude() <= 0.425).where(_near_center(q), is_low.where(-tail, tail))


@through_double()
def erfinv(x: Number) -> Number:
    """Return the inverse of the error function, accurate near 0."""
    size = x.magnitude()
    tail = _in_the_tail((1.0 - size) * 0.5).with_sign_of(x)
    return (size <= 0.85).where(_near_center(x * 0.5), tail) * ROOT_HALF


@through_double()
def erfcinv(x: Number) -> Number:
    """Return the inverse of 1 - erf x, accurate near its zero at x = 1."""
    return -ndtri(x * 0.5) * ROOT_HALF
