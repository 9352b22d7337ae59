"""LU decomposition, and solutions, inverses, least squares and ranks by decompositions.

>>> factors, order = lu([[0., 2.], [4., 1.]])
>>> factors.numpy().tolist(), order.numpy().tolist()
([[4.0, 1.0], [0.0, 2.0]], [1, 0])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.matrix_products import multiply
from ..arrays.concat_split import concat
from ..arrays.creation import eye, zeros_like
from ..arrays.reshape import broadcast_to, expand_dims
from ..arrays.shape_arithmetic import broadcast_dynamic_shape
from ..arrays.shape_ops import shape as shape_of
from ..arrays.sort import argsort
from ..framework.attribute_parsers import DType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array
from ..math.arithmetic import divide
from ..math.cast import cast
from ..math.comparison import greater
from ..reduce.norms import norm
from ..reduce.reductions import reduce_max, reduce_sum
from .decompositions import cholesky, svd
from .diagonals import adjoint, band_part, set_diag
from .inverse_and_det import (
    decomposed,
    lapack,
    matrix_shape,
    of_finite,
    square_matrix,
    triangular_solve,
    without_nan,
)
from .matmul import matmul


class Lu(NamedTuple):
    """The result of `lu`."""

    lu: Tensor
    p: Tensor


@export("linalg.lu")
def lu(input: TensorLike, output_idx_type: Any = dtypes.int32, name: Name = None) -> Lu:
    """Factor square matrices: `lower @ upper` is the matrix with its rows in the order `p`.

    Both factors are stored in one matrix, without the unit diagonal of `lower`. Raises InvalidArgumentError
    for a singular matrix.

    >>> lu([[2., 1.], [4., 4.]]).lu.numpy().tolist()
    [[4.0, 4.0], [0.5, -1.0]]
    """
    return Lu(*_lu(input, output_idx_type, name))


@op(name="lu")
def _lu(
    input: Input, output_idx_type: DType = dtypes.int32, name: Name = None
) -> tuple[TensorType, TensorType]:
    """Compute `lu`.

    >>> [part.numpy().tolist() for part in _lu([[2., 1.], [4., 4.]])]
    [[[4.0, 4.0], [0.5, -1.0]], [1, 0]]
    """
    if output_idx_type not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"output_idx_type must be int32 or int64, not {output_idx_type.name}")
    shape = square_matrix(input, "lu")
    return TensorType(input.dtype, shape), TensorType(output_idx_type, shape and shape[:-1])


@_lu.kernel
def _(input: Array, output_idx_type: dtypes.DType) -> tuple[Array, Array]:
    """Compute Gaussian elimination with partial pivoting, for all matrices at once, in blocks of columns."""
    size = input.shape[-1]
    work = np.array(without_nan(input)).reshape(int(np.prod(input.shape[:-2])), size, size)
    order = np.tile(np.arange(size), (len(work), 1))
    for start in range(0, size if len(work) else 0, _BLOCK):
        stop = min(start + _BLOCK, size)
        columns = work[:, start:, start:stop].swapaxes(1, 2).copy()
        _eliminate(columns, work[:, start:], order[:, start:])
        work[:, start:, start:stop] = columns.swapaxes(1, 2)
        if stop < size:
            lower = np.tril(work[:, start:stop, start:stop], -1) + np.eye(stop - start, dtype=work.dtype)
            right = lapack(np.linalg.solve, lower, work[:, start:stop, stop:])
            work[:, start:stop, stop:] = right
            work[:, stop:, stop:] -= multiply(np.ascontiguousarray(work[:, stop:, start:stop]), right)
    return work.reshape(input.shape), order.reshape(input.shape[:-1]).astype(output_idx_type.numpy_dtype)


_BLOCK = 32


def _eliminate(columns: Array, *others: Array) -> None:
    """Eliminate in columns [batch, columns, rows], and exchange the rows of the other arrays [batch, rows, …], too."""
    batch = np.arange(len(columns))
    rows = [columns.swapaxes(1, 2), *others]
    for k in range(columns.shape[1]):
        pivots = k + np.argmax(np.abs(columns[:, k, k:]), axis=1)
        for array in rows:
            swapped = array[batch, pivots]
            array[batch, pivots] = array[:, k]
            array[:, k] = swapped
        if not columns[:, k, k].all():
            raise errors.InvalidArgumentError("Input is not invertible.")
        columns[:, k, k + 1 :] /= columns[:, k, k, None]
        columns[:, k + 1 :, k + 1 :] -= columns[:, k + 1 :, k, None] * columns[:, k, None, k + 1 :]


@_lu.gradient
def _(dys: Any, ys: Any, input: Any, output_idx_type: Any) -> Any:
    """Return `P' L'^-1 (tril(L' dL, -1) + triu(dU U')) U'^-1` for `a = P' L U`, where ' is the adjoint."""
    factors, order = ys
    lower, upper = _triangles(factors)
    d_factors = dys[0]
    d_lower, d_upper = d_factors - band_part(d_factors, 0, -1), band_part(d_factors, 0, -1)
    inner = matmul(lower, d_lower, adjoint_a=True)
    whole = inner - band_part(inner, 0, -1) + band_part(matmul(d_upper, upper, adjoint_b=True), 0, -1)
    right = adjoint(triangular_solve(upper, adjoint(whole), lower=False))
    return rows_in_order(triangular_solve(lower, right, adjoint=True), argsort(order))


