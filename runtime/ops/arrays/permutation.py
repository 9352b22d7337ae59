"""Inverse permutations, coordinates of flat indices, and counts of distinct elements.

>>> invert_permutation([2, 0, 1]).numpy().tolist(), unravel_index(5, [2, 3]).numpy().tolist()
([1, 2, 0], [1, 2])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ...kernels.orders import first_appearances
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import Array, DTypes, require_dtype
from ..framework.static_values import integers
from .unique import types_of_distinct

_INDICES: DTypes = frozenset({dtypes.int32, dtypes.int64})


@export("math.invert_permutation")
@op
def invert_permutation(x: Input, name: Name = None) -> TensorType:
    """Return `y` with `y[x[i]] == i`, for a permutation of 0, 1, … n - 1; else InvalidArgumentError.

    >>> invert_permutation([3, 0, 2, 1]).numpy().tolist()
    [1, 3, 2, 0]
    """
    require_dtype(x, _INDICES, "invert_permutation")
    if x.shape is not None and len(x.shape) != 1:
        raise ValueError("invert_permutation expects a 1D vector.")
    return TensorType(x.dtype, x.shape or (None,))


@invert_permutation.kernel
def _(x: Array) -> Array:
    wrong = np.flatnonzero((x < 0) | (x >= len(x)))
    if len(wrong):
        raise errors.InvalidArgumentError(f"{x[wrong[0]]} is not between 0 and {len(x)}")
    counts = np.bincount(x, minlength=len(x))
    if np.any(counts > 1):
        raise errors.InvalidArgumentError(f"{np.flatnonzero(counts > 1)[0]} is duplicated in the input.")
    result = np.empty_like(x)
    result[x] = np.arange(len(x), dtype=x.dtype)
    return result


@export("unravel_index")
@op
def unravel_index(indices: Same, dims: Same, name: Name = None) -> TensorType:
    """Return the coordinates of flat indices in a tensor of shape `dims`: one row for each axis.

    Raises InvalidArgumentError for an index that is not in the tensor.

    >>> unravel_index([5, 3], [2, 3]).numpy().tolist()
    [[1, 1], [2, 0]]
    """
    require_dtype(indices, _INDICES, "unravel_index")
    if indices.shape is not None and len(indices.shape) > 1:
        raise ValueError("unravel_index: the indices must be a scalar or a vector")
    if dims.shape is not None and len(dims.shape) != 1:
        raise ValueError("unravel_index: dims must be a vector")
    sizes = integers(dims)
    if indices.shape is None:
        return TensorType(indices.dtype, None)
    return TensorType(indices.dtype, (None if sizes is None else len(sizes), *indices.shape))


@unravel_index.kernel
def _(indices: Array, dims: Array) -> Array:
    sizes = tuple(int(size) for size in dims)
    if np.any(indices < 0) or np.any(indices >= int(np.prod(sizes, dtype=np.int64))):
        raise errors.InvalidArgumentError(f"index is out of bound as with dims {shapes.show(sizes)}")
    return np.stack(np.unravel_index(indices, sizes)).astype(dims.dtype)


class UniqueWithCounts(NamedTuple):
    """The result of `unique_with_counts`."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]  # TensorFlow's name, which is a method of tuples


@export("unique_with_counts")
def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> UniqueWithCounts:
    """Return the distinct elements of a vector, the index of each element among them, and their counts.

    The order is that of `unique`: by first appearance.

    >>> unique_with_counts([7, 8, 7]).count.numpy().tolist()
    [2, 1]
    """
    return UniqueWithCounts(*counted(x, out_idx, name))


@op(name="unique_with_counts")
def counted(
    x: Input, out_idx: DType = dtypes.int32, name: Name = None
) -> tuple[TensorType, TensorType, TensorType]:
    """Compute `unique_with_counts`.

    >>> [part.numpy().tolist() for part in counted([7, 8, 7])]
    [[7, 8], [0, 1, 0], [2, 1]]
    """
    return *types_of_distinct(x, out_idx), TensorType(out_idx, (None,))


counted.no_gradient("the equality of elements is discrete")


@counted.kernel
def _(x: Array, out_idx: dtypes.DType) -> tuple[Array, Array, Array]:
    values, positions = first_appearances(x)
    return (
        values,
        positions.astype(out_idx.numpy_dtype),
        np.bincount(positions, minlength=len(values)).astype(out_idx.numpy_dtype),
    )
