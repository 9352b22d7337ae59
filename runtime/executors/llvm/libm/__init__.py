"""Mathematical functions as LLVM IR: accurate and branch-free, so that loops around calls are vectorized.

`FUNCTIONS` lists the functions. `formula_builder.Number` lets one formula serve both float types. The polynomials
are minimax approximations (`python -m benchmarks.minimax`). Each row below states the error bound, which is
tested against arbitrary-precision results.
"""

from __future__ import annotations

from .registry import LibmFunction

FUNCTIONS: dict[str, LibmFunction] = {
    function.name: function
    for function in (
        #        name       module of the formula   ulp of float32 and float64
        LibmFunction("acos", "inverse_trig", (1.0, 1.0)),
        LibmFunction("acosh", "sinh_tanh", (1.0, 1.0)),
        LibmFunction("asin", "inverse_trig", (1.0, 1.0)),
        LibmFunction("asinh", "sinh_tanh", (1.0, 1.0)),
        LibmFunction("atan", "inverse_trig", (1.0, 1.0)),
        LibmFunction("atan2", "inverse_trig", (1.1, 1.1), arity=2),
        LibmFunction("atanh", "sinh_tanh", (1.0, 1.0)),
        LibmFunction("bessel_i0", "bessel", (0.6, 16.0)),
        LibmFunction("bessel_i0e", "bessel", (0.6, 16.0)),
        LibmFunction("bessel_i1", "bessel", (0.6, 16.0)),
        LibmFunction("bessel_i1e", "bessel", (0.6, 16.0)),
        LibmFunction("cbrt", "cbrt_rsqrt", (1.0, 1.0)),
        LibmFunction("cos", "trig", (1.0, 1.0)),
        LibmFunction("cosh", "sinh_tanh", (1.0, 1.0)),
        LibmFunction("digamma", "lgamma", (0.6, 4.0)),
        LibmFunction("erf", "erf", (1.5, 1.5)),
        LibmFunction("erfc", "erf", (1.0, 4.0)),
        LibmFunction("erfcinv", "ndtri", (0.6, 6.0)),
        LibmFunction("erfinv", "ndtri", (0.6, 6.0)),
        LibmFunction("exp", "exp", (1.0, 1.0)),
        LibmFunction("exp2", "exp", (1.0, 1.0)),
        LibmFunction("expm1", "exp", (1.0, 1.0)),
        LibmFunction("hypot", "cbrt_rsqrt", (1.0, 1.5), arity=2),
        LibmFunction("lgamma", "lgamma", (0.6, 5.0)),
        LibmFunction("log", "log", (1.0, 1.0)),
        LibmFunction("log10", "log", (1.0, 1.0)),
        LibmFunction("log1p", "log", (1.0, 1.0)),
        LibmFunction("log2", "log", (1.0, 1.0)),
        LibmFunction("ndtri", "ndtri", (0.6, 6.0)),
        LibmFunction("nextafter", "nextafter", (0.0, 0.0), arity=2),
        LibmFunction("pow", "pow", (1.0, 1.0), arity=2),
        LibmFunction("rsqrt", "cbrt_rsqrt", (1.5, 1.5)),
        LibmFunction("sigmoid", "exp", (1.0, 1.0)),
        LibmFunction("sin", "trig", (1.0, 1.0)),
        LibmFunction("sinh", "sinh_tanh", (1.0, 1.0)),
        LibmFunction("softplus", "log", (2.0, 2.0)),
        LibmFunction("tan", "trig", (1.1, 1.1)),
        LibmFunction("tanh", "sinh_tanh", (1.0, 1.0)),
    )
}
"""The functions by name."""
