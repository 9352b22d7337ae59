"""The error functions and the logarithm of the gamma function; special.py has their relatives.

>>> erf([0., 10.]).numpy().tolist(), lgamma([1., 0.]).numpy().tolist()
([0.0, 1.0], [0.0, inf])
"""

from __future__ import annotations

import math
from typing import Any

from ...core import late_binding
from ...kernels.special_functions import error_functions
from ...kernels.special_functions.gamma import log_gamma
from ...kernels.special_functions.tables import tabulated
from ..framework.op_families import FLOATS, unary
from .elementwise import exp, square

erf = unary("erf", tabulated(error_functions.erf), FLOATS, "The Gauss error function.", "[0., 10.]", "[0.0, 1.0]",
            cost=24, export=("math.erf",))  # fmt: skip
erfc = unary("erfc", tabulated(error_functions.erfc), FLOATS, "`1 - erf(x)`.", "[0., 30.]", "[1.0, 0.0]", cost=30,
             export=("math.erfc",))  # fmt: skip
lgamma = unary("lgamma", tabulated(log_gamma), FLOATS, "The logarithm of the absolute value of the gamma function.",
               "[1., 0.]", "[0.0, inf]", cost=120, export=("math.lgamma",))  # fmt: skip

erf.gradient(lambda dy, y, x: dy * (exp(-square(x)) * (2 / math.sqrt(math.pi))))
erfc.gradient(lambda dy, y, x: dy * (exp(-square(x)) * (-2 / math.sqrt(math.pi))))


@lgamma.gradient
def _(dy: Any, y: Any, x: Any) -> Any:
    return dy * late_binding.special.digamma(x)
