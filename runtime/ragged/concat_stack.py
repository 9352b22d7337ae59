"""Shape operations on ragged tensors: concat, stack, tile, reverse, expand and squeeze axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays import concat_split, reshape, reverse_and_roll, tile_and_repeat
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.attribute_parsers import read_axes
from ..ops.framework.static_values import of_tensor
from ..ops.math.comparison import equal
from ..ops.reduce.reductions import reduce_all
from ..sparse.checks import expect
from .conversion import from_tensor
from .indexing import rows_between
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor


def aligned(values: Sequence[Any], least: int = 0) -> list[Any]:
    """Return tensors with the same number of ragged axes, at least `least`, and row splits of one dtype."""
    tensors = [one if isinstance(one, RaggedTensor) else convert_to_tensor(one) for one in values]
    kinds = {one.row_splits.dtype for one in tensors if isinstance(one, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError("Input RaggedTensors have mismatched row_splits dtypes; use with_row_splits_dtype()")
    kind = kinds.pop() if kinds else dtypes.int64
    depth = max([least, *(one.ragged_rank for one in tensors if isinstance(one, RaggedTensor))])
    ranks: set[Any] = {one.shape.rank for one in tensors} - {None}
    if len(ranks) > 1:
        raise ValueError(f"all tensors must have the same rank, not {sorted(ranks)}")
    return [_deepened(one, depth, kind) for one in tensors]


def _deepened(value: Any, depth: int, kind: dtypes.DType) -> Any:
    """Return a value with row partitions for more of its uniform axes."""
    if depth == 0:
        return value
    if isinstance(value, RaggedTensor):
        return value.with_values(_deepened(value.values, depth - 1, kind))
    return from_tensor(value, None, None, depth, kind)


def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Concatenate tensors, some of them ragged, along an existing axis."""
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(listed) == 1:
        return listed[0]
    dim = _normalized_axis(listed, axis, 0)
    return _concatenated(aligned(listed, min(dim, 1)), dim)


def _normalized_axis(values: Sequence[Any], axis: Any, more: int) -> int:
    """Return the axis counted from the front; the result has `more` axes than the values."""
    known = of_tensor(convert_to_tensor(axis))
    if not known or known[0] is None:
        raise ValueError("axis must be known before the graph runs")
    rank = next((one.shape.rank for one in values if hasattr(one, "shape")), None)
    number = known[0]
    if rank is None:
        return number
    if not -rank - more <= number < rank + more:
        raise ValueError(f"axis={number} out of bounds: expected {-rank - more}<=axis<{rank + more}")
    return number + rank + more if number < 0 else number


def _concatenated(values: Sequence[Any], axis: int) -> Any:
    if not isinstance(values[0], RaggedTensor):
        return concat_split.concat(values, axis)
    if axis > 1:
        for other in values[1:]:
            _check_rows(values[0], other)
        return values[0].with_values(_concatenated([one.values for one in values], axis - 1))
    if axis == 0:
        lengths = concat_split.concat([one.row_lengths() for one in values], 0)
        rows = RowPartition.from_row_lengths(lengths)
        return RaggedTensor(_concatenated([one.values for one in values], 0), rows, internal=True)
    interleaved = _interleaved(values)
    splits = gather(interleaved.row_splits, _multiples(values[0].nrows() + 1, len(values)))
    return RaggedTensor(interleaved.values, RowPartition(splits), internal=True)


def _check_rows(one: RaggedTensor, other: RaggedTensor) -> None:
    """Raise InvalidArgumentError unless both have the same outermost rows."""
    mine, theirs = one.row_splits, other.row_splits
    if mine is not theirs:
        message = "Inputs must have identical ragged splits:"
        expect(reduce_all(equal(shape_of(mine), shape_of(theirs))), message, [mine, theirs])
        expect(reduce_all(equal(mine, theirs)), message, [mine, theirs])


def _interleaved(values: Sequence[RaggedTensor]) -> RaggedTensor:
    """Return the first rows of all tensors, then the second ones, and so on."""
    count = values[0].nrows()
    for other in values[1:]:
        what = "Input tensors have incompatible shapes: numbers of rows"
        expect(equal(count, other.nrows()), what, [count, other.nrows()])
    every = _concatenated(values, 0)
    sizes = concat_split.stack([len(values), in_dtype(count, dtypes.int32)])
    numbers = reshape.reshape(counted(count * len(values)), sizes)
    order = reshape.reshape(reshape.transpose(numbers), [-1])
    return picked_rows(every, order)


def picked_rows(ragged: RaggedTensor, positions: Any) -> RaggedTensor:
    """Return rows by index."""
    splits = ragged.row_splits
    uniform = ragged.uniform_row_length
    return rows_between(ragged.values, gather(splits, positions), gather(splits, positions + 1), uniform)


def _multiples(count: Any, factor: int) -> Any:
    return counted(count) * factor


