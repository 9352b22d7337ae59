"""Other operations on ragged tensors: sizes, sums of several tensors, one-hot vectors, joined strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..ops.arrays import ranges, shape_ops
from ..ops.arrays.reshape import broadcast_to
from ..ops.math import arithmetic
from ..ops.nn.embedding_lookup import embedding_lookup
from ..ops.reduce.bincount import bincount
from ..ops.strings import strings
from ..sparse.reductions import dense_bincount
from . import shaped
from .broadcasting import with_common_rows
from .dynamic_shape import DynamicRaggedShape
from .mapping import check_same_rows, map_flat_values
from .static_values import in_dtype
from .tensor import RaggedTensor


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the number of elements."""
    return shape_ops.size(input.flat_values, out_type)


def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of axes."""
    return in_dtype(input.ragged_rank + shape_ops.rank(input.flat_values), dtypes.int32)


def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the shape with its row partitions."""
    return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)


def lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Return the row of `params` for every id."""
    return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Return the sum of tensors with the same rows."""
    ragged = [one for one in inputs if isinstance(one, RaggedTensor)]
    if len(ragged) < len(inputs):
        raise ValueError("ragged_add_n: all inputs must be ragged tensors")
    for other in ragged[1:]:
        check_same_rows(ragged[0], other)
    return ragged[0].with_flat_values(arithmetic.add_n([one.flat_values for one in ragged]))


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return a one-hot vector for each number."""
    if isinstance(axis, int) and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError(
                f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank})."
            )
        axis -= indices.ragged_rank
    return map_flat_values(ranges.one_hot, indices, depth, on_value, off_value, axis, dtype)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Join strings at the same positions."""
    flat, rows = with_common_rows(list(inputs))
    return rows(strings.join(flat, separator))


OPERATIONS: Mapping[Any, Callable[..., Any]] = {
    shape_ops.size: size,
    shape_ops.rank: rank,
    shape_ops.shape: shape,
    arithmetic.add_n: add_n,
    broadcast_to: shaped.broadcast_to,
    embedding_lookup: lookup,
    bincount: dense_bincount,
    ranges.one_hot: one_hot,
    strings.string_join: join,
}
