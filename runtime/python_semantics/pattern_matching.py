"""Patterns of a `match` over tensors.

case [a, b]:     the rows, when it is known that there are two
case True:       a scalar of dtype bool that is true
"""

from __future__ import annotations

from typing import Any

from ..control_flow.diagnostics import made, staging_error
from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.tensor_array import TensorArray
from ..ops.math import comparison


def length(value: Any) -> int | None:
    """Return the number of rows; None for a scalar, and for a value that is not a tensor."""
    if not is_tensor_like(value):
        return None
    shape = convert_to_tensor(value).shape
    if shape.rank == 0:
        return None
    if shape.rank is None or shape[0] is None:
        raise staging_error(
            "AGC270",
            f"a sequence pattern needs a known number of rows, but the shape is {shape}",
            notes=[made(value)],
            why="the case is selected while the graph is made, and the number of rows is not known then",
            fix="give the tensor its shape with tf.ensure_shape or x.set_shape, or test tf.shape(x)[0] in an `if`",
        )
    return int(shape[0])


def is_truth(value: Any, truth: bool) -> Any:
    """Return whether a value is `truth`, as a scalar tensor; False for any value that is no scalar bool tensor."""
    if isinstance(value, TensorArray) or not is_tensor_like(value):
        return False
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_bool or tensor.shape.rank != 0:
        return False
    return tensor if truth else comparison.logical_not(tensor)
