"""Reductions of sparse tensors: sums, maxima, counts, and segment sums."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.creation import fill, ones_like
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.scatter import scatter_nd, tensor_scatter_nd_max
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.shape_ops import size as size_of
from ..ops.arrays.sparse_indices import distinct_coordinates
from ..ops.arrays.tile_and_repeat import repeat
from ..ops.arrays.where_ops import boolean_mask
from ..ops.framework.attribute_parsers import read_axes
from ..ops.math.arithmetic import divide_no_nan, maximum, minimum
from ..ops.math.cast import cast
from ..ops.math.comparison import greater_equal, less, less_equal, logical_and
from ..ops.math.elementwise import sqrt
from ..ops.reduce.reductions import reduce_all
from ..ops.reduce.reductions import reduce_max as largest_of
from .checks import expect, sparse_only
from .dense_conversion import to_dense
from .tensor import SparseTensor


@export("sparse.reduce_sum")
def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the sum along axes, or along all if `axis` is None: dense, or sparse with `output_is_sparse`.

    >>> reduce_sum(SparseTensor([[0, 0], [0, 2]], [1, 2], [2, 3]), axis=1).numpy().tolist()
    [3, 0]
    """
    sparse = sparse_only(sp_input)
    rows, row, shape = _grouped(sparse, axis, bool(keepdims))
    sums = scatter_nd(expand_dims(row, 1), sparse.values, expand_dims(shape_of(rows)[0], 0))
    return _result(rows, sums, shape, output_is_sparse)


@export("sparse.reduce_max")
def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the largest stored element along axes; 0 in a dense result without one.

    >>> reduce_max(SparseTensor([[0, 0], [0, 2]], [-1, -2], [2, 3]), axis=1).numpy().tolist()
    [-1, 0]
    """
    sparse = sparse_only(sp_input)
    rows, row, shape = _grouped(sparse, axis, bool(keepdims))
    lowest = fill(expand_dims(shape_of(rows)[0], 0), cast(sparse.dtype.min, sparse.dtype))
    largest = tensor_scatter_nd_max(lowest, expand_dims(row, 1), sparse.values)
    return _result(rows, largest, shape, output_is_sparse)


def _grouped(sparse: SparseTensor, axis: Any, keepdims: bool) -> tuple[Any, Any, Any]:
    """Return the coordinates of the groups, the group of each element, and the shape of the result."""
    rank = sparse.shape.rank
    if rank is None:
        raise ValueError("a reduction of a sparse tensor needs a known rank: set it with `set_shape`")
    axes = read_axes(axis)
    gone = set(range(rank)) if axes is None else {shapes.normal_axis(one, rank) for one in axes}
    kept = convert_to_tensor([one for one in range(rank) if one not in gone], dtypes.int32)
    coordinates, shape = gather(sparse.indices, kept, axis=1), gather(sparse.dense_shape, kept)
    if keepdims:
        stays = convert_to_tensor([0 if one in gone else 1 for one in range(rank)], dtypes.int64)
        coordinates, shape = sparse.indices * stays, sparse.dense_shape * stays + (1 - stays)
    rows, row = distinct_coordinates(coordinates)
    return rows, row, shape


def _result(rows: Any, values: Any, shape: Any, is_sparse: bool) -> Any:
    if is_sparse:
        return SparseTensor(rows, values, shape)
    if rows.shape[1] == 0:  # one number: of one group, or of none
        return scatter_nd(fill([size_of(values), 1], 0), values, [1])[0]
    return scatter_nd(rows, values, shape)


@export("sparse.bincount")
def bincount(
    values: Any, weights: Any = None, axis: int | None = 0, minlength: Any = None, maxlength: Any = None,
    binary_output: bool = False, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Count each number, or sum its weights, as a sparse tensor.

    Args:
        values: non-negative integers: a tensor, a sparse or a ragged one.
        weights: of the same shape; their sums replace the counts.
        axis: 0 for one row of counts, -1 for one for each row of a matrix.
        minlength: the minimum size of the result's last axis.
        maxlength: the size of that axis, which replaces `minlength`; numbers from it on are ignored.
        binary_output: 1 instead of each count.

    >>> counts = bincount([[1, 1, 2]], axis=-1)
    >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
    ([[0, 1], [0, 2]], [2, 1])
    """
    if axis not in (0, -1):
        raise ValueError(f"Unsupported axis value {axis}. Only 0 and -1 are supported.")
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive")
    return _counted(values, weights, axis == -1, minlength, maxlength, binary_output, is_sparse=True)


def _counted(
    values: Any,
    weights: Any,
    by_row: bool,
    minlength: Any,
    maxlength: Any,
    binary_output: bool,
    is_sparse: bool,
) -> SparseTensor:
    """Compute `bincount`; a sparse result of no numbers has one column, and its `maxlength` is its width."""
    numbers, row, rows = _numbers(values, by_row)
    flat = None if weights is None else _flat(weights)
    nothing = convert_to_tensor([0 if is_sparse else -1], dtypes.int64)
    width = largest_of(concat([numbers, nothing], 0)) + 1
    if maxlength is not None:
        limit = cast(maxlength, dtypes.int64)
        width, kept = limit if is_sparse else minimum(width, limit), less(numbers, limit)
        numbers, row = boolean_mask(numbers, kept), None if row is None else boolean_mask(row, kept)
        flat = None if flat is None else boolean_mask(flat, kept)
    if minlength is not None and not (is_sparse and maxlength is not None):
        width = maximum(width, cast(minlength, dtypes.int64))
    expect(reduce_all(less_equal(0, numbers)), "Input must be non-negative")
    if flat is None:
        flat = fill(shape_of(numbers), 1)
    columns = [numbers] if row is None else [row, numbers]
    coordinates, group = distinct_coordinates(stack(columns, 1))
    counts = scatter_nd(expand_dims(group, 1), flat, expand_dims(shape_of(coordinates)[0], 0))
    counts = ones_like(counts) if binary_output else counts
    return SparseTensor(coordinates, counts, stack([width] if row is None else [rows, width]))


