"""Decompositions of (batches of) matrices: Cholesky, QR, SVD, and eigenvalues of Hermitian matrices.

>>> cholesky([[4., 0.], [0., 9.]]).numpy().tolist()
[[2.0, 0.0], [0.0, 3.0]]

The gradients are those of matrix calculus: Iain Murray, "Differentiation of the Cholesky decomposition"
(2016); Walter and Lehmann, "Algorithmic differentiation of linear algebra functions" (2010), for QR; Wan and
Zhang, "Automatic differentiation for complex valued SVD" (2019). If singular values or eigenvalues are equal,
the vectors have no derivatives. Terms with a division by zero are then left out, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.value_types import TensorType
from ..arrays.concat_split import concat
from ..arrays.creation import ones_like, zeros_like
from ..arrays.shape_ops import shape as shape_of
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Name, op
from ..framework.op_families import Array, real_part
from ..math.arithmetic import divide_no_nan
from ..math.cast import cast
from ..math.elementwise import conj, log, real
from ..reduce.reductions import reduce_sum
from .diagonals import adjoint, band_part, diag, diag_part, set_diag
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


@export("linalg.cholesky")
@op(batch=batching.unchanged)
def cholesky(input: Input, name: Name = None) -> TensorType:
    """Return the lower triangle `l` with `l @ adjoint(l) == input`, for a Hermitian positive definite matrix.

    >>> cholesky([[4., 0.], [0., 9.]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return input.spec.with_shape(square_matrix(input, "cholesky"))  # type: ignore[no-any-return]


cholesky.kernel(lambda input: lapack(np.linalg.cholesky, input))


@cholesky.gradient
def _(dy: Any, y: Any, input: Any) -> Any:
    """Return the Hermitian part of `l'^-1 p l^-1`, where `p` is the lower half of `l' dy` and ' is the adjoint."""
    inner = matmul(y, dy, adjoint_a=True)
    half = set_diag(band_part(inner, -1, 0), diag_part(inner) / 2)
    left = triangular_solve(y, half, adjoint=True)
    whole = adjoint(triangular_solve(y, adjoint(left), adjoint=True))
    return (whole + adjoint(whole)) / 2


@export("linalg.logdet")
@cached_dispatch
def logdet(matrix: TensorLike, name: Name = None) -> Tensor:
    """Return the logarithm of the determinant of a Hermitian positive definite matrix.

    >>> logdet([[1., 0.], [0., 1.]]).numpy().tolist()
    0.0
    """
    return reduce_sum(log(real(diag_part(cholesky(matrix)))), -1, name=name) * 2  # type: ignore[no-any-return]


class Qr(NamedTuple):
    """The result of `qr`."""

    q: Tensor
    r: Tensor


@export("linalg.qr")
def qr(input: TensorLike, full_matrices: bool = False, name: Name = None) -> Qr:
    """Return `q` with orthonormal columns and an upper triangle `r`, so that `q @ r == input`.

    >>> q, r = qr([[0., 2.], [1., 3.]])
    >>> (q @ r).numpy().round(5).tolist()
    [[0.0, 2.0], [1.0, 3.0]]
    """
    return Qr(*_qr(input, full_matrices, name))


@op(name="qr", batch=batching.unchanged)
def _qr(input: Input, full_matrices: bool = False, name: Name = None) -> tuple[TensorType, TensorType]:
    """Compute `qr`.

    >>> [part.shape.as_list() for part in _qr([[1.], [2.], [3.]])]
    [[3, 1], [1, 1]]
    """
    shape = matrix_shape(input, "qr")
    if shape is None:
        return TensorType(input.dtype, None), TensorType(input.dtype, None)
    *batch, rows, columns = shape
    inner = rows if full_matrices else _smaller(rows, columns)
    return TensorType(input.dtype, (*batch, rows, inner)), TensorType(input.dtype, (*batch, inner, columns))


@_qr.kernel
def _(input: Array, full_matrices: bool) -> Any:
    mode: Any = "complete" if full_matrices else "reduced"
    return decomposed(lambda x: np.linalg.qr(x, mode), input)


def _smaller(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)


@_qr.gradient
def _(dys: Any, ys: Any, input: Any, full_matrices: bool) -> Any:
    """Return `(dq + q s) r'^-1`, where the Hermitian `s` has the lower half of `r dr' - dq' q` and ' is the adjoint.

    The columns of a wide matrix beyond the square are `q` times those of `r`.
    """
    q, r = ys
    _refuse_all_columns(full_matrices, input)
    dq, dr = (zeros_like(y) if dy is None else dy for dy, y in zip(dys, ys, strict=True))
    size = shape_of(q)[-1]
    upper, more = r[..., :size], dr[..., size:]
    dq = dq + matmul(input[..., size:], more, adjoint_b=True)
    lower = band_part(matmul(upper, dr[..., :size], adjoint_b=True) - matmul(dq, q, adjoint_a=True), -1, 0)
    s = lower + adjoint(lower)
    s = set_diag(s, diag_part(s) / 2)
    square = adjoint(triangular_solve(upper, adjoint(dq + matmul(q, s)), lower=False))
    return concat([square, matmul(q, more)], -1)


def _refuse_all_columns(full_matrices: bool, input: Any) -> None:
    rows, columns = (None, None) if input.shape.rank is None else input.shape.sizes[-2:]
    if full_matrices and (rows is None or columns is None or rows > columns):
        raise LookupError(
            "qr has no gradient with full_matrices=True for matrices that have, or may have, more rows than columns: "
            "the columns of q beyond those of the matrix are arbitrary. Use full_matrices=False"
        )


@export("linalg.svd")
def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: Name = None) -> Any:
    """Return the singular values `s`; with `compute_uv` (s, u, v), where `u @ diag(s) @ adjoint(v) == tensor`.

    >>> svd([[0., 2.], [1., 0.]], compute_uv=False).numpy().tolist()
    [2.0, 1.0]
    """
    parts = _svd(tensor, full_matrices, compute_uv, name)
    return tuple(parts) if compute_uv else parts


@op(name="svd", batch=batching.unchanged)
def _svd(tensor: Input, full_matrices: bool = False, compute_uv: bool = True, name: Name = None) -> Any:
    """Compute `svd`.

    >>> [part.shape.as_list() for part in _svd([[1.], [2.], [3.]])]
    [[1], [3, 1], [1, 1]]
    """
    kind = real_part(tensor.dtype)
    shape = matrix_shape(tensor, "svd")
    if shape is None:
        specs = TensorType(kind, None), TensorType(tensor.dtype, None), TensorType(tensor.dtype, None)
        return specs if compute_uv else specs[0]
    *batch, rows, columns = shape
    rank = _smaller(rows, columns)
    values = TensorType(kind, (*batch, rank))
    if not compute_uv:
        return values
    left = TensorType(tensor.dtype, (*batch, rows, rows if full_matrices else rank))
    return values, left, TensorType(tensor.dtype, (*batch, columns, columns if full_matrices else rank))


@_svd.kernel
def _(tensor: Array, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return decomposed(of_finite(lambda x: [np.linalg.svd(x, compute_uv=False)]), tensor)[0]
    left, values, right = decomposed(of_finite(lambda x: np.linalg.svd(x, full_matrices)), tensor)
    return values, left, np.conj(np.swapaxes(right, -1, -2))


@_svd.gradient
def _(dys: Any, ys: Any, tensor: Any, full_matrices: bool, compute_uv: bool) -> Any:
    ds, du, dv = dys if compute_uv else (dys, None, None)
    if du is None and dv is None:
        _, u, v = ys if compute_uv and not full_matrices else svd(tensor)
        return matmul(u * cast(ds, u.dtype)[..., None, :], v, adjoint_b=True)
    grads = [zeros_like(y) if dy is None else dy for dy, y in zip((ds, du, dv), ys, strict=True)]
    return _all_of_svd_gradient(tensor, ys, grads) if full_matrices else _svd_gradient(ys, grads)


def _all_of_svd_gradient(tensor: Any, parts: Any, grads: Any) -> Any:
    """Return the cotangent with the term for the one extra column of a matrix that is not square."""
    _refuse_arbitrary_vectors(tensor)
    (s, u, v), (ds, du, dv) = parts, grads
    rank = s.shape[-1]
    inner = (s, u[..., :rank], v[..., :rank]), (ds, du[..., :rank], dv[..., :rank])
    total = _svd_gradient(*inner)
    if u.shape[-1] > rank:
        return total - _of_last_column(s, u, v, du)
    if v.shape[-1] > rank:
        return total - adjoint(_of_last_column(s, v, u, dv))
    return total


def _of_last_column(s: Any, u: Any, v: Any, du: Any) -> Any:
    """Return `w dw' u s^-1 v'`, where `w` is the last column of `u`, and `u` in the formula the other columns."""
    last, others = u[..., -1:], u[..., :-1]
    shares = matmul(du[..., -1:], others, adjoint_a=True)
    inverse = cast(divide_no_nan(ones_like(s), s), u.dtype)[..., None, :]
    return matmul(matmul(last, shares * inverse), v, adjoint_b=True)


def _svd_gradient(parts: Any, grads: Any) -> Any:
    """Return `u (ds + j s + s k) v'`, and the parts of `du` and `dv` outside of the spaces of `u` and `v`.

    `j` and `k` are Hermitian: the elements of `u' du - du' u` and of `v' dv - dv' v`, over differences of
    squares.
    """
    (s, u, v), (ds, du, dv) = parts, grads
    weights = cast(_over_differences(s * s), u.dtype)
    rows, columns = cast(s, u.dtype)[..., :, None], cast(s, u.dtype)[..., None, :]
    turned_u, turned_v = matmul(u, du, adjoint_a=True), matmul(v, dv, adjoint_a=True)
    inner = (turned_u - adjoint(turned_u)) * weights * columns
    inner += rows * (turned_v - adjoint(turned_v)) * weights
    inverse = divide_no_nan(ones_like(s), s)
    diagonal = cast(ds, u.dtype)
    if u.dtype.is_complex:
        phase = diag_part(turned_v)
        diagonal += cast(inverse, u.dtype) * (conj(phase) - phase) / 2
    left, right = matmul(u, inner + diag(diagonal)), v
    inverse = cast(inverse, u.dtype)[..., None, :]
    total = matmul(left + (du - matmul(u, turned_u)) * inverse, right, adjoint_b=True)
    return total + matmul(u * inverse, dv - matmul(v, turned_v), adjoint_b=True)


def _over_differences(values: Any) -> Any:
    """Return 1 over the difference of the j-th and the i-th value at [i, j]; 0 where they are equal."""
    differences = values[..., None, :] - values[..., :, None]
    return divide_no_nan(ones_like(differences), differences)


def _refuse_arbitrary_vectors(tensor: Any) -> None:
    rows, columns = (None, None) if tensor.shape.rank is None else tensor.shape.sizes[-2:]
    if rows is None or columns is None or not -1 <= rows - columns <= 1:
        raise LookupError(
            "svd has no gradient of u and v with full_matrices=True for matrices that have, or may have, two more rows "
            "than columns, or columns than rows: some columns of the result are arbitrary. Use full_matrices=False"
        )


@export("linalg.eigh")
def eigh(tensor: TensorLike, name: Name = None) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of a Hermitian matrix, ascending, and its eigenvectors as columns.

    >>> eigh([[2., 0.], [0., 1.]])[0].numpy().tolist()
    [1.0, 2.0]
    """
    values, vectors = _eigh(tensor, name)
    return values, vectors


@export("linalg.eigvalsh")
def eigvalsh(tensor: TensorLike, name: Name = None) -> Tensor:
    """Return the eigenvalues of a Hermitian matrix, ascending.

    >>> eigvalsh([[2., 0.], [0., 1.]]).numpy().tolist()
    [1.0, 2.0]
    """
    return eigh(tensor, name)[0]


@op(name="eigh", batch=batching.unchanged)
def _eigh(tensor: Input, name: Name = None) -> tuple[TensorType, TensorType]:
    """Compute `eigh`.

    >>> [part.shape.as_list() for part in _eigh([[2., 0.], [0., 1.]])]
    [[2], [2, 2]]
    """
    shape = square_matrix(tensor, "eigh")
    return TensorType(tensor.dtype, shape and shape[:-1]), TensorType(tensor.dtype, shape)


@_eigh.kernel
def _(tensor: Array) -> Any:
    values, vectors = decomposed(np.linalg.eigh, without_nan(np.tril(tensor)))
    return values.astype(tensor.dtype), vectors


@_eigh.gradient
def _(dys: Any, ys: Any, tensor: Any) -> Any:
    """Return `v (dw + (v' dv) / differences) v'` as a lower triangle: only that half of the matrix is used."""
    (values, vectors), (d_values, d_vectors) = ys, dys
    inner = zeros_like(vectors)
    if d_vectors is not None:
        weights = cast(_over_differences(real(values)), vectors.dtype)
        inner = matmul(vectors, d_vectors, adjoint_a=True) * weights
    if d_values is not None:
        inner = set_diag(inner, d_values)
    whole = matmul(matmul(vectors, inner), vectors, adjoint_b=True)
    lower = band_part(whole + adjoint(whole), -1, 0)
    return set_diag(lower, diag_part(lower) / 2)
