"""Tell rounding that decides about single elements from faults of the code: a fault is in the same places again.

The gradient of relu(x) is 0 or dy. If x is next to zero, rounding decides which, and a few elements of a result
differ by much more than rounding:

    first comparison     w[17] differs     ──►   unknown
    second comparison    w[302] differs    ──►   no difference
                         w[17] differs     ──►   unknown, and a difference if it is in the third comparison, too
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

FEW = 1 / 16
"""The most elements of a result about which rounding may decide, as a share of all; one is always allowed."""

NEAR = 1 / 8
"""The most that such an element may change, as a share of the largest magnitude in the result."""

_ENOUGH = 3
"""The number of comparisons after which the same places are a fault."""


class Places(NamedTuple):
    """Elements of a result: its shape, which changes from call to call if sizes vary, and flat indices."""

    shape: tuple[int, ...]
    indices: Any


class Doubts:
    """The elements that differed in all comparisons until now, by the number of the result.

    `results` are the numbers of the results that have differed at all, by rounding or not.
    """

    def __init__(self, results: Iterable[int] = ()) -> None:
        self.results = set(results)
        self._places: dict[int, Places] = {}
        self._count = 0

    def after(self, found: dict[int, Places]) -> str | None:
        """Return the difference after one more comparison: "" if it is rounding, None if that is unknown.

        Args:
            found: the elements that differ now.
        """
        both = found.keys() & self._places.keys()
        if any(found[key].shape != self._places[key].shape for key in both):
            self._count = 0  # places of other shapes tell nothing
        if self._count:
            again = {key: np.intersect1d(found[key].indices, self._places[key].indices) for key in both}
            found = {key: Places(found[key].shape, indices) for key, indices in again.items() if indices.size}
        self._places = found
        self._count += 1
        if found and self._count < _ENOUGH:
            return None
        for number, (shape, indices) in found.items():
            return f"number {number}, {list(shape)}, differs in elements {indices[:3].tolist()} again"
        return ""
