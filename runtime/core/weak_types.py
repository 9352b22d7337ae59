"""A choice between Python numbers is still a Python number: it takes the dtype that it meets.

    sign = 1 if x > 0 else -1      int32, as long as it is alone
    sign * speed            ==>    cast(sign, float32) * speed

A graph has computed the choice by then, so this is done only where all the numbers come through a cast unharmed:
`0.5` becomes a float64, `0.1` does not, as the float32 is another number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.builder import eagerly
from ..ops.math.cast import cast
from .conversion import convert_to_tensor
from .tensor import SymbolicTensor, Tensor


def numbers_in(leaf: Any) -> tuple[Any, ...]:
    """The Python numbers of which the leaf is one; empty for everything else."""
    if type(leaf) in (int, float, complex):
        return (leaf,)
    return leaf._numbers if isinstance(leaf, SymbolicTensor) else ()


def mark(tensor: Any, column: Sequence[Any]) -> None:
    """Note that `tensor` is the choice between the values of `column`, if all of these are Python numbers."""
    numbers = [numbers_in(leaf) for leaf in column]
    if isinstance(tensor, SymbolicTensor) and all(numbers):
        tensor._numbers = tuple(dict.fromkeys(number for some in numbers for number in some))


def adapts(leaf: Any, dtype: dtypes.DType | None) -> bool:
    """Whether the leaf is a choice between numbers, of another dtype than this one, which holds them as well."""
    if dtype is None or not isinstance(leaf, SymbolicTensor) or not leaf._numbers or leaf.dtype is dtype:
        return False
    return all(_survives(number, leaf.dtype, dtype) for number in leaf._numbers)


def adapted(leaf: Any, dtype: dtypes.DType) -> Tensor:
    """A choice between numbers as a tensor of a dtype to which it `adapts`."""
    tensor = cast(leaf, dtype)
    mark(tensor, [leaf])
    return tensor


def _survives(number: Any, own: dtypes.DType, other: dtypes.DType) -> bool:
    with eagerly():
        try:
            direct = np.asarray(convert_to_tensor(number, other))
        except (TypeError, ValueError):
            return False
        return bool(np.asarray(convert_to_tensor(number, own)).astype(other.numpy) == direct)
