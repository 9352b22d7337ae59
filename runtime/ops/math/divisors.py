"""Divisors and multiples of integers, which NumPy has and TensorFlow lacks."""

from __future__ import annotations

import numpy as np

from ...ir.traits import ELEMENTWISE
from ..framework.op_families import INTEGERS, binary

gcd = binary(
    "gcd", np.gcd, INTEGERS, "The greatest common divisor.", "[4, 0], 6", "[2, 6]", traits=ELEMENTWISE
)
lcm = binary(
    "lcm", np.lcm, INTEGERS, "The least common multiple.", "[4, 0], 6", "[12, 0]", traits=ELEMENTWISE
)