def _triangles(factors: Tensor) -> tuple[Tensor, Tensor]:
    """Return `lower`, with its diagonal, and `upper`."""
    upper = band_part(factors, 0, -1)
    lower = factors - upper
    return set_diag(lower, zeros_like(factors[..., 0]) + 1), upper


@op
def rows_in_order(matrix: Input, order: Ints, name: Name = None) -> TensorType:
    """Return the rows of each matrix in the order that `order` gives for it.

    >>> rows_in_order([[1., 2.], [3., 4.]], [1, 0]).numpy().tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    shape = matrix_shape(matrix, "rows_in_order")
    return TensorType(matrix.dtype, shape and shapes.merge(shape[:-1], order.shape) and shape)


@rows_in_order.kernel
def _(matrix: Array, order: Array) -> Array:
    if order.shape != matrix.shape[:-1]:
        raise errors.InvalidArgumentError(
            f"a permutation of shape {order.shape} does not fit the rows of matrices {matrix.shape}"
        )
    if np.any((order < 0) | (order >= max(matrix.shape[-2], 1))):
        raise errors.InvalidArgumentError(
            f"the permutation of rows must have indices in [0, {matrix.shape[-2]})"
        )
    return np.take_along_axis(matrix, order[..., None], -2)


rows_in_order.gradient(lambda dy, y, matrix, order: (rows_in_order(dy, argsort(order)), None))


@export("linalg.lu_reconstruct")
def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: Name = None
) -> Tensor:
    """Return the matrices that `lu` factored, from its two results.

    >>> lu_reconstruct(*lu([[2., 1.], [4., 4.]])).numpy().tolist()
    [[2.0, 1.0], [4.0, 4.0]]
    """
    lower, upper = _triangles(convert_to_tensor(lower_upper))
    return rows_in_order(matmul(lower, upper), argsort(convert_to_tensor(perm)), name)  # type: ignore[no-any-return]


@export("linalg.lu_solve")
def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: Name = None
) -> Tensor:
    """Return `x` with `matrix @ x == rhs`, from the results of `lu` for the matrix.

    `rhs` is [..., rows, columns]; the batch axes broadcast. `validate_args` has no effect.

    >>> lu_solve(*lu([[2., 0.], [0., 4.]]), [[2.], [2.]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    factors, order = convert_to_tensor(lower_upper), convert_to_tensor(perm)
    lower, upper = _triangles(factors)
    right = convert_to_tensor(rhs, factors.dtype)
    if right.shape.rank is None or order.shape.rank is None or right.shape.rank != order.shape.rank + 1:
        outer = broadcast_dynamic_shape(shape_of(order)[:-1], shape_of(right)[:-2])
        right = broadcast_to(right, concat([outer, shape_of(right)[-2:]], 0))
        order = broadcast_to(order, shape_of(right)[:-1])
    between = triangular_solve(lower, rows_in_order(right, order))
    return triangular_solve(upper, between, lower=False, name=name)  # type: ignore[no-any-return]


@export("linalg.lu_matrix_inverse")
def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: Name = None
) -> Tensor:
    """Return the inverses of the matrices that `lu` factored, from its two results.

    >>> lu_matrix_inverse(*lu([[2., 0.], [0., 4.]])).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    factors = convert_to_tensor(lower_upper)
    unit = zeros_like(factors) + eye(shape_of(factors)[-1], dtype=factors.dtype)
    return lu_solve(factors, perm, unit, validate_args, name)


@export("linalg.cholesky_solve")
@cached_dispatch
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: Name = None) -> Tensor:
    """Return `x` with `matrix @ x == rhs`, where `chol` is the Cholesky factor of the matrix.

    >>> cholesky_solve([[2., 0.], [0., 1.]], [[4.], [3.]]).numpy().tolist()
    [[1.0], [3.0]]
    """
    factor = convert_to_tensor(chol)
    return triangular_solve(factor, triangular_solve(factor, rhs), adjoint=True, name=name)  # type: ignore[no-any-return]


@export("linalg.pinv")
def pinv(a: TensorLike, rcond: Any = None, validate_args: bool = False, name: Name = None) -> Tensor:
    """Return the Moore-Penrose pseudo-inverse; singular values up to `rcond` times the largest count as zero.

    >>> pinv([[2., 0.], [0., 0.]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    a = convert_to_tensor(a)
    kind = a.dtype.real_dtype
    if rcond is None:
        rcond = _longest_side(a) * (10.0 * float(np.finfo(kind.as_numpy_dtype).eps))
    elif isinstance(rcond, Tensor):
        rcond = cast(rcond, kind)
    return pseudo_inverse(a, convert_to_tensor(rcond, kind), name)  # type: ignore[no-any-return]


@op(traits=LENIENT)
def pseudo_inverse(a: Input, rcond: Input, name: Name = None) -> TensorType:
    """Compute `pinv` with a limit for each matrix.

    >>> pseudo_inverse([[2., 0.], [0., 0.5]], 0.01).numpy().tolist()
    [[0.5, 0.0], [0.0, 2.0]]
    """
    shape = matrix_shape(a, "pinv")
    if shape is not None and rcond.shape is not None:
        batch = shape[:-2]
        if not shapes.compatible(shapes.broadcast(rcond.shape, batch), batch):
            of, to = shapes.show(rcond.shape), shapes.show(batch)
            raise ValueError(f"pinv: rcond of shape {of} does not broadcast to batch shape {to}")
    return TensorType(a.dtype, shape and (*shape[:-2], shape[-1], shape[-2]))


@pseudo_inverse.kernel
def _(a: Array, rcond: Array) -> Array:
    left, values, right = decomposed(of_finite(lambda x: np.linalg.svd(x, full_matrices=False)), a)
    limit = np.asarray(rcond)[..., None] * np.max(values, axis=-1, keepdims=True, initial=0)
    large = values > limit
    inverse = np.where(large, 1 / np.where(large, values, 1), 0).astype(values.dtype)
    return np.conj(np.swapaxes((left * inverse[..., None, :]) @ right, -1, -2))


@pseudo_inverse.gradient
def _(dy: Any, y: Any, a: Any, rcond: Any) -> Any:
    """Differentiate at constant rank (Golub and Pereyra, SIAM Journal on Numerical Analysis 10, 1973)."""
    back = -matmul(matmul(y, dy, adjoint_a=True), y, adjoint_b=True)
    turned = adjoint(dy)
    low = matmul(matmul(turned, y), y, adjoint_b=True)
    high = matmul(matmul(y, y, adjoint_a=True), turned)
    return back + low - matmul(a, matmul(y, low)) + high - matmul(matmul(high, y), a), None


def _longest_side(a: Tensor) -> Tensor:
    return cast(reduce_max(shape_of(a)[-2:]), a.dtype.real_dtype)


@export("linalg.matrix_rank")
def matrix_rank(a: TensorLike, tol: Any = None, validate_args: bool = False, name: Name = None) -> Tensor:
    """Return the number of singular values above `tol`; the default is the rounding error of the largest value.

    >>> matrix_rank([[1., 2.], [2., 4.]]).numpy().tolist()
    1
    """
    a = convert_to_tensor(a)
    values = svd(a, compute_uv=False)
    if tol is None:
        epsilon = float(np.finfo(a.dtype.real_dtype.as_numpy_dtype).eps)
        tol = _longest_side(a) * epsilon * reduce_max(values, -1, True)
    else:
        tol = expand_dims(convert_to_tensor(tol, values.dtype), -1)
    return reduce_sum(cast(greater(values, tol), dtypes.int32), -1, name=name)  # type: ignore[no-any-return]


@export("linalg.lstsq")
def lstsq(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike = 0.0,
    fast: bool = True,
    name: Name = None,
) -> Tensor:
    """Return `x` that minimizes `matrix @ x - rhs`; of several solutions, the smallest `x`.

    Args:
        l2_regularizer: the weight of the squared norm of `x` in the minimized sum.
        fast: whether to use a Cholesky factor, for matrices of full rank whose shape is known; else singular values,
            without `l2_regularizer`.

    >>> lstsq([[1., 0.], [0., 2.], [0., 0.]], [[1.], [4.], [9.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    matrix = convert_to_tensor(matrix)
    rhs = convert_to_tensor(rhs, matrix.dtype)
    is_regular = is_tensor(l2_regularizer) or bool(l2_regularizer)
    tall = _is_tall(matrix)
    if not fast or (tall is None and not is_regular):
        return matmul(pinv(matrix), rhs, name=name)
    if tall is None:
        raise ValueError("lstsq with `l2_regularizer` needs a matrix of known shape: use `tf.ensure_shape`")
    gramian = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if is_regular:
        unit = eye(shape_of(gramian)[-1], dtype=matrix.dtype)
        gramian = gramian + unit * cast(l2_regularizer, matrix.dtype)
    factor = cholesky(gramian)
    if tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True), name)
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True, name=name)


def _is_tall(matrix: Tensor) -> bool | None:
    """Return whether a matrix has at least as many rows as columns; None if that is unknown."""
    *_, rows, columns = (None, None, *(matrix.shape.sizes or ()))
    return None if rows is None or columns is None else rows >= columns


@export("linalg.normalize")
def normalize(
    tensor: TensorLike, ord: Any = "euclidean", axis: Any = None, name: Name = None
) -> tuple[Tensor, Tensor]:
    """Divide `tensor` by its norm; return the result and the norm. Arguments as of `norm`.

    >>> unit, length = normalize([3., 4.])
    >>> unit.numpy().round(3).tolist(), length.numpy().tolist()
    ([0.6000000238418579, 0.800000011920929], [5.0])
    """
    tensor = convert_to_tensor(tensor)
    length = cast(norm(tensor, ord, axis, True), tensor.dtype)
    return divide(tensor, length), length
