"""Conversion between sparse and dense tensors, and products of both."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.creation import fill, zeros
from ..ops.arrays.gather_ops import gather, gather_nd
from ..ops.arrays.ranges import range
from ..ops.arrays.reshape import ensure_shape, expand_dims, transpose
from ..ops.arrays.scatter import scatter_nd, tensor_scatter_nd_update
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.sparse_indices import checked_coordinates
from ..ops.arrays.where_ops import where
from ..ops.math.arithmetic import multiply
from ..ops.math.cast import cast
from ..ops.math.comparison import not_equal
from ..ops.math.elementwise import conj
from ..ops.reduce.reductions import reduce_sum
from .checks import expect, sparse_only
from .tensor import SparseTensor


@export("sparse.from_dense")
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Return the elements of a dense tensor that are not zero (not empty, not false).

    >>> from_dense([[0, 1], [2, 0]]).indices.numpy().tolist()
    [[0, 1], [1, 0]]
    """
    dense = convert_to_tensor(tensor)
    if dense.shape.rank == 0:
        expect(False, "WhereOp : Unhandled input dimensions: 0")
    blank: Any = "" if dense.dtype is dtypes.string else zeros([], dense.dtype)
    indices = where(not_equal(dense, blank))
    result = SparseTensor(indices, gather_nd(dense, indices), cast(shape_of(dense), dtypes.int64))
    result.set_shape(dense.shape)
    return result


@export("sparse.to_dense")
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """Return the whole tensor, with `default_value` (zero) where the sparse tensor has no element.

    Raises InvalidArgumentError for coordinates outside of the shape and, unless `validate_indices` is False, for those
    that are repeated or out of order.

    >>> to_dense(SparseTensor([[0, 1]], [5], [2, 2]), default_value=-1).numpy().tolist()
    [[-1, 5], [-1, -1]]
    """
    sparse = sparse_only(sp_input)
    indices = checked_coordinates(sparse.indices, sparse.dense_shape, validate_indices)
    if default_value is None:
        default_value = "" if sparse.dtype is dtypes.string else zeros([], sparse.dtype)
    default = convert_to_tensor(default_value, sparse.dtype)
    blank = fill(sparse.dense_shape, default)
    if not blank.shape.is_fully_defined():
        blank = ensure_shape(blank, sparse.shape)  # a spec may have a more precise shape than the graph
    dense: Tensor = tensor_scatter_nd_update(blank, indices, sparse.values, name=name)
    return dense


@export("sparse.to_indicator")
def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """Return a dense bool tensor whose last axis marks which of 0 … `vocab_size` - 1 are in a row.

    >>> to_indicator(SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1]), 3).numpy().tolist()
    [[False, False, True], [True, False, False]]
    """
    sparse = sparse_only(sp_input)
    numbers = cast(sparse.values, dtypes.int64)
    coordinates = concat([sparse.indices[:, :-1], expand_dims(numbers, 1)], 1)
    shape = concat([sparse.dense_shape[:-1], expand_dims(cast(vocab_size, dtypes.int64), 0)], 0)
    found = fill(shape_of(numbers), True)
    return to_dense(SparseTensor(coordinates, found, shape), False, validate_indices=False, name=name)


