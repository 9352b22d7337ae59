"""Count the occurrences of values.

bincount([1, 3, 1])     0 2 0 1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.rows import combine_rows
from ..arrays.concat_split import concat
from ..arrays.creation import zeros_like
from ..arrays.gather_ops import gather
from ..arrays.shape_ops import shape as shape_of
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..math.arithmetic import minimum
from ..math.cast import cast


@export("math.bincount")
@dispatching_composites("bincount")
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Any:
    """Count the occurrences of each of the integers 0, 1, … up to the largest in `arr`.

    Args:
        weights: the weight of each element, instead of 1; of the shape of `arr`.
        minlength: the minimal size of the result.
        maxlength: ignore this number and larger ones.
        dtype: of the result; with weights it is theirs.
        axis: 0 or None to count in the whole of `arr`, -1 to count in each row of a matrix.
        binary_output: return 1 for each number that occurs, instead of the count.

    >>> bincount([1, 3, 1], minlength=6).numpy().tolist()
    [0, 2, 0, 1, 0, 0]
    >>> bincount([[1, 1], [0, 2]], weights=[[0.5, 1.0], [2.0, 3.0]], axis=-1).numpy().tolist()
    [[0.0, 1.5, 0.0], [2.0, 0.0, 3.0]]
    """
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if binary_output and weights is not None:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one."
        )
    values = convert_to_tensor(arr)
    if not values.dtype.is_integer:
        values = cast(values, dtypes.int32)
    none = np.zeros(0, dtypes.as_dtype(dtype).numpy_dtype) if weights is None else weights
    top = -1 if maxlength is None else maxlength
    return occurrences(
        values, none, 0 if minlength is None else minlength, top, axis == -1, binary_output, name
    )


@op
def occurrences(
    arr: Ints,
    weights: Input,
    minlength: Ints,
    maxlength: Ints,
    by_row: bool = False,
    binary_output: bool = False,
    name: Name = None,
) -> TensorType:
    """Count the occurrences of 0, 1, …, for at least `minlength` and at most `maxlength` numbers (-1: no limit).

    `weights` may be empty: then each weight is 1. The result has the dtype of `weights`.

    >>> occurrences([1, 3, 1], [0.5, 1., 2.], 0, 2)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0. , 2.5], dtype=float32)>
    """
    require_dtype(weights, NUMERIC, "bincount")
    for bound in (minlength, maxlength):
        if bound.shape not in (None, ()):
            raise ValueError(f"minlength and maxlength must be scalars, not of shape {bound.shape}")
    if arr.shape is not None and by_row and len(arr.shape) > 2:
        raise ValueError(f"Shape must be at most rank 2 but is rank {len(arr.shape)}")
    if weights.shape != (0,) and not shapes.compatible(arr.shape, weights.shape):
        raise ValueError(
            f"`weights` must be the same shape as `arr` or a length-0 `Tensor`, received {shapes.show(weights.shape)}"
        )
    if not by_row:
        return TensorType(weights.dtype, (None,))
    if arr.shape is None:
        return TensorType(weights.dtype, None)
    return TensorType(weights.dtype, (arr.shape[0], None) if len(arr.shape) == 2 else (None,))


@occurrences.kernel
def _(
    arr: Array, weights: Array, minlength: Array, maxlength: Array, by_row: bool, binary_output: bool
) -> Array:
    if np.size(arr) and np.min(arr) < 0:
        raise errors.InvalidArgumentError("Input arr must be non-negative!")
    if np.shape(weights) not in ((0,), np.shape(arr)):
        raise errors.InvalidArgumentError(
            f"`weights` must be the same shape as `arr` or a length-0 `Tensor`, received {np.shape(weights)}"
        )
    split = by_row and np.ndim(arr) == 2
    rows = np.reshape(arr, np.shape(arr) if split else (1, np.size(arr))).astype(np.int64)
    top = int(rows.max(initial=-1)) + 1
    width = max(int(minlength), top)
    if maxlength < -1:
        raise ValueError(f"maxlength must be non-negative, got: {int(maxlength)}")
    if maxlength >= 0:
        width = min(width, int(maxlength))
    inside = rows < width if width < top else ...
    bins = rows if len(rows) == 1 else rows + np.arange(len(rows))[:, None] * width
    each = np.reshape(weights, rows.shape)[inside].reshape(-1) if np.size(weights) else None
    counts = _sums(bins[inside].reshape(-1), each, len(rows) * width)
    if binary_output:
        counts = counts > 0
    result = counts.astype(weights.dtype).reshape(len(rows), width)
    return result if split else result[0]


def _sums(bins: Array, weights: Array | None, count: int) -> Array:
    """Return the sum of weights at each index, or the number of occurrences."""
    if weights is None:
        return np.bincount(bins, minlength=count)
    total = np.zeros(count, weights.dtype)
    combine_rows(np.add, total, bins, weights)
    return total


@occurrences.gradient
def _(
    dy: Any, y: Any, arr: Any, weights: Any, minlength: Any, maxlength: Any, by_row: bool, binary_output: bool
) -> Any:
    if weights.shape == [0]:
        return None, None, None, None
    split = by_row and arr.shape.rank == 2
    # Elements from `maxlength` on get a zero gradient.
    padded = concat([dy, zeros_like(dy[..., :1])], axis=-1)
    bins = minimum(arr, cast(shape_of(y)[-1], arr.dtype))
    return None, gather(padded, bins, axis=-1, batch_dims=1 if split else 0), None, None
