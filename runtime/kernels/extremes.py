"""The results of maxima and minima of nothing, from which such reductions start.

float32    -inf and inf              int8    -128 and 127
"""

from __future__ import annotations

from typing import Any

import numpy as np


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the maximum of no elements of a dtype; narrow floats count as floats.

    >>> lowest(np.dtype(np.float32)), lowest(np.dtype(np.int8))
    (-inf, -128)
    """
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def highest(dtype: np.dtype[Any]) -> Any:
    """Return the minimum of no elements of a dtype."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf
