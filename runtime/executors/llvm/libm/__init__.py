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
from .registry import LibmFunction

FUNCTIONS: dict[str, LibmFunction] = {
    function.name: function
    for function in (
        #        name       formula                ulp of float32 and float64
        LibmFunction("acos", inverse_trig.acos, (1.0, 1.0)),
        LibmFunction("acosh", sinh_tanh.acosh, (1.0, 1.0)),
        LibmFunction("asin", inverse_trig.asin, (1.0, 1.0)),
        LibmFunction("asinh", sinh_tanh.asinh, (1.0, 1.0)),
        LibmFunction("atan", inverse_trig.atan, (1.0, 1.0)),
        LibmFunction("atan2", inverse_trig.atan2, (1.1, 1.1), arity=2),
        LibmFunction("atanh", sinh_tanh.atanh, (1.0, 1.0)),
        LibmFunction("bessel_i0", bessel.bessel_i0, (0.6, 16.0)),
        LibmFunction("bessel_i0e", bessel.bessel_i0e, (0.6, 16.0)),
        LibmFunction("bessel_i1", bessel.bessel_i1, (0.6, 16.0)),
        LibmFunction("bessel_i1e", bessel.bessel_i1e, (0.6, 16.0)),
        LibmFunction("cbrt", cbrt_rsqrt.cbrt, (1.0, 1.0)),
        LibmFunction("cos", trig.cos, (1.0, 1.0)),
        LibmFunction("cosh", sinh_tanh.cosh, (1.0, 1.0)),
        LibmFunction("digamma", lgamma.digamma, (0.6, 4.0)),
        LibmFunction("erf", erf.erf, (1.5, 1.5)),
        LibmFunction("erfc", erf.erfc, (1.0, 4.0)),
        LibmFunction("erfcinv", ndtri.erfcinv, (0.6, 6.0)),
        LibmFunction("erfinv", ndtri.erfinv, (0.6, 6.0)),
        LibmFunction("exp", exponentials.exp, (1.0, 1.0)),
        LibmFunction("exp2", exponentials.exp2, (1.0, 1.0)),
        LibmFunction("expm1", exponentials.expm1, (1.0, 1.0)),
        LibmFunction("hypot", cbrt_rsqrt.hypot, (1.0, 1.5), arity=2),
        LibmFunction("lgamma", lgamma.lgamma, (0.6, 5.0)),
        LibmFunction("log", logarithms.log, (1.0, 1.0)),
        LibmFunction("log10", logarithms.log10, (1.0, 1.0)),
        LibmFunction("log1p", logarithms.log1p, (1.0, 1.0)),
        LibmFunction("log2", logarithms.log2, (1.0, 1.0)),
        LibmFunction("ndtri", ndtri.ndtri, (0.6, 6.0)),
        LibmFunction("nextafter", nextafter.nextafter, (0.0, 0.0), arity=2),
        LibmFunction("pow", powers.pow, (1.0, 1.0), arity=2),
        LibmFunction("rsqrt", cbrt_rsqrt.rsqrt, (1.5, 1.5)),
        LibmFunction("sigmoid", exponentials.sigmoid, (1.0, 1.0)),
        LibmFunction("sin", trig.sin, (1.0, 1.0)),
        LibmFunction("sinh", sinh_tanh.sinh, (1.0, 1.0)),
        LibmFunction("softplus", logarithms.softplus, (2.0, 2.0)),
        LibmFunction("tan", trig.tan, (1.1, 1.1)),
        LibmFunction("tanh", sinh_tanh.tanh, (1.0, 1.0)),
    )
}
"""The functions by name."""
