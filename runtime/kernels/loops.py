"""Loops of kernels over arrays, which compilers of whole graphs replace by loops of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


def iterate(
    going: Callable[..., Array], step: Callable[..., tuple[Array, ...]], state: tuple[Any, ...]
) -> Any:
    """Return the first state for which `going` holds for no element; `step` returns the next state.

    >>> iterate(lambda x, n: x > 1, lambda x, n: (x / 2, n + 1), (np.array([5.0]), 0))[1]
    3
    """
    while np.any(going(*state)):
        state = step(*state)
    return state


def scan(
    step: Callable[..., tuple[Array, Array]], state: Array, rows: tuple[Array, ...], backward: bool = False
) -> Array:
    """Return what `step(state, *row)` has returned besides the next state, stacked, for each row of these arrays.

    >>> scan(lambda total, x: (total + x, total), np.array(0), (np.array([1, 2, 3]),)).tolist()
    [0, 1, 3]
    """
    found: list[Any] = [None] * len(rows[0])
    for i in range(len(found))[:: -1 if backward else 1]:
        state, found[i] = step(state, *(row[i] for row in rows))
    return np.stack(found)
