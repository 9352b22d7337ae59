"""The table of NumPy's functions, and helpers of its entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.tensor import Tensor
from ...errors import OperatorNotAllowedInGraphError
from ...ops.arrays import reshape
from ...ops.math.cast import cast

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The implementations of NumPy's functions on traced tensors, with NumPy's parameters."""


def instead_of(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the implementation of these NumPy functions on traced tensors."""

    def register(own: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, own))
        return own

    return register


def common(values: Sequence[Any], weak: bool = False) -> list[Tensor]:
    """Return tensors of the dtype that NumPy promotes the values to.

    With `weak` Python numbers take the dtype of the others.
    """
    kept = [_known(value, weak) for value in values]
    promoted: Any = np.result_type(
        *[each.dtype.numpy_dtype if is_tensor_like(each) else each for each in kept]
    )
    dtype = dtypes.as_dtype(promoted)
    return [cast(each, dtype) if is_tensor_like(each) else convert_to_tensor(each, dtype) for each in kept]


def _known(value: Any, weak: bool) -> Any:
    """Return a tensor, a Python number that takes part weakly, or an array."""
    return value if is_tensor_like(value) or (weak and type(value) in _NUMBERS) else np.asarray(value)


_NUMBERS = (bool, int, float, complex)


def as_floats(a: Any) -> Any:
    """Return integers as float64, as NumPy's averages do."""
    x = convert_to_tensor(a)
    return cast(x, dtypes.float64) if x.dtype.is_integer or x.dtype.is_bool else x


def flat_without_axis(a: Any, axis: Any) -> tuple[Tensor, int]:
    x = convert_to_tensor(a)
    return (reshape.reshape(x, [-1]), 0) if axis is None else (x, axis)


def at_least(a: Any, rank: int, front: bool) -> Any:
    x = convert_to_tensor(a)
    for _ in range(rank - rank_of(x, "the function")):
        x = reshape.expand_dims(x, 0 if front else -1)
    return x


def rank_of(x: Tensor, what: str) -> int:
    if x.shape.rank is None:
        raise ValueError(f"{what} needs a tensor of known rank: set it with tf.ensure_shape")
    return x.shape.rank


def refuse(what: str) -> NoReturn:
    """Raise the error for something of NumPy's that no operation implements."""
    raise OperatorNotAllowedInGraphError(
        f"{what} cannot be applied to a traced tensor, which gets its value only when the graph runs. Use the function "
        "of TensorFlow's that does the same, or tf.numpy_function, which calls NumPy each time the graph runs"
    )