def dense_bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None, axis: int | None = None, binary_output: bool = False,
) -> Any:  # fmt: skip
    """Count each number of a sparse or ragged tensor, in all rows together or in each row (`axis=-1`).

    >>> dense_bincount(SparseTensor([[0, 1]], [2], [1, 3])).numpy().tolist()
    [0, 0, 1]
    """
    kind = dtype if weights is None else weights.dtype
    if minlength is not None and maxlength is not None:
        minlength = minimum(minlength, maxlength)
    counts = _counted(arr, weights, axis == -1, minlength, maxlength, binary_output, is_sparse=False)
    return cast(to_dense(counts), kind)


def _numbers(values: Any, by_row: bool) -> tuple[Any, Any, Any]:
    """Return the elements in one vector; with `by_row`, the row of each and the number of rows, unless it is one."""
    if isinstance(values, SparseTensor):
        by_row = by_row and values.shape.rank != 1
        return _as_number(values.values), values.indices[:, 0] if by_row else None, values.dense_shape[0]
    if hasattr(values, "value_rowids"):
        rows = cast(values.nrows(), dtypes.int64)
        return (
            _as_number(values.flat_values),
            cast(values.value_rowids(), dtypes.int64) if by_row else None,
            rows,
        )
    dense = convert_to_tensor(values)
    if not by_row or dense.shape.rank == 1:
        return _as_number(reshape(dense, [-1])), None, None
    sizes = cast(shape_of(dense), dtypes.int64)
    return _as_number(reshape(dense, [-1])), repeat(counted(sizes[0]), sizes[1]), sizes[0]


def _flat(weights: Any) -> Any:
    if isinstance(weights, SparseTensor):
        return weights.values
    return weights.flat_values if hasattr(weights, "flat_values") else reshape(weights, [-1])


def _as_number(values: Any) -> Any:
    """Return the numbers to count as int64; TypeError for other dtypes than integers."""
    if not values.dtype.is_integer:
        raise TypeError(f"bincount counts integers, not {values.dtype.name}")
    return cast(values, dtypes.int64)


@export("sparse.segment_sum")
def segment_sum(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return for each segment the sum of the rows of `data` selected by `indices`.

    Args:
        data: a tensor.
        indices: a vector of row numbers.
        segment_ids: as long as `indices`, in increasing order: the segment of each selected row.
        num_segments: the number of rows of the result; one more than the last segment when it is None.
        sparse_gradient: accepted for compatibility.

    Raises InvalidArgumentError for segment ids that decrease or are too large, and for row indices out of range.

    >>> segment_sum([[1, 2], [3, 4], [5, 6]], [0, 1, 2], [0, 0, 1]).numpy().tolist()
    [[4, 6], [5, 6]]
    """
    return _segments(data, indices, segment_ids, num_segments)[0]  # type: ignore[no-any-return]


@export("sparse.segment_mean")
def segment_mean(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return `segment_sum` divided by the number of rows; 0 for a segment without rows. Arguments are as there.

    >>> segment_mean([[1.0], [3.0], [5.0]], [0, 1, 2], [0, 0, 1]).numpy().tolist()
    [[2.0], [5.0]]
    """
    sums, counts = _segments(data, indices, segment_ids, num_segments)
    return divide_no_nan(sums, counts)  # type: ignore[no-any-return]


@export("sparse.segment_sqrt_n")
def segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return `segment_sum` divided by the square root of the number of rows; 0 for a segment without rows.

    The arguments are those of `segment_sum`.

    >>> segment_sqrt_n([[2.0]] * 4, [0, 1, 2, 3], [0, 0, 0, 0]).numpy().tolist()
    [[4.0]]
    """
    sums, counts = _segments(data, indices, segment_ids, num_segments)
    return divide_no_nan(sums, sqrt(counts))  # type: ignore[no-any-return]


def _segments(data: Any, indices: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    """Return the sums, and the number of rows of each, in a shape for division."""
    rows, picked = convert_to_tensor(data), convert_to_tensor(indices)
    segments = cast(segment_ids, dtypes.int64)
    expect(reduce_all(size_of(picked) == size_of(segments)), "segment_ids and indices should have same size.")
    expect(reduce_all(greater_equal(segments[1:], segments[:-1])), "segment ids are not increasing")
    last = largest_of(concat([segments, convert_to_tensor([-1], dtypes.int64)], 0))
    count = last + 1 if num_segments is None else cast(num_segments, dtypes.int64)
    expect(logical_and(less(last, count), True), "segment ids must be < num_segments")
    chosen = gather(rows, picked)
    shape = concat([expand_dims(count, 0), cast(shape_of(rows)[1:], dtypes.int64)], 0)
    positions = expand_dims(segments, 1)
    sums = scatter_nd(positions, chosen, shape)
    counts = scatter_nd(positions, fill(shape_of(segments), cast(1, rows.dtype)), expand_dims(count, 0))
    rank = rows.shape.rank
    inner = size_of(shape_of(rows)) - 1 if rank is None else rank - 1
    return sums, reshape(counts, concat([[-1], fill(expand_dims(inner, 0), 1)], 0))
