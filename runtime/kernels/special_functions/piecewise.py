"""Piecewise functions: each formula is evaluated only for the elements for which its condition holds.

piecewise(x, [(x < 1, series), (x >= 1, fraction)])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any
Piece = tuple[Array, Callable[..., Array]]


def piecewise(arguments: Sequence[Array], pieces: Sequence[Piece], otherwise: float = np.nan) -> Array:
    """Return the values of the first formula whose condition holds; `otherwise` if there is none.

    >>> x = np.array([-1.0, 4.0])
    >>> piecewise([x], [(x >= 0, np.sqrt)]).tolist()
    [nan, 2.0]
    """
    shape = np.broadcast_shapes(*(np.shape(argument) for argument in arguments))
    flat = [np.broadcast_to(argument, shape).reshape(-1) for argument in arguments]
    result = np.full(flat[0].shape, otherwise)
    free = np.ones(flat[0].shape, bool)
    for condition, formula in pieces:
        here = free & np.broadcast_to(condition, shape).reshape(-1)
        if here.any():
            result[here] = formula(*(argument[here] for argument in flat))
        free &= ~here
    return result.reshape(shape)


def power_series(z: Array, coefficients: Sequence[float]) -> Array:
    """Return `coefficients[0] + coefficients[1] * z + …`, by Horner's scheme.

    >>> power_series(np.array([2.0]), [1.0, 0.0, 3.0]).tolist()
    [13.0]
    """
    total = np.full_like(z, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= z
        total += coefficient
    return total
