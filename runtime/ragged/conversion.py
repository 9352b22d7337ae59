"""Conversion between ragged, dense and sparse tensors."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.creation import fill, zeros
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import broadcast_to, ensure_shape, expand_dims, reshape
from ..ops.arrays.scatter import tensor_scatter_nd_update
from ..ops.arrays.sequence_lengths import sequence_mask
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.tile_and_repeat import repeat, tile
from ..ops.arrays.where_ops import boolean_mask, where
from ..ops.math.arithmetic import maximum, minimum
from ..ops.math.comparison import equal, less, less_equal
from ..ops.ragged.row_splits import ragged_coordinates
from ..ops.reduce.reductions import reduce_all, reduce_max, reduce_prod
from ..sparse.checks import expect
from ..sparse.tensor import SparseTensor
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor


def bounding_shape(ragged: RaggedTensor, axis: Any, out_type: Any) -> Tensor:
    """Implement `RaggedTensor.bounding_shape`."""
    kind = dtypes.as_dtype(out_type or ragged.row_splits.dtype)
    sizes = [ragged.nrows()]
    for rows in ragged._partitions:
        longest = concat([rows.row_lengths(), in_dtype([0], rows.dtype)], 0)
        uniform = rows.uniform_row_length()
        sizes.append(reduce_max(longest) if uniform is None else uniform)
    inner = in_dtype(shape_of(ragged.flat_values)[1:], kind)
    whole = concat([in_dtype(stack(sizes), kind), inner], 0)
    return whole if axis is None else gather(whole, axis)  # type: ignore[no-any-return]


def to_tensor(ragged: RaggedTensor, default_value: Any, shape: Any) -> Tensor:
    """Implement `RaggedTensor.to_tensor`."""
    flat, depth = ragged.flat_values, ragged.ragged_rank
    if default_value is None:
        default_value = "" if flat.dtype is dtypes.string else zeros([], flat.dtype)
    default = convert_to_tensor(default_value, None if isinstance(default_value, Tensor) else flat.dtype)
    bounds = in_dtype(bounding_shape(ragged, None, None), dtypes.int64)
    sizes, static = bounds, _static_bounds(ragged)
    if shape is not None:
        sizes, static = _wanted_sizes(bounds, shape, static)
    outer, inner = sizes[: depth + 1], sizes[depth + 1 :]
    coordinates = ragged_coordinates(list(ragged.nested_row_splits))
    values = flat
    if shape is not None:
        fits = reduce_all(less(coordinates, outer), 1)
        coordinates, values = boolean_mask(coordinates, fits), boolean_mask(flat, fits)
    rank_inner = None if flat.shape.rank is None else flat.shape.rank - 1
    if default.shape.rank and rank_inner is not None and default.shape.rank > rank_inner:
        shapes = f"default_value.shape={default.shape} and rt_input.flat_values.shape={flat.shape}"
        expect(False, f"{shapes} are incompatible")
    blank = broadcast_to(default, concat([fill(shape_of(outer), in_dtype(1, dtypes.int64)), inner], 0))
    dense: Tensor = tensor_scatter_nd_update(broadcast_to(blank, sizes), coordinates, values)
    if static is not None:
        dense = ensure_shape(dense, static)
    return dense


def _static_bounds(ragged: RaggedTensor) -> list[int | None] | None:
    return None if ragged.shape.rank is None else ragged.shape.as_list()


def _wanted_sizes(bounds: Any, shape: Any, static: Any) -> tuple[Any, Any]:
    """Return the bounding shape, overridden by the sizes that the user gave."""
    if isinstance(shape, Tensor):
        wanted = in_dtype(shape, dtypes.int64)
        expect(reduce_all(less_equal(-1, wanted)), "shape must have sizes from -1 on")
        return where(less(wanted, 0), bounds, wanted), None
    given = list(getattr(shape, "sizes", None) or shape)
    if static is not None and len(given) != len(static):
        expect(False, f"shape must have {len(static)} sizes, not {len(given)}")
    known = [None if size is None else int(size) for size in given]
    for size in known:
        if size is not None and size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    sizes = [bounds[i] if size is None else in_dtype(size, dtypes.int64) for i, size in enumerate(known)]
    return stack(sizes), known


def from_tensor(
    tensor: Any, lengths: Any, padding: Any, ragged_rank: int, row_splits_dtype: Any
) -> RaggedTensor:
    """Implement `RaggedTensor.from_tensor`."""
    kind = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank!r}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    dense = convert_to_tensor(tensor)
    rank = dense.shape.rank
    if rank is not None and rank <= ragged_rank:
        raise ValueError(
            f"The rank of a tensor with ragged_rank={ragged_rank} must be greater than that, but its shape is "
            f"{dense.shape}"
        )
    if _are_nested(lengths):
        return _with_nested_lengths(dense, list(lengths), kind)
    if ragged_rank > 1:
        return _uniform(dense, from_tensor(_merged(dense), lengths, padding, ragged_rank - 1, kind), kind)
    if padding is not None:
        lengths = _lengths_without(dense, convert_to_tensor(padding, dense.dtype), kind)
    if lengths is None:
        return _uniform(dense, _merged(dense), kind)
    return _cut(dense, convert_to_tensor(lengths), kind)


def _are_nested(lengths: Any) -> bool:
    """Return whether there are lengths for several axes."""
    return isinstance(lengths, (list, tuple)) and bool(lengths) and hasattr(lengths[0], "__len__")


def _merged(dense: Tensor) -> Tensor:
    """Return the tensor with its first two axes merged."""
    sizes = shape_of(dense)
    static = dense.shape
    if static.rank is not None and static.is_fully_defined():
        return reshape(dense, [static[0] * static[1], *static[2:]])  # type: ignore[no-any-return]
    return reshape(dense, concat([expand_dims(sizes[0] * sizes[1], 0), sizes[2:]], 0))  # type: ignore[no-any-return]


def _uniform(dense: Tensor, values: Any, kind: dtypes.DType) -> RaggedTensor:
    """Return the values in as many rows as the dense tensor has."""
    known = dense.shape[:2].as_list()
    sizes = in_dtype(shape_of(dense)[:2], kind)
    length = in_dtype(known[1], kind) if known[1] is not None else sizes[1]
    rows = known[0] if known[0] is not None else sizes[0]
    made = RowPartition.from_uniform_row_length(length, None, rows)
    return RaggedTensor(values, made, internal=True)


def _cut(dense: Tensor, lengths: Tensor, kind: dtypes.DType) -> RaggedTensor:
    """Return the rows, each truncated to its length."""
    size = in_dtype(shape_of(dense)[1], kind)
    kept = maximum(minimum(in_dtype(lengths, kind), size), 0)
    values = boolean_mask(dense, sequence_mask(kept, size))
    return RaggedTensor(values, RowPartition.from_row_lengths(kept), internal=True)


def _with_nested_lengths(dense: Tensor, lengths: list[Any], kind: dtypes.DType) -> RaggedTensor:
    """Truncate rows to the first lengths, the rows of those to the second ones, and so on."""
    outer = _cut(dense, convert_to_tensor(lengths[0]), kind)
    if len(lengths) == 1:
        return outer
    inner = _with_nested_lengths(outer.values, lengths[1:], kind)
    return RaggedTensor(inner, outer._row_partition, internal=True)


def _lengths_without(dense: Tensor, padding: Tensor, kind: dtypes.DType) -> Tensor:
    """Return the lengths of the rows without trailing padding."""
    rank, inner = dense.shape.rank, padding.shape.rank
    is_padding = equal(dense, padding)
    if rank is not None and inner is not None and rank > 2:
        is_padding = reduce_all(is_padding, list(range(2, rank)))
    sizes = shape_of(is_padding)
    number = counted(1, sizes[1] + 1)
    ends = in_dtype(~is_padding, number.dtype) * number
    column = zeros([1, 1], number.dtype) + fill(stack([sizes[0], 1]), in_dtype(0, number.dtype))
    return in_dtype(reduce_max(concat([ends, column], 1), 1), kind)


def from_sparse(st_input: Any, row_splits_dtype: Any) -> RaggedTensor:
    """Implement `RaggedTensor.from_sparse`."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}."
        )
    if st_input.shape.rank not in (2, None):
        raise ValueError("rank(st_input) must be 2")
    kind = dtypes.as_dtype(row_splits_dtype)
    rows = in_dtype(st_input.indices[:, 0], kind)
    made = RowPartition.from_value_rowids(rows, in_dtype(st_input.dense_shape[0], kind))
    columns = counted(in_dtype(shape_of(rows)[0], kind)) - gather(made.row_splits(), rows)
    expect(
        reduce_all(equal(in_dtype(st_input.indices[:, 1], kind), columns)), "SparseTensor is not right-ragged"
    )
    return RaggedTensor(st_input.values, made, internal=True)