@export("sparse.eye")
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """Return a sparse matrix with ones on the diagonal.

    >>> to_dense(eye(2, 3)).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    rows = cast(num_rows, dtypes.int64)
    columns = rows if num_columns is None else cast(num_columns, dtypes.int64)
    if isinstance(num_rows, int) and isinstance(num_columns, (int, type(None))):
        count: Any = min(num_rows, num_rows if num_columns is None else num_columns)
    else:
        count = where(rows < columns, rows, columns)
    diagonal = range(cast(count, dtypes.int64))
    ones = fill(expand_dims(count, 0), cast(1, dtypes.as_dtype(dtype)))
    return SparseTensor(stack([diagonal, diagonal], 1), ones, stack([rows, columns]))


@export("sparse.sparse_dense_matmul")
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Return the product of a sparse and a dense matrix; `adjoint_a`, `adjoint_b`: use the conjugate transpose.

    Raises InvalidArgumentError when the sizes or dtypes do not fit.

    >>> sparse_dense_matmul(SparseTensor([[0, 1]], [5.0], [2, 2]), [[1.0], [2.0]]).numpy().tolist()
    [[10.0], [0.0]]
    """
    if not isinstance(sp_a, SparseTensor):  # (A B)' = B' A'
        product = sparse_dense_matmul(sparse_only(b), sp_a, not adjoint_b, not adjoint_a)
        return _adjoint(product)
    sizes = sp_a.shape
    expect(sizes.rank in (2, None), "Tensor 'a_shape' must have 2 elements")
    given_b = convert_to_tensor(b, dtype_hint=sp_a.dtype)
    if given_b.dtype is not sp_a.dtype:
        kinds = f"a sparse matrix of {sp_a.dtype.name} and a dense one of {given_b.dtype.name}"
        expect(False, f"Cannot multiply {kinds}: convert one with tf.cast")
    if given_b.shape.rank not in (2, None):
        expect(False, f"Tensor 'b' is not a matrix: its shape is {given_b.shape}")
    dense = _adjoint(given_b) if adjoint_b else given_b
    row, column = (1, 0) if adjoint_a else (0, 1)
    values = conj(sp_a.values) if adjoint_a and sp_a.dtype.is_complex else sp_a.values
    known, given = sizes.sizes or (None, None), dense.shape.sizes or (None,)
    if known[column] is None or known[column] != given[0]:
        expect(
            sp_a.dense_shape[column] == cast(shape_of(dense)[0], dtypes.int64),
            "Cannot multiply A and B because inner dimension does not match. Did you forget a transpose?  "
            "Dimensions of A, of B:",
            [sp_a.dense_shape, shape_of(dense)],
        )
    coordinates = checked_coordinates(sp_a.indices, sp_a.dense_shape, False)
    whole = ensure_shape(dense, dense.shape)  # gives `b` a dense gradient, in place of the rows of `gather`
    products = multiply(expand_dims(values, 1), gather(whole, coordinates[:, column]))
    shape: Any = [known[row], given[-1]]
    if None in shape or len(given) != 2:
        shape = stack([sp_a.dense_shape[row], cast(shape_of(dense)[1], dtypes.int64)])
    result: Tensor = scatter_nd(coordinates[:, row : row + 1], products, shape)
    return result


def _adjoint(matrix: Tensor) -> Tensor:
    turned: Tensor = transpose(matrix)
    return conj(turned) if turned.dtype.is_complex else turned


@export("sparse.sampled_addmm")
def sampled_addmm(
    indices: Any, values: Any, dense_shape: Any, mat1: Any, mat2: Any, beta: Any = 1.0, alpha: Any = 1.0,
    output_type: Any = dtypes.float32,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the elements of `alpha * mat1 @ mat2 + beta * C` at the positions of the sparse matrix C.

    Returns the indices, values and dense shape of the result.

    >>> sampled_addmm([[0, 0]], [1.0], [1, 1], [[2.0, 3.0]], [[4.0], [5.0]])[1].numpy().tolist()
    [24.0]
    """
    kind = dtypes.as_dtype(output_type)
    coordinates, shape = convert_to_tensor(indices), convert_to_tensor(dense_shape)
    left, right = cast(mat1, kind), cast(mat2, kind)
    batch = (coordinates.shape.rank or 2) - 2
    if batch or len(left.shape) != 2:
        raise ValueError(f"sampled_addmm takes matrices, not batches: mat1 has shape {left.shape}")
    rows, columns = gather(left, coordinates[:, 0]), gather(transpose(right), coordinates[:, 1])
    products = reduce_sum(multiply(rows, columns), 1)
    return coordinates, alpha * products + beta * cast(values, kind), shape
