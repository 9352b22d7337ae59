"""Weak types: a choice between Python numbers is still a Python number, and takes the dtype of the other operand.

    sign = 1 if x > 0 else -1      int32, as long as no other dtype is met
    sign * speed            ==>    cast(sign, float32) * speed

The graph has already computed the choice, so a cast is added only if it preserves all the numbers: `0.5` becomes a
float64; `0.1` does not, because its float32 is another number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.builder import eagerly
from . import late_binding
from .conversion import convert_to_tensor
from .symbolic_tensor import SymbolicTensor
from .tensor import Tensor


def numbers_in(leaf: Any) -> tuple[Any, ...]:
    """Return the Python numbers of which the leaf is one; empty for everything else."""
    if type(leaf) in (int, float, complex):
        return (leaf,)
    return leaf._numbers if isinstance(leaf, SymbolicTensor) else ()


def mark(tensor: Any, column: Sequence[Any]) -> None:
    """Mark `tensor` as a choice between the values of `column`, if all of these are Python numbers."""
    numbers = [numbers_in(leaf) for leaf in column]
    if isinstance(tensor, SymbolicTensor) and all(numbers):
        tensor._numbers = tuple(dict.fromkeys(number for some in numbers for number in some))


def adapts(leaf: Any, dtype: dtypes.DType | None) -> bool:
    """Return whether the leaf is a choice between numbers that a cast converts to `dtype` without a change."""
    if dtype is None or not isinstance(leaf, SymbolicTensor) or not leaf._numbers or leaf.dtype is dtype:
        return False
    return all(_survives(number, leaf.dtype, dtype) for number in leaf._numbers)


def adapted(leaf: Any, dtype: dtypes.DType) -> Tensor:
    """Cast a choice between numbers to a dtype for which `adapts` holds."""
    tensor = late_binding.cast(leaf, dtype)
    mark(tensor, [leaf])
    return tensor


def _survives(number: Any, own: dtypes.DType, other: dtypes.DType) -> bool:
    with eagerly():
        try:
            direct = np.asarray(convert_to_tensor(number, other))
        except (TypeError, ValueError):
            return False
        return bool(np.asarray(convert_to_tensor(number, own)).astype(other.numpy_dtype) == direct)
