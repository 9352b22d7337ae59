"""Selection of parts of ragged tensors by index or by mask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ops.arrays import gather_ops, where_ops
from ..ops.arrays.concat_split import concat
from ..ops.arrays.dynamic_partition import dynamic_partition as dense_partition
from ..ops.arrays.gather_ops import gather as dense_gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.sort import argsort
from ..ops.math.cast import cast
from ..ops.math.comparison import equal, greater_equal, less, logical_and
from ..ops.ragged.row_splits import ragged_coordinates
from ..ops.reduce.reductions import reduce_all, reduce_prod
from ..ops.reduce.segments import unsorted_segment_sum
from ..sparse.checks import expect
from .concat_stack import aligned, picked_rows
from .concat_stack import expand_dims as expand_ragged_dims
from .conversion import from_tensor, merge_dims
from .indexing import picked_values
from .mapping import check_same_rows
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor


def gather(params: Any, indices: Any, axis: int = 0, batch_dims: int = 0, name: str | None = None) -> Any:
    """Return the slices of `params` along `axis` at `indices`, either or both of them ragged."""
    params = params if isinstance(params, RaggedTensor) else convert_to_tensor(params)
    if batch_dims < 0:
        batch_dims += indices.shape.rank
    if axis < 0:
        axis += params.shape.rank
    if batch_dims > axis:
        raise ValueError(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    if batch_dims:
        return _in_batches(params, indices, axis, batch_dims)
    if axis > 0:
        return _along(params, indices, axis)
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(gather(params, indices.flat_values))
    if not isinstance(params, RaggedTensor):
        return dense_gather(params, indices)
    return _rows(params, _numbers(indices))


def _numbers(indices: Any) -> Any:
    numbers = convert_to_tensor(indices)
    if not numbers.dtype.is_integer:
        raise TypeError(f"indices must be integers, not {numbers.dtype.name}")
    return numbers


def _rows(params: RaggedTensor, numbers: Any) -> Any:
    """Return rows by index, in the shape of the indices."""
    if numbers.shape.rank is None:
        raise ValueError("the rank of the indices must be known")
    flat = reshape(numbers, [-1])
    inside = logical_and(
        greater_equal(flat, 0), less(cast(flat, dtypes.int64), cast(params.nrows(), dtypes.int64))
    )
    expect(reduce_all(inside), "indices must be numbers of rows:", [numbers])
    picked = picked_rows(params, flat)
    if numbers.shape.rank == 0:
        return picked.values
    kind = params.row_splits.dtype
    result: Any = picked
    for axis in range(numbers.shape.rank - 1, 0, -1):
        known = numbers.shape[axis]
        length = in_dtype(shape_of(numbers)[axis] if known is None else known, kind)
        rows = reduce_size(numbers, axis)
        result = RaggedTensor(result, RowPartition(_steps(rows, length)), internal=True)
    return result


def reduce_size(numbers: Any, axis: int) -> Any:
    """Return the number of elements of the axes before `axis`."""
    return reduce_prod(shape_of(numbers)[:axis])


def _steps(rows: Any, length: Any) -> Any:
    return in_dtype(counted(rows + 1), length.dtype) * length


def _along(params: Any, indices: Any, axis: int) -> Any:
    """Return slices along an inner axis, with the same indices in every row."""
    if not isinstance(params, RaggedTensor):
        if isinstance(indices, RaggedTensor):
            return _dense_along(params, indices, axis)
        return dense_gather(params, indices, axis=axis)
    if axis > 1:
        return params.with_values(_along(params.values, indices, axis - 1))
    if isinstance(indices, RaggedTensor):
        raise ValueError("ragged indices along an inner axis need batch_dims")
    numbers = _numbers(indices)
    kind = params.row_splits.dtype
    flat = in_dtype(reshape(numbers, [-1]), kind)
    lengths = expand_dims(params.row_lengths(), 1)
    inside = logical_and(greater_equal(flat, 0), less(expand_dims(flat, 0), lengths))
    expect(reduce_all(inside), "indices must be inside every row:", [numbers, params.row_lengths()])
    whole = expand_dims(params.row_starts(), 1) + expand_dims(flat, 0)
    picked = picked_values(params.values, reshape(whole, [-1]))
    shape = concat([shape_of(whole)[:1], shape_of(numbers)], 0)
    if not isinstance(picked, RaggedTensor):
        return reshape(picked, concat([shape, shape_of(picked)[1:]], 0))
    result: Any = picked
    for dim in range(numbers.shape.rank - 1, -1, -1):
        known = numbers.shape[dim]
        length = in_dtype(shape_of(numbers)[dim] if known is None else known, kind)
        rows = reduce_prod(shape[: dim + 1])
        result = RaggedTensor(result, RowPartition(_steps(rows, length)), internal=True)
    return result


def _dense_along(params: Any, indices: RaggedTensor, axis: int) -> Any:
    """Return slices of a dense tensor along an inner axis: a ragged axis within `axis` uniform ones."""
    shape = shape_of(params, indices.row_splits.dtype)
    outer = reduce_prod(shape[:axis])
    rows = reshape(params, concat([[outer * shape[axis]], shape[axis + 1 :]], 0))
    numbers = indices.with_flat_values(in_dtype(indices.flat_values, shape.dtype))
    expect(
        reduce_all(
            logical_and(greater_equal(numbers.flat_values, 0), less(numbers.flat_values, shape[axis]))
        ),
        "indices must be inside the axis:",
        [numbers.flat_values],
    )
    rank = numbers.shape.rank or numbers.ragged_rank + 1
    starts = reshape(counted(outer) * shape[axis], concat([[outer], [1] * rank], 0))
    result = gather(rows, starts + expand_ragged_dims(numbers, 0))
    for each in range(axis - 1, 0, -1):
        result = RaggedTensor(
            result, RowPartition(_steps(reduce_prod(shape[:each]), shape[each])), internal=True
        )
    return result


def _in_batches(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Gather with a batch axis: every row of indices selects from its own row of `params`."""
    rows, numbers = _with_rows(params), _with_rows(indices)
    counts = [rows.nrows(), numbers.nrows()]
    expect(equal(*counts), "params and indices must have as many rows:", counts)
    if batch_dims > 1:
        expect(reduce_all(equal(rows.row_splits, numbers.row_splits)), "batch dimensions differ:")
        return numbers.with_values(_in_batches(rows.values, numbers.values, axis - 1, batch_dims - 1))
    if axis > 1:
        raise ValueError(f"axis={axis} with batch_dims={batch_dims} is not supported for ragged tensors")
    flat, ids = numbers.flat_values, _outer_ids(numbers)
    kind = rows.row_splits.dtype
    local = in_dtype(flat, kind)
    inside = logical_and(greater_equal(local, 0), less(local, dense_gather(rows.row_lengths(), ids)))
    expect(reduce_all(inside), "indices must be inside their rows:", [flat])
    positions = dense_gather(rows.row_starts(), ids) + local
    picked = picked_values(rows.values, positions)
    if isinstance(indices, RaggedTensor) or isinstance(picked, RaggedTensor):
        return numbers.with_flat_values(picked)
    return reshape(picked, concat([shape_of(indices), shape_of(picked)[1:]], 0))


