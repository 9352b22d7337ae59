"""Mathematical functions as LLVM IR: accurate and branch-free, so that loops around calls are vectorized.

`FUNCTIONS` lists the functions. `formula_builder.Number` lets one formula serve both float types. The polynomials
are minimax approximations (`python -m benchmarks.minimax`). Each row below states the error bound, which is
tested against arbitrary-precision results.
"""

from __future__ import annotations

from . import bessel, cbrt_rsqrt, erf, inverse_trig, lgamma, ndtri, nextafter, sinh_tanh, trig
from . import exp as exponentials
from . import log as logarithms
from . import pow as powers
from .registry import Function

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        #        name       formula                ulp of float32 and float64
        Function("acos", inverse_trig.acos, (1.0, 1.0)),
        Function("acosh", sinh_tanh.acosh, (1.0, 1.0)),
        Function("asin", inverse_trig.asin, (1.0, 1.0)),
        Function("asinh", sinh_tanh.asinh, (1.0, 1.0)),
        Function("atan", inverse_trig.atan, (1.0, 1.0)),
        Function("atan2", inverse_trig.atan2, (1.1, 1.1), arity=2),
        Function("atanh", sinh_tanh.atanh, (1.0, 1.0)),
        Function("bessel_i0", bessel.bessel_i0, (0.6, 16.0)),
        Function("bessel_i0e", bessel.bessel_i0e, (0.6, 16.0)),
        Function("bessel_i1", bessel.bessel_i1, (0.6, 16.0)),
        Function("bessel_i1e", bessel.bessel_i1e, (0.6, 16.0)),
        Function("cbrt", cbrt_rsqrt.cbrt, (1.0, 1.0)),
        Function("cos", trig.cos, (1.0, 1.0)),
        Function("cosh", sinh_tanh.cosh, (1.0, 1.0)),
        Function("digamma", lgamma.digamma, (0.6, 4.0)),
        Function("erf", erf.erf, (1.5, 1.5)),
        Function("erfc", erf.erfc, (1.0, 4.0)),
        Function("erfcinv", ndtri.erfcinv, (0.6, 6.0)),
        Function("erfinv", ndtri.erfinv, (0.6, 6.0)),
        Function("exp", exponentials.exp, (1.0, 1.0)),
        Function("exp2", exponentials.exp2, (1.0, 1.0)),
        Function("expm1", exponentials.expm1, (1.0, 1.0)),
        Function("hypot", cbrt_rsqrt.hypot, (1.0, 1.5), arity=2),
        Function("lgamma", lgamma.lgamma, (0.6, 5.0)),
        Function("log", logarithms.log, (1.0, 1.0)),
        Function("log10", logarithms.log10, (1.0, 1.0)),
        Function("log1p", logarithms.log1p, (1.0, 1.0)),
        Function("log2", logarithms.log2, (1.0, 1.0)),
        Function("ndtri", ndtri.ndtri, (0.6, 6.0)),
        Function("nextafter", nextafter.nextafter, (0.0, 0.0), arity=2),
        Function("pow", powers.pow, (1.0, 1.0), arity=2),
        Function("rsqrt", cbrt_rsqrt.rsqrt, (1.5, 1.5)),
        Function("sigmoid", exponentials.sigmoid, (1.0, 1.0)),
        Function("sin", trig.sin, (1.0, 1.0)),
        Function("sinh", sinh_tanh.sinh, (1.0, 1.0)),
        Function("softplus", logarithms.softplus, (2.0, 2.0)),
        Function("tan", trig.tan, (1.1, 1.1)),
        Function("tanh", sinh_tanh.tanh, (1.0, 1.0)),
    )
}
"""The functions by name."""