@export("ragged.stack")
def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Stack tensors, ragged or of different sizes, along a new axis.

    >>> import agc.runtime as tf
    >>> tf.ragged.stack([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    if not listed:
        raise ValueError("stack needs at least one tensor")
    tensors = [one if isinstance(one, RaggedTensor) else convert_to_tensor(one) for one in listed]
    dim = _normalized_axis(tensors, axis, 1)
    if len(tensors) == 1 and (isinstance(tensors[0], RaggedTensor) or dim or not tensors[0].shape.rank):
        return _expanded(tensors[0], dim)
    if all(not isinstance(one, RaggedTensor) for one in tensors):
        rank = tensors[0].shape.rank
        if rank == 0 or (dim > 0 and rank == 1):
            return concat_split.stack(tensors, dim)
        if rank == 1:
            lengths = concat_split.stack([shape_of(one)[0] for one in tensors])
            return RaggedTensor(
                concat_split.concat(tensors, 0), RowPartition.from_row_lengths(lengths), internal=True
            )
    return _concatenated([_expanded(one, dim) for one in aligned(tensors, 1)], dim)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat each axis `multiples` times, one number for each axis."""
    times = convert_to_tensor(multiples, None if isinstance(multiples, Tensor) else dtypes.int64)
    rank, given = input.shape.rank, times.shape[0]
    if rank is not None and given is not None and rank != given:
        raise ValueError(f"multiples must have {rank} numbers, one for each axis, not {given}")
    return _tiled(input, times)


def _tiled(value: Any, times: Any) -> Any:
    if not isinstance(value, RaggedTensor):
        return tile_and_repeat.tile(value, times)
    kind = value.row_splits.dtype
    one = in_dtype([1], times.dtype)
    inner = value.with_values(_tiled(value.values, concat_split.concat([one, times[2:]], 0)))
    wide, high = in_dtype(times[1], kind), in_dtype(times[0], kind)
    starts, limits = (tile_and_repeat.repeat(ends, wide) for ends in (inner.row_starts(), inner.row_limits()))
    values = rows_between(inner.values, starts, limits).values
    columns = RaggedTensor(values, RowPartition(value.row_splits * wide), internal=True)
    return picked_rows(columns, tile_and_repeat.tile(counted(value.nrows()), reshape.expand_dims(high, 0)))


def reshaped(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the values in order as a tensor of this shape, which has no ragged axes."""
    if isinstance(shape, RaggedTensor):
        raise ValueError("reshape takes a vector of sizes as the shape, not a RaggedTensor")
    return reshape.reshape(tensor.flat_values, shape)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Insert an axis of size 1 before `axis`."""
    return _expanded(input, _normalized_axis([input], axis, 1))


def _expanded(value: Any, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return reshape.expand_dims(value, axis)
    if axis > 1:
        return value.with_values(_expanded(value.values, axis - 1))
    kind, known = value.row_splits.dtype, value._row_partition.static_nrows
    count = value.nrows() if known is None else known
    length, rows = (count, 1) if axis == 0 else (1, count)
    made = RowPartition.from_uniform_row_length(in_dtype(length, kind), None, rows, dtype=kind)
    return RaggedTensor(value, made, internal=True)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Remove axes of size 1; `axis` is required."""
    axes = read_axes(axis)
    if axes is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    result = input
    for dim in sorted({input._axis(one) for one in axes}, reverse=True):
        result = _squeezed(result, dim)
    return result


def _squeezed(value: Any, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return reshape.squeeze(value, [axis])
    if axis > 1:
        return value.with_values(_squeezed(value.values, axis - 1))
    what = "Cannot squeeze an axis whose size is not 1:"
    if axis == 0:
        expect(equal(value.nrows(), 1), what, [value.nrows()])
        return value.values
    expect(reduce_all(equal(value.row_lengths(), 1)), what, [value.row_lengths()])
    return value.values


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Reverse the items along some axes."""
    axes = {tensor._axis(one) for one in read_axes(axis) or ()}
    if not axes:
        return tensor
    return tensor[tuple(slice(None, None, -1 if dim in axes else None) for dim in range(max(axes) + 1))]


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str | None = None
) -> list[Any]:
    """Split the rows into parts: a number of equal parts, or parts of the given sizes."""
    if _normalized_axis([value], axis, 0) != 0:
        raise ValueError("a ragged tensor can be split along axis 0 only")
    if isinstance(num_or_size_splits, int):
        count = num_or_size_splits
        known = value._row_partition.static_nrows
        if count < 1:
            raise ValueError(f"num_or_size_splits must be positive, not {count}")
        if known is not None and known % count:
            expect(False, f"{known} rows cannot be split into {count} parts of one size")
        size = value.nrows() // count if known is None else known // count
        return [value[number * size : (number + 1) * size] for number in range(count)]
    known_sizes = of_tensor(convert_to_tensor(num_or_size_splits))
    if known_sizes is None or None in known_sizes:
        raise ValueError("the sizes of the parts must be known before the graph runs")
    total = sum(known_sizes)  # type: ignore[arg-type]
    what = f"the sizes of the parts add up to {total}, but the number of rows is"
    expect(equal(value.nrows(), total), what, [value.nrows()])
    parts, start = [], 0
    for size in known_sizes:
        parts.append(value[start : start + size])  # type: ignore[operator]
        start += size  # type: ignore[operator]
    return parts


OPERATIONS: Mapping[Any, Callable[..., Any]] = {
    concat_split.join: concat,
    concat_split.stack: stack,
    tile_and_repeat.tile: tile,
    reshape.expand_dims: expand_dims,
    reshape.reshape: reshaped,
    reshape.squeeze: squeeze,
    reverse_and_roll.reverse: reverse,
    concat_split.split: split,
}
