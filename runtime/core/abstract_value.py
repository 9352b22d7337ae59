"""What eager tensors are: one object for each dtype and shape, which calls compare and hash at once.

    x, y: float32[2, 3]      kind_of(x) is kind_of(y)      Kind(float32, (2, 3))

A tensor keeps its kind once somebody has asked for it.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from .shapes import TensorShape

MOST = 4_096
"""The most kinds that are kept."""

_KINDS: dict[Any, AbstractValue] = {}


class AbstractValue:
    """A dtype and a shape. Equal ones are the same object, for as long as that is kept."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: dtypes.DType, shape: TensorShape) -> None:
        self.dtype = dtype
        self.shape = shape

    def __repr__(self) -> str:
        return f"Kind({self.dtype.name}, {self.shape})"


def abstract_value_of(tensor: Any) -> AbstractValue:
    """The kind of an eager tensor, which keeps it.

    >>> from agc.runtime import constant
    >>> abstract_value_of(constant([1.0, 2.0]))
    Kind(float32, (2,))
    """
    array = tensor._array
    found = _KINDS.get((array.dtype, array.shape))
    if found is None:
        found = kind_for(dtypes.of_array(array), array.shape)
    tensor._kind = found
    return found


def kind_for(dtype: dtypes.DType, shape: tuple[int, ...]) -> AbstractValue:
    """The kind of tensors of a dtype and a shape."""
    key = dtype.numpy, shape
    found = _KINDS.get(key)
    if found is None:
        # Who has a kind keeps it; others get a new one, and are found the long way once.
        if len(_KINDS) >= MOST:
            _KINDS.clear()
        found = _KINDS.setdefault(key, AbstractValue(dtype, TensorShape(shape)))
    return found
