"""Broadcasting of ragged tensors: operands get common rows, so that an operation applies to their flat values.

    [[1, 2], [3]]  and  [[10], [20]]       flat values 1 2 3 and 10 10 20, rows 0 2 3

A uniform axis of size 1 is broadcast; the rows of a ragged axis must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.where_ops import where
from ..ops.ragged.row_splits import common_rows
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor


def with_common_rows(values: list[Any]) -> tuple[list[Any], Callable[[Any], Any]]:
    """Broadcast all values to common rows; return their flat values, and a function that adds the rows to a result.

    Dense values that broadcast with flat values, such as scalars, are unchanged. Raises ValueError or
    InvalidArgumentError for incompatible rows, ValueError for row splits of different dtypes.
    """
    ragged = [value for value in values if isinstance(value, RaggedTensor)]
    dtype = _splits_dtype(ragged)
    hint = next((value.dtype for value in ragged), None)
    tensors = [value if isinstance(value, RaggedTensor) else _dense(value, hint) for value in values]
    base: Any = ragged[0]
    for other in tensors:
        if other is not base and not _needs_no_rows(other, base):
            base, _ = _pair(base, other, dtype)
    flat = [one.flat_values if one is base else _flat_beside(one, base, dtype) for one in tensors]
    return flat, base.with_flat_values


def _dense(value: Any, hint: dtypes.DType | None) -> Tensor:
    return convert_to_tensor(value, dtype_hint=None if is_tensor_like(value) else hint)


def _splits_dtype(ragged: list[RaggedTensor]) -> dtypes.DType:
    found = {one.row_splits.dtype for one in ragged}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    return found.pop()


def _needs_no_rows(value: Any, base: RaggedTensor) -> bool:
    """Return whether a value is compatible with the flat values of `base` without broadcasting."""
    if isinstance(value, RaggedTensor):
        mine, others = value.nested_row_splits, base.nested_row_splits
        return len(mine) == len(others) and all(a is b for a, b in zip(mine, others, strict=True))
    inner = base.flat_values.shape.rank
    rank = value.shape.rank
    if rank == 1 and value.shape[0] == 1 and inner == 1:
        return True
    return rank is not None and (rank == 0 or (inner is not None and rank < inner))


def _flat_beside(value: Any, base: RaggedTensor, dtype: dtypes.DType) -> Any:
    """Return the values of another operand, aligned with the flat values of `base`."""
    if _needs_no_rows(value, base):
        return value.flat_values if isinstance(value, RaggedTensor) else value
    _, other = _pair(base, value, dtype)
    return other


def _pair(base: RaggedTensor, other: Any, dtype: dtypes.DType) -> tuple[RaggedTensor, Any]:
    """Return `base` in its common rows with `other`, and the flat values of `other` in these rows."""
    ranks = base.shape.rank, other.shape.rank
    if None in ranks:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(ranks)
    depth = max(_depth(base, rank), _depth(other, rank))
    mine, theirs = (_levels(one, rank, depth, dtype) for one in (base, other))
    stretched = [i for i, rows in enumerate([*mine, *theirs]) if rows.is_uniform()]
    *splits, left, right = common_rows([rows.row_splits() for rows in [*mine, *theirs]], stretched)
    rows = [
        RowPartition(split, _common_length(a, b)) for split, a, b in zip(splits, mine, theirs, strict=True)
    ]
    flat, other_flat = (
        gather(_leaf(one, rank, depth), picked) for one, picked in ((base, left), (other, right))
    )
    result: Any = flat
    for partition in reversed(rows[1:]):
        result = RaggedTensor(result, partition, internal=True)
    return result, other_flat


def _depth(value: Any, rank: int) -> int:
    """Return the number of partitioned axes of a value broadcast to `rank` axes; 0 for a dense value."""
    if not isinstance(value, RaggedTensor):
        return 0
    return value.ragged_rank + rank - (value.shape.rank or 0)


def _levels(value: Any, rank: int, depth: int, dtype: dtypes.DType) -> list[RowPartition]:
    """Return the row partitions up to `depth`, preceded by one row of all rows; size-1 axes are prepended."""
    added = rank - value.shape.rank
    levels = [RowPartition.from_uniform_row_length(1, None, 1, dtype=dtype) for _ in range(added)]
    nested = list(value._partitions) if isinstance(value, RaggedTensor) else []
    levels.append(_all_rows(value, dtype))
    levels += nested
    inner = shape_of(value.flat_values if nested else value)
    static = (value.flat_values if nested else value).shape
    while len(levels) < depth + 1:
        at = len(levels) - added - len(nested)
        size = static[at]
        length = in_dtype(inner[at], dtype) if size is None else in_dtype(size, dtype)
        before = levels[-1]
        known = before.static_nvals
        count = before.nvals() if known is None else known
        levels.append(RowPartition.from_uniform_row_length(length, None, count, dtype=dtype))
    return levels[: depth + 1]


def _all_rows(value: Any, dtype: dtypes.DType) -> RowPartition:
    """Return a partition with one row of all rows."""
    known = value.shape[0]
    count = in_dtype(known, dtype) if known is not None else None
    if count is None:
        count = value.nrows() if isinstance(value, RaggedTensor) else in_dtype(shape_of(value)[0], dtype)
    return RowPartition(stack([in_dtype(0, dtype), in_dtype(count, dtype)]), in_dtype(count, dtype))


def _leaf(value: Any, rank: int, depth: int) -> Any:
    """Return the values with the partitioned axes merged into one."""
    added = rank - value.shape.rank
    is_ragged = isinstance(value, RaggedTensor)
    flat = value.flat_values if is_ragged else value
    merged = depth - added - (value.ragged_rank if is_ragged else 0)
    if merged < 0:
        return expand_dims(flat, 0)
    if merged == 0:
        return flat
    return reshape(flat, concat([in_dtype([-1], dtypes.int32), shape_of(flat)[merged + 1 :]], 0))


def _common_length(one: RowPartition, other: RowPartition) -> Tensor | None:
    """Return the length of the common rows if both partitions are uniform."""
    mine, theirs = one.static_uniform_row_length, other.static_uniform_row_length
    if not one.is_uniform() or not other.is_uniform():
        return None
    if mine is None or theirs is None:
        a, b = one.uniform_row_length(), other.uniform_row_length()
        return where(a == 1, b, a)  # type: ignore[no-any-return]
    return other.uniform_row_length() if mine == 1 else one.uniform_row_length()
