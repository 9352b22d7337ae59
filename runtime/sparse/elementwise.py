"""Elementwise operations on sparse tensors, and the dispatch of TensorFlow's other operations on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from .. import nest as nests
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays import shape_ops
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import fill
from ..ops.arrays.gather_ops import gather, gather_nd
from ..ops.arrays.reshape import expand_dims
from ..ops.arrays.scatter import scatter_nd, tensor_scatter_nd_max
from ..ops.arrays.sparse_indices import distinct_coordinates
from ..ops.arrays.where_ops import boolean_mask
from ..ops.math import arithmetic, cast, elementwise, error_and_gamma, special
from ..ops.math.comparison import equal, greater_equal, not_equal
from ..ops.reduce.bincount import bincount
from ..ops.reduce.reductions import reduce_all, reduce_any, reduce_prod
from .checks import expect, sparse_only
from .reductions import dense_bincount
from .tensor import SparseTensor


@export("sparse.map_values")
def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Apply `op` to the values of all sparse arguments, which must have the same coordinates.

    Raises ValueError without a sparse tensor, InvalidArgumentError when the coordinates differ.

    >>> from agc.runtime import square
    >>> map_values(square, SparseTensor([[1]], [3], [2])).values.numpy().tolist()
    [9]
    """
    found = [leaf for leaf in nests.flatten([args, kwargs]) if isinstance(leaf, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = found[0]
    for other in found[1:]:
        _check_same_places(first, other)
    values, options = nests.map_structure(
        lambda leaf: leaf.values if isinstance(leaf, SparseTensor) else leaf, (args, kwargs)
    )
    return first.with_values(op(*values, **options))


def _check_same_places(one: SparseTensor, other: SparseTensor) -> None:
    for a, b, what in (
        (one.indices, other.indices, "indices"),
        (one.dense_shape, other.dense_shape, "dense_shape"),
    ):
        if a is b:
            continue
        if a.shape.is_fully_defined() and b.shape.is_fully_defined() and a.shape != b.shape:
            expect(False, f"Mismatched {what}!", [a, b])
        expect(reduce_all(equal(a, b)), f"Mismatched {what}!", [a, b])


def multiply(sparse: SparseTensor, other: Any) -> SparseTensor:
    """Return the product with a dense tensor, which is broadcast to the shape of the sparse one."""
    return sparse.with_values(arithmetic.multiply(sparse.values, _at_places(sparse, other)))


def divide(sparse: SparseTensor, other: Any) -> SparseTensor:
    """Return the quotient by a dense tensor, which is broadcast to the shape of the sparse one."""
    return sparse.with_values(arithmetic.divide(sparse.values, _at_places(sparse, other)))


def _at_places(sparse: SparseTensor, other: Any) -> Any:
    """Return the elements of a dense tensor, broadcast to a sparse tensor's shape, at its coordinates."""
    dense = convert_to_tensor(other, None if isinstance(other, Tensor) else sparse.dtype)
    rank = dense.shape.rank
    if rank is None:
        raise ValueError("a dense operand with a sparse one needs a known rank")
    if rank == 0:
        return dense
    own = sparse.shape.rank
    if own is not None and rank > own:
        expect(
            False, "broadcasts dense to sparse only; got incompatible shapes:", [sparse.shape, dense.shape]
        )
    sizes = cast.cast(shape_ops.shape(dense), dtypes.int64)
    is_wide = not_equal(sizes, 1)
    fits = equal(sizes, sparse.dense_shape[-rank:])
    expect(
        reduce_all(fits | ~is_wide),
        "broadcasts dense to sparse only; got incompatible shapes:",
        [sparse.dense_shape, sizes],
    )
    return gather_nd(dense, sparse.indices[:, -rank:] * cast.cast(is_wide, dtypes.int64))


@export("sparse.add")
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Return the sum of two sparse tensors of one shape, or the dense sum if one of them is dense.

    Elements of a sparse sum whose magnitude is less than `threshold` are left out.
    Raises TypeError for two dense tensors, InvalidArgumentError for different shapes.

    >>> both = SparseTensor([[1]], [3], [2])
    >>> add(both, both).values.numpy().tolist(), add(both, [10, 10]).numpy().tolist()
    ([6], [10, 13])
    """
    sparse = [one for one in (a, b) if isinstance(one, SparseTensor)]
    if not sparse:
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if len(sparse) == 1:
        from .dense_conversion import to_dense

        dense = b if sparse[0] is a else a
        return arithmetic.add(to_dense(sparse[0], validate_indices=False), dense)
    first, positions, _, _ = _united(a, b)
    values = scatter_nd(
        positions, concat([a.values, b.values], 0), expand_dims(shape_ops.size(first[:, 0]), 0)
    )
    result = SparseTensor(first, values, a.dense_shape)
    result.set_shape(a.shape.merge_with(b.shape))
    if isinstance(threshold, (int, float)) and threshold == 0:
        return result
    size = elementwise.abs(values)
    kept = greater_equal(size, cast.cast(threshold, size.dtype))
    thinned = SparseTensor(boolean_mask(first, kept), boolean_mask(values, kept), a.dense_shape)
    thinned.set_shape(result.shape)
    return thinned


def _united(a: SparseTensor, b: SparseTensor) -> tuple[Any, Any, Any, Any]:
    """Return the sorted union of the coordinates, and the positions of both tensors' elements in it."""
    if a.dtype is not b.dtype:
        message = f"sparse tensors of {a.dtype.name} and {b.dtype.name} cannot be combined"
        expect(False, message)
    ranks = a.shape.rank, b.shape.rank
    if None not in ranks and ranks[0] != ranks[1]:
        expect(False, f"Operands' ranks do not match: got {ranks[0]} and {ranks[1]}")
    expect(
        reduce_all(equal(a.dense_shape, b.dense_shape)),
        "Operands' shapes do not match:",
        [a.dense_shape, b.dense_shape],
    )
    rows, positions = distinct_coordinates(concat([a.indices, b.indices], 0))
    positions = expand_dims(positions, 1)
    count = shape_ops.size(a.values)
    return rows, positions, positions[:count], positions[count:]


@export("sparse.maximum")
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Return the elementwise maximum at coordinates where either tensor has an element; missing elements count as 0.

    >>> maximum(SparseTensor([[0]], [1], [3]), SparseTensor([[1]], [-1], [3])).values.numpy().tolist()
    [1, 0]
    """
    return _pairwise(arithmetic.maximum, sp_a, sp_b)


@export("sparse.minimum")
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Return the elementwise minimum at coordinates where either tensor has an element; missing elements count as 0.

    >>> minimum(SparseTensor([[0]], [1], [3]), SparseTensor([[1]], [-1], [3])).values.numpy().tolist()
    [0, -1]
    """
    return _pairwise(arithmetic.minimum, sp_a, sp_b)


def _pairwise(operation: Callable[..., Any], sp_a: Any, sp_b: Any) -> SparseTensor:
    a, b = sparse_only(sp_a), sparse_only(sp_b)
    rows, _, left, right = _united(a, b)
    shape = expand_dims(shape_ops.size(rows[:, 0]), 0)
    values = operation(scatter_nd(left, a.values, shape), scatter_nd(right, b.values, shape))
    result = SparseTensor(rows, values, a.dense_shape)
    result.set_shape(a.shape.merge_with(b.shape))
    return result


@export("sparse.softmax")
def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the softmax of the stored elements along the last axis; missing elements are ignored.

    >>> softmax(SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])).values.numpy().tolist()
    [0.5, 0.5]
    """
    sparse = sparse_only(sp_input)
    rows, row = distinct_coordinates(sparse.indices[:, :-1])
    positions, shape = expand_dims(row, 1), expand_dims(shape_ops.shape(rows)[0], 0)
    lowest = cast.cast(sparse.dtype.min, sparse.dtype)
    largest = tensor_scatter_nd_max(fill(shape, lowest), positions, sparse.values)
    powers = elementwise.exp(sparse.values - gather(largest, row))
    return sparse.with_values(powers / gather(scatter_nd(positions, powers, shape), row))


@export("sparse.mask")
def mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """Return `IndexedSlices` without the rows whose index is in `mask_indices`.

    >>> from agc.runtime import IndexedSlices, constant
    >>> rows = IndexedSlices(constant([1.0, 2.0]), constant([4, 7]))
    >>> mask(rows, [7]).values.numpy().tolist()
    [1.0]
    """
    from ..composite.indexed_slices import IndexedSlices

    indices = convert_to_tensor(a.indices)
    gone = convert_to_tensor(mask_indices, None if isinstance(mask_indices, Tensor) else indices.dtype)
    kept = ~reduce_any(equal(expand_dims(indices, 1), expand_dims(gone, 0)), 1)
    return IndexedSlices(boolean_mask(a.values, kept), boolean_mask(indices, kept), a.dense_shape)


def _on_values(operation: Callable[..., Any]) -> Callable[..., Any]:
    def applied(sparse: Any, *others: Any) -> SparseTensor:
        own = sparse_only(sparse)
        return own.with_values(operation(own.values, *others))

    return applied


def _divided(x: Any, y: Any, name: str | None = None) -> SparseTensor:
    return divide(sparse_only(x), y)


def _shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    return cast.cast(input.dense_shape, out_type or dtypes.int32)


def _size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    return cast.cast(reduce_prod(input.dense_shape), out_type or dtypes.int32)


def _rank(input: Any, name: str | None = None) -> Tensor:
    return shape_ops.size(input.dense_shape)  # type: ignore[no-any-return]


_ZERO_STAYS = frozenset({
    cast.cast, cast.identity, cast.stop_gradient,
    elementwise.abs, elementwise.asin, elementwise.asinh, elementwise.atan, elementwise.atanh,
    elementwise.negative, elementwise.sign, elementwise.sin, elementwise.sqrt, elementwise.square, elementwise.tan,
    elementwise.tanh, error_and_gamma.erf, special.bessel_i0e, special.bessel_i1e,
})  # fmt: skip


_OTHERS: Mapping[Any, Callable[..., Any]] = {
    arithmetic.divide: _divided,
    bincount: dense_bincount,
    shape_ops.rank: _rank,
    shape_ops.shape: _shape,
    shape_ops.size: _size,
}


def operation_for(operation: Any) -> Callable[..., Any] | None:
    """Return the implementation of an operation for sparse tensors; None when it does not support them."""
    return _on_values(operation) if operation in _ZERO_STAYS else _OTHERS.get(operation)
