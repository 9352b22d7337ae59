"""Abstract values of eager tensors: one interned object per dtype and shape, compared and hashed by identity.

    x, y: float32[2, 3]    abstract_value_of(x) is abstract_value_of(y)    AbstractValue(float32, (2, 3))

A tensor caches its abstract value at first use.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from .shapes import TensorShape

MOST = 4_096
"""The maximum number of interned abstract values."""

INTERNED: dict[Any, AbstractValue] = {}


class AbstractValue:
    """A dtype and a shape. Equal ones are the same object while they are interned.

    Gradients flow through tensors of a continuous dtype, and through optionals, which may hold any tensor.
    """

    __slots__ = ("carries_gradient", "dtype", "shape")

    def __init__(self, dtype: dtypes.DType, shape: TensorShape) -> None:
        self.dtype = dtype
        self.shape = shape
        self.carries_gradient = dtype.is_floating or dtype.is_complex or dtype is dtypes.variant

    def __repr__(self) -> str:
        return f"AbstractValue({self.dtype.name}, {self.shape})"


def abstract_value_of(tensor: Any) -> AbstractValue:
    """Return the abstract value of an eager tensor, and cache it in the tensor.

    >>> from agc.runtime import constant
    >>> abstract_value_of(constant([1.0, 2.0]))
    AbstractValue(float32, (2,))
    """
    array = tensor._array
    found = INTERNED.get((array.dtype, array.shape))
    if found is None:
        found = kind_for(dtypes.of_array(array), array.shape)
    tensor._kind = found
    return found


def kind_for(dtype: dtypes.DType, shape: tuple[int, ...]) -> AbstractValue:
    """Return the abstract value for a dtype and a shape."""
    key = dtype.numpy_dtype, shape
    found = INTERNED.get(key)
    if found is None:
        # Tensors keep their abstract value; new tensors get a new one, and miss the fast path once.
        if len(INTERNED) >= MOST:
            INTERNED.clear()
        found = INTERNED.setdefault(key, AbstractValue(dtype, TensorShape(shape)))
    return found
