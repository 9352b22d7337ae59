"""Mathematical functions as machine code: accurate, without branches, so that loops around them are vectorised.

`FUNCTIONS` lists them. Their formulas are written once for both float types, in the notation of `numbers`; the
coefficients of their polynomials are our own (`python -m benchmarks.minimax`). How exact each is stands in its row,
and is tested against numbers of arbitrary precision.
"""

from __future__ import annotations

from . import (
    arcs,
    bessels,
    circular,
    exponentials,
    gammas,
    hyperbolic,
    logarithms,
    neighbours,
    normals,
    powers,
    quantiles,
    roots,
)
from .functions import Function

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        #        name       formula                ulp of float32 and float64
        Function("acos", arcs.acos, (1.0, 1.0)),
        Function("acosh", hyperbolic.acosh, (1.0, 1.0)),
        Function("asin", arcs.asin, (1.0, 1.0)),
        Function("asinh", hyperbolic.asinh, (1.0, 1.0)),
        Function("atan", arcs.atan, (1.0, 1.0)),
        Function("atan2", arcs.atan2, (1.1, 1.1), arity=2),
        Function("atanh", hyperbolic.atanh, (1.0, 1.0)),
        Function("bessel_i0", bessels.bessel_i0, (0.6, 16.0)),
        Function("bessel_i0e", bessels.bessel_i0e, (0.6, 16.0)),
        Function("bessel_i1", bessels.bessel_i1, (0.6, 16.0)),
        Function("bessel_i1e", bessels.bessel_i1e, (0.6, 16.0)),
        Function("cbrt", roots.cbrt, (1.0, 1.0)),
        Function("cos", circular.cos, (1.0, 1.0)),
        Function("cosh", hyperbolic.cosh, (1.0, 1.0)),
        Function("digamma", gammas.digamma, (0.6, 4.0)),
        Function("erf", normals.erf, (1.5, 1.5)),
        Function("erfc", normals.erfc, (1.0, 4.0)),
        Function("erfcinv", quantiles.erfcinv, (0.6, 6.0)),
        Function("erfinv", quantiles.erfinv, (0.6, 6.0)),
        Function("exp", exponentials.exp, (1.0, 1.0)),
        Function("exp2", exponentials.exp2, (1.0, 1.0)),
        Function("expm1", exponentials.expm1, (1.0, 1.0)),
        Function("hypot", roots.hypot, (1.0, 1.5), arity=2),
        Function("lgamma", gammas.lgamma, (0.6, 5.0)),
        Function("log", logarithms.log, (1.0, 1.0)),
        Function("log10", logarithms.log10, (1.0, 1.0)),
        Function("log1p", logarithms.log1p, (1.0, 1.0)),
        Function("log2", logarithms.log2, (1.0, 1.0)),
        Function("ndtri", quantiles.ndtri, (0.6, 6.0)),
        Function("nextafter", neighbours.nextafter, (0.0, 0.0), arity=2),
        Function("pow", powers.pow, (1.0, 1.0), arity=2),
        Function("rsqrt", roots.rsqrt, (1.5, 1.5)),
        Function("sigmoid", exponentials.sigmoid, (1.0, 1.0)),
        Function("sin", circular.sin, (1.0, 1.0)),
        Function("sinh", hyperbolic.sinh, (1.0, 1.0)),
        Function("softplus", logarithms.softplus, (2.0, 2.0)),
        Function("tan", circular.tan, (1.1, 1.1)),
        Function("tanh", hyperbolic.tanh, (1.0, 1.0)),
    )
}
"""The functions by name."""