def to_sparse(ragged: RaggedTensor) -> SparseTensor:
    """Implement `RaggedTensor.to_sparse`."""
    flat = ragged.flat_values
    coordinates = ragged_coordinates(list(ragged.nested_row_splits))
    sizes = shape_of(flat)[1:]
    if flat.shape.rank != 1:
        count = reduce_prod(sizes)
        number = counted(count)
        inner = [number // reduce_prod(sizes[i + 1 :]) % sizes[i] for i in range((flat.shape.rank or 1) - 1)]
        columns = tile(in_dtype(stack(inner, 1), dtypes.int64), stack([shape_of(flat)[0], 1]))
        coordinates = concat([repeat(coordinates, count, axis=0), columns], 1)
        flat = reshape(flat, [-1])
    return SparseTensor(coordinates, flat, in_dtype(bounding_shape(ragged, None, None), dtypes.int64))


def merge_dims(value: Any, outer: int, inner: int) -> Any:
    """Merge the axes from `outer` to `inner` of a ragged or dense tensor."""
    if outer > inner:
        raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})")
    if outer == inner:
        return value
    if not isinstance(value, RaggedTensor):
        sizes = shape_of(value)
        joined = expand_dims(reduce_prod(sizes[outer : inner + 1]), 0)
        return reshape(value, concat([sizes[:outer], joined, sizes[inner + 1 :]], 0))
    if outer > 0:
        return _merged_inside(value, outer, inner)
    return merge_dims(value.values, 0, inner - 1)


def _merged_inside(value: RaggedTensor, outer: int, inner: int) -> Any:
    """Merge axes after the first one."""
    if outer > 1:
        return value.with_values(merge_dims(value.values, outer - 1, inner - 1))
    rows, held = value._row_partition, value.values
    for _ in range(inner - 1):
        if isinstance(held, RaggedTensor):
            limits = gather(held.row_splits, rows.row_splits())
            rows, held = RowPartition(limits), held.values
        else:
            size = in_dtype(shape_of(held)[1], rows.dtype)
            rows, held = RowPartition(rows.row_splits() * size), _merged(held)
    return RaggedTensor(held, rows, internal=True)
