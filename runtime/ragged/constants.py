"""`tf.ragged.constant`: nested Python lists as a ragged tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from .row_partition import RowPartition
from .tensor import RaggedTensor


@export("ragged.constant")
def constant(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None, name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:  # fmt: skip
    """Return nested lists, tuples and arrays as a ragged tensor; as a dense one without nesting.

    Args:
        pylist: nested lists; all scalars have the same depth.
        dtype: of the values.
        ragged_rank: the number of ragged axes; the others are uniform. None for all but the first.
        inner_shape: the shape of the uniform axes.
        row_splits_dtype: int64 or int32.

    Raises ValueError for lists of unequal depth, or with non-uniform inner axes.

    >>> constant([[1, 2], [], [3]])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"ragged_rank must be nonnegative. Received {ragged_rank}.")
    scalars, most = _depths(pylist)
    if scalars is not None and most > scalars:
        raise ValueError(f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting")
    if inner_shape is None:
        depth = most - 1 if ragged_rank is None else ragged_rank
        if ragged_rank is not None and scalars is not None and ragged_rank >= max(scalars, 1):
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
        inner: Any = None
    else:
        inner = tuple(inner_shape) if hasattr(inner_shape, "__iter__") else (inner_shape,)
        depth = most - 1 - len(inner) if ragged_rank is None else ragged_rank
        if scalars is not None and depth + 1 + len(inner) != most:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner)}"
            )
    if depth <= 0 or scalars == 0:
        return convert_to_tensor(_flat(pylist, inner, dtype), dtype)
    level, lengths = list(pylist), []
    for _ in range(depth):
        lengths.append([len(row) for row in level])
        level = [item for row in level for item in row]
    result: Any = _inner(level, inner, max(most - depth - 1, 0) if inner is None else len(inner), dtype)
    kind = dtypes.as_dtype(row_splits_dtype)
    for rows in reversed(lengths):
        splits = np.concatenate([[0], np.cumsum(rows)]).astype(kind.numpy_dtype)
        result = RaggedTensor(result, RowPartition(convert_to_tensor(splits)), internal=True)
    return result


def _depths(value: Any) -> tuple[int | None, int]:
    """Return the depth of scalars (None without one), and the depth of lists. ValueError for unequal depths."""
    if not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and not value.ndim):
        return 0, 0
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.ndim if value.size else None), value.ndim
    found = [_depths(item) for item in value]
    depths = {scalars for scalars, _ in found if scalars is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    most = max((depth for _, depth in found), default=0)
    if depths and most > min(depths):
        raise ValueError(f"Invalid pylist={value}: empty list nesting is greater than scalar value nesting")
    return (depths.pop() + 1 if depths else None), most + 1


def _inner(items: Sequence[Any], shape: tuple[int, ...] | None, rank: int, dtype: Any) -> Any:
    """Return the values of the innermost ragged axis, with their uniform axes."""
    if not items:
        sizes = shape if shape is not None else (0,) * rank
        kind = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
        return convert_to_tensor(np.zeros((0, *sizes), kind.numpy_dtype))
    tensor = convert_to_tensor(_flat(items, None, dtype), dtype)
    if shape is not None and tuple(tensor.shape[1:]) != shape:
        raise TypeError(f"the uniform axes have shape {tensor.shape[1:]}, not {shape} as inner_shape says")
    return tensor


def _flat(items: Any, shape: Any, dtype: Any) -> Any:
    """Return items without arrays in lists, as `convert_to_tensor` requires."""
    if isinstance(items, np.ndarray):
        return items.tolist()
    return [_flat(item, shape, dtype) for item in items] if isinstance(items, (list, tuple)) else items