def _with_rows(value: Any) -> RaggedTensor:
    """Return a value with row partitions for all axes but the last."""
    if isinstance(value, RaggedTensor):
        return value
    tensor = convert_to_tensor(value)
    return from_tensor(tensor, None, None, max((tensor.shape.rank or 2) - 1, 1), dtypes.int64)


def _outer_ids(ragged: RaggedTensor) -> Any:
    """Return the outermost row id of each flat value."""
    first, *others = ragged.nested_value_rowids()
    ids = first
    for inner in others:
        ids = dense_gather(ids, inner)
    return ids


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Any:
    """Return the slices of `params` at coordinates, which are the last axis of `indices`."""
    if batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if isinstance(indices, RaggedTensor):
        if indices.shape.rank == indices.ragged_rank + 1:
            indices = _with_uniform_columns(indices)
            if not isinstance(indices, RaggedTensor):
                return gather_nd(params, indices)
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    if not isinstance(params, RaggedTensor):
        return gather_ops.gather_nd(params, indices)
    numbers = _numbers(indices)
    depth, rank = numbers.shape[-1], numbers.shape.rank
    if depth is None or rank is None:
        raise ValueError("the last dimension of indices must be known")
    flat = reshape(numbers, [-1, depth])
    picked = _at(params, flat, depth)
    if rank == 1:
        return picked[0]
    if rank == 2:
        return picked
    if isinstance(picked, RaggedTensor):
        for axis in range(rank - 2, 0, -1):
            length = in_dtype(shape_of(numbers)[axis], params.row_splits.dtype)
            picked = RaggedTensor(
                picked, RowPartition(_steps(reduce_size(numbers, axis), length)), internal=True
            )
        return picked
    return reshape(picked, concat([shape_of(numbers)[:-1], shape_of(picked)[1:]], 0))


def _with_uniform_columns(indices: RaggedTensor) -> Any:
    """Return ragged coordinates of one size with a uniform last axis."""
    if indices.ragged_rank > 1:
        return indices.with_values(_with_uniform_columns(indices.values))
    return indices.to_tensor()


def _at(params: Any, numbers: Any, depth: int) -> Any:
    """Return the slices at the coordinates in the rows of a matrix."""
    if not isinstance(params, RaggedTensor):
        return gather_ops.gather_nd(params, numbers)
    kind = params.row_splits.dtype
    row = in_dtype(numbers[:, 0], kind)
    inside = logical_and(greater_equal(row, 0), less(row, params.nrows()))
    expect(reduce_all(inside), "indices must be numbers of rows:", [row])
    if depth == 1:
        return picked_rows(params, row)
    column = in_dtype(numbers[:, 1], kind)
    fits = logical_and(greater_equal(column, 0), less(column, dense_gather(params.row_lengths(), row)))
    expect(reduce_all(fits), "indices must be inside their rows:", [column])
    inner = dense_gather(params.row_starts(), row) + column
    rest = concat([expand_dims(inner, 1), in_dtype(numbers[:, 2:], kind)], 1)
    return _at(params.values, rest, depth - 1)


