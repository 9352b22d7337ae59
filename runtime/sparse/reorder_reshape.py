"""Operations that move the elements of sparse tensors: reorder, transpose, reshape, slice, concat."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat as join
from ..ops.arrays.concat_split import stack
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import expand_dims as with_axis
from ..ops.arrays.reverse_and_roll import reverse
from ..ops.arrays.shape_ops import size as size_of
from ..ops.arrays.sparse_indices import coordinate_order, coordinates_of_all_rows, reshaped_coordinates
from ..ops.arrays.where_ops import boolean_mask
from ..ops.framework.static_values import of_tensor
from ..ops.math.arithmetic import maximum, minimum
from ..ops.math.cast import cast
from ..ops.math.comparison import less, less_equal, logical_and
from ..ops.reduce.reductions import reduce_all, reduce_max
from .checks import expect, sparse_only
from .tensor import SparseTensor


def _made(indices: Any, values: Any, dense_shape: Any, static: Any) -> SparseTensor:
    made = SparseTensor(indices, values, dense_shape)
    if static is not None:
        made.set_shape(static)
    return made


@export("sparse.reorder")
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the same tensor with its elements in row-major order.

    >>> reorder(SparseTensor([[1, 0], [0, 1]], ["b", "a"], [2, 2])).values.numpy().tolist()
    [b'a', b'b']
    """
    sparse = sparse_only(sp_input)
    order = coordinate_order(sparse.indices)
    return _made(
        gather(sparse.indices, order), gather(sparse.values, order), sparse.dense_shape, sparse.shape
    )


@export("sparse.transpose")
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Permute the axes: axis i of the result is axis `perm[i]` of the input; without `perm` the axes are reversed.

    >>> transpose(SparseTensor([[0, 1]], [5], [2, 3])).dense_shape.numpy().tolist()
    [3, 2]
    """
    sparse = sparse_only(sp_input)
    if perm is None:
        rank = sparse.shape.rank
        perm = reverse(counted(size_of(sparse.dense_shape)), [0]) if rank is None else list(range(rank))[::-1]
    order = convert_to_tensor(perm)
    known, shape = of_tensor(order), sparse.shape
    static = None
    if shape.rank is not None and known is not None and None not in known:
        static = [shape[axis] for axis in known]
    moved = _made(
        gather(sparse.indices, order, axis=1), sparse.values, gather(sparse.dense_shape, order), static
    )
    return reorder(moved)


@export("sparse.reshape")
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """Return the same elements, in row-major order, in another shape, in which one size may be -1.

    Raises InvalidArgumentError when the number of elements differs.

    >>> reshape(SparseTensor([[1, 1]], [5], [2, 3]), [-1]).indices.numpy().tolist()
    [[4]]
    """
    sparse = sparse_only(sp_input)
    wanted = cast(shape, dtypes.int64)
    indices, dense_shape = reshaped_coordinates(sparse.indices, sparse.dense_shape, wanted)
    known = of_tensor(wanted)
    static = None if known is None else [_size(size, known, sparse.shape) for size in known]
    return _made(indices, sparse.values, dense_shape, static)


def _size(size: int | None, wanted: Sequence[int | None], old: shapes.TensorShape) -> int | None:
    """Return a size of the new shape, if it is known; -1 is computed from the number of elements."""
    if size != -1:
        return size
    total, others = old.num_elements(), shapes.num_elements(tuple(one for one in wanted if one != -1))
    return total // others if total is not None and others else None


@export("sparse.reset_shape")
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Return the same elements in a larger shape; without `new_shape`, in the smallest shape that contains them.

    Raises ValueError (InvalidArgumentError when the graph runs) for a shape of another rank, or a smaller one.

    >>> reset_shape(SparseTensor([[0, 1]], [5], [4, 4])).dense_shape.numpy().tolist()
    [1, 2]
    """
    sparse = sparse_only(sp_input)
    if new_shape is None:
        none = cast(sparse.dense_shape * 0 - 1, dtypes.int64)
        tight = reduce_max(join([sparse.indices, with_axis(none, 0)], 0), 0) + 1
        return SparseTensor(sparse.indices, sparse.values, tight)
    wanted = convert_to_tensor(new_shape, dtypes.int64)
    ranks = {sparse.shape.rank, wanted.shape[0]} - {None}
    if len(ranks) > 1:
        raise ValueError(f"Dimensions {wanted.shape[0]} and {sparse.shape.rank} are not compatible")
    known = of_tensor(wanted)
    if sparse.shape.is_fully_defined() and known is not None and None not in known:
        sizes = sparse.shape.as_list()
        if any(new < old for new, old in zip(known, sizes, strict=True)):  # type: ignore[operator]
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                f"({list(known)}), sp_input.shape ({sizes})."
            )
    else:
        expect(
            reduce_all(less_equal(sparse.dense_shape, wanted)),
            "Requested new_shape should have dimension sizes >= sp_input.shape.",
            [sparse.dense_shape, wanted],
        )
    return SparseTensor(sparse.indices, sparse.values, wanted)


