"""Parts of rules: shapes, ranks and axes of results, as constants where agc's graph has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import dtypes
from ....ir.value_types import TensorType
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError


def shape_of(to: Body, x: NodeResult, dtype: str = "int32") -> Any:
    """Return the shape as a vector, a constant if it is static."""
    if x.shape is not None and None not in x.shape:
        return to.const(np.array(x.shape, dtype))
    return to.Shape(x, out_type=dtype)


def rank_of(x: NodeResult) -> int:
    """Return the rank, which must be known."""
    if x.rank is None:
        raise RefusedByRuleError("the rank of a tensor is unknown")
    return x.rank


def cast(to: Body, x: Any, dtype: Any) -> Any:
    """Cast to a dtype, unless `x` has it."""
    name = dtype if isinstance(dtype, str) else dtype.name
    if not isinstance(x, NodeResult):
        return to.const(np.asarray(x, name))
    return x if x.dtype == name else to.Cast(x, DstT=name)


def scalar(to: Body, x: NodeResult, dtype: Any = "int32") -> Any:
    """Return a tensor of one element as a scalar of a dtype."""
    return to.Reshape(cast(to, x, dtype), [])


def number(to: Body, value: Any, dtype: str) -> NodeResult:
    """Return a constant of a dtype; of strings the empty one."""
    return to.const("" if dtype == "string" else value, dtype)


def part(to: Body, vector: NodeResult, index: int) -> Any:
    """Return an element of a vector; negative numbers count from the end."""
    stop = [index + 1] if index != -1 else [0]
    return to.StridedSlice(vector, [index], stop, [1], shrink_axis_mask=1, end_mask=1 if index == -1 else 0)


def sliced(to: Body, vector: NodeResult, start: int | None, stop: int | None) -> Any:
    """Return `vector[start:stop]`."""
    return to.StridedSlice(
        vector, [start or 0], [stop or 0], [1], begin_mask=int(start is None), end_mask=int(stop is None)
    )


def joined(to: Body, *vectors: Any) -> Any:
    """Return the concatenation of vectors of int32; lists are constants."""
    parts = [each for each in vectors if isinstance(each, NodeResult) or len(each)]
    if not parts:
        return to.const(np.zeros(0, np.int32))
    if len(parts) == 1:
        return parts[0] if isinstance(parts[0], NodeResult) else to.const(np.array(parts[0], np.int32))
    return to.ConcatV2(parts, 0)


def inverse(order: Sequence[int]) -> list[int]:
    """Return the order that undoes another one."""
    return sorted(range(len(order)), key=order.__getitem__)


def permuted(to: Body, x: NodeResult, perm: Sequence[int]) -> NodeResult:
    """Transpose, unless the order is that of `x`."""
    if list(perm) == list(range(len(perm))):
        return x
    found = to.Transpose(x, list(perm))
    return with_shape(found, None if x.shape is None else tuple(x.shape[i] for i in perm))


def with_shape(x: NodeResult, shape: Any) -> NodeResult:
    """Note the static shape of a result."""
    x.spec = TensorType(dtypes.as_dtype(x.dtype), shape)
    return x


def axis_last(to: Body, x: NodeResult, axis: int) -> tuple[NodeResult, list[int] | None]:
    """Return `x` with an axis moved to the end, and the order that undoes this."""
    rank = rank_of(x)
    axis %= rank
    if axis == rank - 1:
        return x, None
    order = [*range(axis), *range(axis + 1, rank), axis]
    return permuted(to, x, order), inverse(order)


def axis_back(to: Body, x: NodeResult, order: Sequence[int] | None) -> NodeResult:
    """Undo `axis_last`."""
    return x if order is None else to.Transpose(x, list(order))


def ranges(to: Body, shape: NodeResult, dims: Sequence[int], rank: int, dtype: str) -> list[NodeResult]:
    """Return for each of some dimensions its indices, in the form [1, .., size, .., 1] of a rank."""
    found = []
    for dim in dims:
        counted = cast(to, to.Range(0, part(to, shape, dim), 1), dtype)
        found.append(to.Reshape(counted, [-1 if i == dim else 1 for i in range(rank)]))
    return found


def coordinates_along(to: Body, indices: NodeResult, axis: int) -> Any:
    """Return full coordinates of elements, of which `indices` has those along one axis."""
    rank = rank_of(indices)
    axis %= rank
    shape = to.Shape(indices)
    others = [dim for dim in range(rank) if dim != axis]
    found = dict(zip(others, ranges(to, shape, others, rank, indices.dtype), strict=True))
    columns = [indices if dim == axis else to.BroadcastTo(found[dim], shape) for dim in range(rank)]
    return to.Pack(columns, axis=rank)


def coordinates_of_batches(to: Body, indices: NodeResult, batch: int) -> Any:
    """Return `indices`, vectors of coordinates, with the coordinates of their batch before them."""
    if not batch:
        return indices
    rank = rank_of(indices)
    shape = joined(to, sliced(to, to.Shape(indices), None, -1), [1])
    columns = [
        to.BroadcastTo(each, shape)
        for each in ranges(to, to.Shape(indices), range(batch), rank, indices.dtype)
    ]
    return to.ConcatV2([*columns, indices], rank - 1)