@export("ragged.boolean_mask")
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """Return the items of `data` for which `mask` is true, in rows like those of the mask.

    Args:
        data: a ragged or dense tensor.
        mask: bools of a known rank; its shape is a prefix of the shape of `data`.

    Raises TypeError for a mask that is not bool, ValueError for one whose shape does not fit, InvalidArgumentError
    for rows that differ from those of `data`.

    >>> boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    kept = mask if isinstance(mask, RaggedTensor) else convert_to_tensor(mask, dtypes.bool_)
    given = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    if not kept.dtype.is_bool:
        raise TypeError(f"Argument `mask` must have dtype bool, not {kept.dtype.name}")
    rank = kept.shape.rank
    if rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    return _masked(given, kept, rank)


def _masked(data: Any, mask: Any, rank: int) -> Any:
    if rank == 1:
        if not isinstance(data, RaggedTensor):
            return where_ops.boolean_mask(data, mask)
        known = data._row_partition.static_nrows, mask.shape[0]
        if None not in known and known[0] != known[1]:
            raise ValueError(f"Shapes ({known[0]},) and ({known[1]},) are incompatible")
        return picked_rows(data, reshape(where_ops.where(mask), [-1]))
    rows = mask if isinstance(mask, RaggedTensor) else from_tensor(mask, None, None, rank - 1, _kind(data))
    if not isinstance(data, RaggedTensor):
        data = from_tensor(data, None, None, rows.ragged_rank, rows.row_splits.dtype)
    elif data.ragged_rank < rows.ragged_rank:
        data, _ = aligned([data, data], rows.ragged_rank)
    one, other = (
        RaggedTensor(value.value_rowids(), value._row_partition, internal=True) for value in (data, rows)
    )
    check_same_rows(one, other)
    values = _masked(data.values, rows.values, rank - 1)
    if rank > 2:
        return RaggedTensor(values, RowPartition(data.row_splits), internal=True)
    kind = data.row_splits.dtype
    lengths = unsorted_segment_sum(in_dtype(rows.values, kind), rows.value_rowids(), rows.nrows())
    return RaggedTensor(values, RowPartition.from_row_lengths(lengths), internal=True)


def _kind(value: Any) -> dtypes.DType:
    return value.row_splits.dtype if isinstance(value, RaggedTensor) else dtypes.int64


def true_places(condition: Any, name: str | None = None) -> Any:
    """Return the coordinates of true elements."""
    flat = condition.flat_values
    if flat.shape.rank != 1:
        raise ValueError(
            "tf.where of a ragged condition needs a ragged last axis: use to_tensor() or merge_dims()"
        )
    coordinates = ragged_coordinates(list(condition.nested_row_splits))
    return where_ops.boolean_mask(coordinates, flat)


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Any]:
    """Return one tensor per partition number with the rows of that partition."""
    if not isinstance(data, RaggedTensor) or isinstance(partitions, RaggedTensor):
        raise ValueError("ragged partitions are supported by tf.ragged.stack_dynamic_partitions only")
    numbers = dense_partition(counted(data.nrows()), partitions, num_partitions)
    return [picked_rows(data, number) for number in numbers]


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """Return one row per partition with the items of `data` in that partition, in the order of the partitions.

    Raises InvalidArgumentError for partition numbers that are not below `num_partitions`.

    >>> stack_dynamic_partitions(["a", "b", "c"], [0, 2, 0], 3)
    <tf.RaggedTensor [[b'a', b'c'], [], [b'b']]>
    """
    given = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    numbers = partitions if isinstance(partitions, RaggedTensor) else convert_to_tensor(partitions)
    depth = numbers.shape.rank
    if depth is None:
        raise ValueError("partitions must have known rank")
    if depth == 0:
        raise ValueError("partitions must not be a scalar: use expand_dims")
    if depth > 1:
        given, numbers = (merge_dims(one, 0, depth - 1) for one in (given, numbers))
    order = argsort(numbers, stable=True)
    ids = dense_gather(numbers, order)
    inside = logical_and(greater_equal(ids, 0), less(ids, in_dtype(num_partitions, ids.dtype)))
    expect(reduce_all(inside), "partitions must be below num_partitions:", [numbers])
    rows = RowPartition.from_value_rowids(ids, num_partitions)
    values = picked_rows(given, order) if isinstance(given, RaggedTensor) else dense_gather(given, order)
    if isinstance(values, RaggedTensor):
        rows = rows.with_dtype(values.row_splits.dtype)
    return RaggedTensor(values, rows, internal=True)


OPERATIONS: Mapping[Any, Callable[..., Any]] = {
    gather_ops.take: gather,
    gather_ops.gather_nd: gather_nd,
    where_ops.true_indices: true_places,
    dense_partition: dynamic_partition,
}