@export("sparse.expand_dims")
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """Insert an axis of size 1 before `axis` (the last one when it is None).

    >>> expand_dims(SparseTensor([[1]], [5], [3]), 0).indices.numpy().tolist()
    [[0, 1]]
    """
    sparse = sparse_only(sp_input)
    rank = sparse.shape.rank
    dim = -1 if axis is None else operator.index(axis)
    if rank is None:
        raise ValueError("expand_dims of a sparse tensor needs a known rank: set it with `set_shape`")
    if not -rank - 1 <= dim <= rank:
        expect(False, f"axis {dim} not in [{-rank - 1}, {rank}]")
    dim += rank + 1 if dim < 0 else 0
    zeros = with_axis(counted(size_of(sparse.values, dtypes.int64)) * 0, 1)
    indices = join([sparse.indices[:, :dim], zeros, sparse.indices[:, dim:]], 1)
    one = convert_to_tensor([1], dtypes.int64)
    shape = join([sparse.dense_shape[:dim], one, sparse.dense_shape[dim:]], 0)
    return _made(indices, sparse.values, shape, [*sparse.shape[:dim], 1, *sparse.shape[dim:]])


@export("sparse.retain")
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Return only the elements for which `to_retain` is true.

    >>> retain(SparseTensor([[0], [1]], [5, 6], [3]), [False, True]).values.numpy().tolist()
    [6]
    """
    sparse, kept = sparse_only(sp_input), convert_to_tensor(to_retain)
    count, given = sparse.values.shape[0], kept.shape[0] if kept.shape.rank else None
    if None not in (count, given) and count != given:
        raise ValueError(f"Dimensions {count} and {given} are not compatible")
    indices, values = boolean_mask(sparse.indices, kept), boolean_mask(sparse.values, kept)
    return _made(indices, values, sparse.dense_shape, sparse.shape)


@export("sparse.slice")
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Return the block of shape `size` that begins at `start`, clipped to the tensor.

    >>> slice(SparseTensor([[0, 1], [1, 1]], [5, 6], [2, 3]), [1, 0], [1, 9]).dense_shape.numpy().tolist()
    [1, 3]
    """
    sparse = sparse_only(sp_input)
    first, sizes = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    end = minimum(first + sizes, sparse.dense_shape)
    inside = logical_and(less_equal(first, sparse.indices), less(sparse.indices, end))
    kept = reduce_all(inside, 1)
    shape = maximum(end - first, 0)
    return SparseTensor(boolean_mask(sparse.indices, kept) - first, boolean_mask(sparse.values, kept), shape)


