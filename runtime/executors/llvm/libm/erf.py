"""The error function and its complement.

    erf x = x + x p(x²)                        for |x| ≤ 1
    erfc x = e^(-x²) p(t) / (1 + 2 x)          for larger x, with t = (x - 3) / (x + 3)

(M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x in 0 <= x < ∞", Mathematics of
Computation 36, 1981. That function is so smooth in t that one polynomial suffices for all x.)
"""

from __future__ import annotations

from ....kernels.special_functions import polynomials
from .double_double import exact_product
from .exp import scaled_exp, whole
from .formula_builder import Number, polynomial, through_double


def near_zero(x: Number) -> Number:
    """Return erf x for |x| ≤ 1."""
    z = x * x
    return x.plus_product(x, polynomial(z, polynomials.TABLES[x.code.size]["ERF"]))


def tail(x: Number) -> Number:
    """Return erfc x from 1/2 to the underflow."""
    code = x.code
    square = exact_product(x, x)
    power = whole(scaled_exp(-square.high, -square.low))
    t = (x - 3.0) / (x + 3.0)
    return power * (polynomial(t, polynomials.TABLES[code.size]["ERFC"]) / (x * 2.0 + 1.0))


def erf(x: Number) -> Number:
    """Return the error function of `x`."""
    size = x.magnitude()
    far = 1.0 - tail(size.clamped(0.5, 30.0))
    return (size > 1.0).where(far.with_sign_of(x), near_zero(x))


@through_double()
def erfc(x: Number) -> Number:
    """Return 1 - erf x, without cancellation where erf x is near one."""
    size = x.magnitude()
    far = tail(size.clamped(0.5, 30.0))
    far = (x < 0.0).where(2.0 - far, far)
    return (size > 0.75).where(far, 1.0 - near_zero(x))
