"""`tf.compat.v1.Dimension`: a size of a shape, known or not, that computes with other sizes.

`TensorShape.dims` is a list of them, as in TensorFlow.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np


class Dimension:
    """A size, or None if it is unknown. Arithmetic with an unknown size is unknown, and a comparison is None.

    Raises TypeError for a value that is no integer, ValueError for a negative one.

    >>> Dimension(3) + 1, Dimension(None) * 2, Dimension(3) == Dimension(None)
    (Dimension(4), Dimension(None), None)
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class

    def __init__(self, value: Any) -> None:
        self.value: int | None = value.value if isinstance(value, Dimension) else value
        if self.value is not None:
            self.value = operator.index(self.value)
            if self.value < 0:
                raise ValueError(f"Dimension {self.value} must be >= 0")

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)  # type: ignore[arg-type]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(operator.index(self), dtype or np.int32)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether both may be the same size."""
        return (self == other) is not False

    def merge_with(self, other: Any) -> Dimension:
        """Return the size that both are. Raises ValueError if they differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")
        return Dimension(other) if self.value is None else self


def _operators(function: Callable[[int, int], Any], kind: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return the methods for `dimension op other` and `other op dimension`."""

    def forward(self: Dimension, other: Any) -> Any:
        a, b = self.value, Dimension(other).value
        return kind(None if a is None or b is None else function(a, b))

    return forward, lambda self, other: forward(Dimension(other), self)


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _forward, _reflected = _operators(getattr(operator, _name), Dimension)
    setattr(Dimension, f"__{_name}__", _forward)
    setattr(Dimension, f"__r{_name}__", _reflected)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _operators(getattr(operator, _name), lambda value: value)[0])