@export("sparse.split")
def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """Return `num_split` parts along an axis; the first ones are longer by one if the size is not a multiple.

    >>> [part.dense_shape.numpy().tolist() for part in split(SparseTensor([[1]], [5], [3]), 2, 0)]
    [[2], [1]]
    """
    if num_split is None:
        raise ValueError("num_split is required")
    if axis is None:
        raise ValueError("axis is required")
    sparse = sparse_only(sp_input)
    rank = sparse.shape.rank
    if rank is None:
        raise ValueError("split of a sparse tensor needs a known rank: set it with `set_shape`")
    dim, count = shapes.normal_axis(int(axis), rank), int(num_split)
    length = sparse.dense_shape[dim]
    expect(
        logical_and(less_equal(1, count), less_equal(cast(count, dtypes.int64), length)),
        f"Input num_split should be between 1 and the splitting dimension size, got {count}:",
        [length],
    )
    base, longer = length // count, length % count
    return [_part(sparse, dim, number, base, longer) for number in range(count)]


def _part(sparse: SparseTensor, axis: int, number: int, base: Any, longer: Any) -> SparseTensor:
    start = number * base + minimum(cast(number, dtypes.int64), longer)
    size = base + cast(less(cast(number, dtypes.int64), longer), dtypes.int64)
    zero = sparse.dense_shape * 0
    first = join([zero[:axis], with_axis(start, 0), zero[axis + 1 :]], 0)
    sizes = join([sparse.dense_shape[:axis], with_axis(size, 0), sparse.dense_shape[axis + 1 :]], 0)
    part = slice(sparse, first, sizes)
    part.set_shape([*sparse.shape[:axis], None, *sparse.shape[axis + 1 :]])
    return part


@export("sparse.concat")
def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Concatenate sparse tensors along an axis; with `expand_nonconcat_dims`, other axes take the largest size.

    Raises InvalidArgumentError (ValueError in a graph) for incompatible shapes.

    >>> both = SparseTensor([[0]], [5], [2])
    >>> concat(0, [both, both]).indices.numpy().tolist()
    [[0], [2]]
    """
    parts = [sparse_only(one) for one in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    rank = next((part.shape.rank for part in parts if part.shape.rank is not None), None)
    if rank is None:
        raise ValueError("concat of sparse tensors needs a known rank: set it with `set_shape`")
    dim = shapes.normal_axis(int(axis), rank)
    sizes = stack([part.dense_shape for part in parts])
    largest = reduce_max(sizes, 0)
    if not expand_nonconcat_dims:
        _check_sizes(parts, dim)
    lengths = sizes[:, dim]
    total, moved = lengths[0], [parts[0].indices]
    for number, part in enumerate(parts[1:], 1):
        moved.append(_shifted(part.indices, dim, total))
        total = total + lengths[number]
    shape = join([largest[:dim], with_axis(total, 0), largest[dim + 1 :]], 0)
    whole = SparseTensor(join(moved, 0), join([part.values for part in parts], 0), shape)
    return reorder(whole)


def _shifted(indices: Tensor, axis: int, distance: Any) -> Tensor:
    columns = [indices[:, :axis], indices[:, axis : axis + 1] + distance, indices[:, axis + 1 :]]
    result: Tensor = join(columns, 1)
    return result


def _check_sizes(parts: Sequence[SparseTensor], axis: int) -> None:
    first = parts[0]
    for number, part in enumerate(parts[1:], 1):
        for other in range(first.shape.rank or 0):
            if other != axis:
                expect(
                    first.dense_shape[other] == part.dense_shape[other],
                    f"Input shapes must match for dimension {other} at position {number}:",
                    [first.dense_shape, part.dense_shape],
                )


@export("sparse.fill_empty_rows")
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Return the tensor with `default_value` at the beginning of each empty row, and a vector that marks these rows.

    >>> filled, was_empty = fill_empty_rows(SparseTensor([[1, 1]], [5], [2, 2]), 9)
    >>> filled.values.numpy().tolist(), was_empty.numpy().tolist()
    ([9, 5], [True, False])
    """
    sparse = sparse_only(sp_input)
    default = convert_to_tensor(default_value, sparse.dtype)
    indices, positions, was_empty = coordinates_of_all_rows(sparse.indices, sparse.dense_shape)
    values = gather(join([sparse.values, with_axis(default, 0)], 0), positions)
    return _made(indices, values, sparse.dense_shape, sparse.shape), was_empty
