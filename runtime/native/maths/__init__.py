"""Mathematical functions as machine code: accurate, without branches, so that loops around them are vectorised.

`FUNCTIONS` lists them. Their formulas are written once for both float types, in the notation of `numbers`; the
coefficients of their polynomials are our own (`python -m benchmarks.minimax`). How exact each is stands in its row,
and is tested against numbers of arbitrary precision.
"""

from __future__ import annotations

from . import circular, exponentials, logarithms
from .functions import Function

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        #        name       formula                ulp of float32 and float64
        Function("cos", circular.cos, (1.0, 1.0)),
        Function("exp", exponentials.exp, (1.0, 1.0)),
        Function("exp2", exponentials.exp2, (1.0, 1.0)),
        Function("expm1", exponentials.expm1, (1.0, 1.0)),
        Function("log", logarithms.log, (1.0, 1.0)),
        Function("sigmoid", exponentials.sigmoid, (1.0, 1.0)),
        Function("sin", circular.sin, (1.0, 1.0)),
        Function("tan", circular.tan, (1.1, 1.1)),
        Function("tanh", exponentials.tanh, (1.0, 1.0)),
    )
}
"""The functions by name."""
