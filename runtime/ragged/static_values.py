"""Conversion of integers that keeps their static values."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor, holds_tensor
from ..core.tensor import EagerTensor, Tensor
from ..ops.math.cast import cast


def in_dtype(value: Any, dtype: Any) -> Tensor:
    """Return a number or tensor in another dtype; a constant stays a constant also while a graph is being built."""
    wanted = dtypes.as_dtype(dtype)
    if isinstance(value, EagerTensor):
        return EagerTensor(value._array.astype(wanted.numpy_dtype))
    if isinstance(value, Tensor) or holds_tensor(value):
        return cast(value, wanted)
    return convert_to_tensor(value, wanted)
