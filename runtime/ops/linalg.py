"""Linear algebra on (batches of) matrices, which are the last two axes: inverses and factorisations.

>>> solve([[2., 0.], [0., 4.]], [[2.], [2.]]).numpy().tolist()
[[1.0], [0.5]]
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors, shapes
from ..convert import TensorLike
from ..ir.graph import Operand
from ..ir.specs import Spec
from ..tensor import Tensor
from .arithmetic import add, real_divide_no_nan
from .casting import cast
from .creation import ones_like, zeros_like
from .declare import Input, Name, Same, op
from .diagonals import band_part, diag, diag_part, matrix_transpose, set_diag
from .elementwise import conj, log, real, square
from .families import CURVED, Array, demand, real_part
from .joining import join
from .products import matmul
from .shaping import expand_dims

SOLVABLE = CURVED - {dtypes.float16}


def _matrix(x: Operand, what: str) -> tuple[int | None, ...] | None:
    """The shape of an operand that must be a matrix."""
    demand(x, SOLVABLE, what)
    if x.shape is not None and len(x.shape) < 2:
        raise ValueError(f"{what}: input must have rank >= 2, got {len(x.shape)}")
    return x.shape


def square_matrix(x: Operand, what: str) -> tuple[int | None, ...] | None:
    shape = _matrix(x, what)
    if shape is not None and shape[-1] != shape[-2] and None not in shape[-2:]:
        raise ValueError(f"{what}: input matrix must be square, not {shapes.show(shape)}")
    return shape


def _solvable(compute: Callable[..., Any], *arrays: Array) -> Any:
    try:
        return compute(*arrays)
    except np.linalg.LinAlgError as error:
        raise errors.InvalidArgumentError(f"Input is not invertible, or not valid: {error}") from None


def _adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


@op
def inv(input: Input, adjoint: bool = False, name: Name = None) -> Spec:
    """The inverse; of the conjugate transpose if `adjoint`.

    >>> inv([[2., 0.], [0., 4.]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return input.spec.with_shape(square_matrix(input, "inv"))  # type: ignore[no-any-return]


@inv.kernel
def _(input: Array, adjoint: bool) -> Array:
    inverse = _solvable(np.linalg.inv, input)
    return _adjoint(inverse) if adjoint else inverse


@inv.gradient
def _(dy: Any, y: Any, input: Any, adjoint: bool) -> Any:
    if adjoint:
        return -times(y, times(dy, y, adjoint_a=True))
    return -times(y, times(dy, y, adjoint_b=True), adjoint_a=True)


def times(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Any:
    """The product of matrices, or of their conjugate transposes."""
    return matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


@op
def det(input: Input, name: Name = None) -> Spec:
    """The determinant.

    >>> det([[2., 0.], [0., 4.]]).numpy().tolist()
    8.0
    """
    shape = square_matrix(input, "det")
    return Spec(input.dtype, shape and shape[:-2])


@det.kernel
def _(input: Array) -> Array:
    return np.linalg.det(input)


@det.gradient
def _(dy: Any, y: Any, input: Any) -> Any:
    return _as_matrices(dy * conj(y)) * inv(input, adjoint=True)


def _as_matrices(x: Any) -> Any:
    return expand_dims(expand_dims(x, -1), -1)


class LogMatrixDeterminant(NamedTuple):
    """What `slogdet` gives."""

    sign: Tensor
    log_abs_determinant: Tensor


def slogdet(input: TensorLike, name: Name = None) -> LogMatrixDeterminant:
    """The sign of the determinant, and the logarithm of its absolute value.

    >>> sign, size = slogdet([[-1., 0.], [0., 1.]])
    >>> sign.numpy().tolist(), size.numpy().tolist()
    (-1.0, 0.0)
    """
    return LogMatrixDeterminant(*_slogdet(input, name))


@op(name="slogdet")
def _slogdet(input: Input, name: Name = None) -> tuple[Spec, Spec]:
    """`slogdet`.

    >>> len(_slogdet([[1., 0.], [0., 1.]]))
    2
    """
    shape = square_matrix(input, "slogdet")
    spec = Spec(input.dtype, shape and shape[:-2])
    return spec, spec


@_slogdet.kernel
def _(input: Array) -> Any:
    sign, size = np.linalg.slogdet(input)
    return sign, size.astype(input.dtype)


@_slogdet.gradient
def _(dy: list[Any], y: list[Any], input: Any) -> Any:
    """The sign does not change by a little; that of complex numbers, which does, has no gradient in TensorFlow."""
    return None if dy[1] is None else _as_matrices(dy[1]) * inv(input, adjoint=True)


def logdet(matrix: TensorLike, name: Name = None) -> Tensor:
    """The logarithm of the determinant of a hermitian positive definite matrix.

    >>> logdet([[1., 0.], [0., 1.]]).numpy().tolist()
    0.0
    """
    return log(real(det(matrix)), name)  # type: ignore[no-any-return]


@op
def solve(matrix: Same, rhs: Same, adjoint: bool = False, name: Name = None) -> Spec:
    """`x` with `matrix @ x == rhs`, column by column; the conjugate transpose of `matrix` if `adjoint`.

    >>> solve([[2., 1.], [0., 1.]], [[4.], [2.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    return _solution(matrix, rhs, "solve")


def _solution(matrix: Operand, rhs: Operand, what: str) -> Spec:
    square, right = square_matrix(matrix, what), _matrix(rhs, what)
    if square is None or right is None:
        return Spec(rhs.dtype, right)
    if len(square) != len(right):
        raise ValueError(f"{what}: all inputs must have the same rank, not {len(square)} and {len(right)}")
    batch = shapes.merge(square[:-1], right[:-1])
    assert batch is not None
    return Spec(rhs.dtype, (*batch, right[-1]))


@solve.kernel
def _(matrix: Array, rhs: Array, adjoint: bool) -> Array:
    if matrix.ndim != rhs.ndim:
        raise errors.InvalidArgumentError("solve: all inputs must have the same rank")
    return _solvable(np.linalg.solve, _adjoint(matrix) if adjoint else matrix, rhs)


@solve.gradient
def _(dy: Any, y: Any, matrix: Any, rhs: Any, adjoint: bool) -> Any:
    to_rhs = solve(matrix, dy, adjoint=not adjoint)
    return lambda: -times(y, to_rhs, adjoint_b=True) if adjoint else -times(to_rhs, y, adjoint_b=True), to_rhs


@op
def triangular_solve(
    matrix: Same, rhs: Same, lower: bool = True, adjoint: bool = False, name: Name = None
) -> Spec:
    """As `solve`, for a triangular matrix: the other half of `matrix` is not looked at.

    >>> triangular_solve([[2., 9.], [1., 1.]], [[2.], [3.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    return _solution(matrix, rhs, "triangular_solve")


@triangular_solve.kernel
def _(matrix: Array, rhs: Array, lower: bool, adjoint: bool) -> Array:
    half = np.tril(matrix) if lower else np.triu(matrix)
    return _solvable(np.linalg.solve, _adjoint(half) if adjoint else half, rhs)


@triangular_solve.gradient
def _(dy: Any, y: Any, matrix: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    to_rhs = triangular_solve(matrix, dy, lower, not adjoint)

    def to_matrix() -> Any:
        whole = times(y, to_rhs, adjoint_b=True) if adjoint else times(to_rhs, y, adjoint_b=True)
        return -band_part(whole, -1, 0) if lower else -band_part(whole, 0, -1)

    return to_matrix, to_rhs


@op
def cholesky(input: Input, name: Name = None) -> Spec:
    """The lower triangle `l` with `l @ adjoint(l) == input`, for a hermitian positive definite matrix.

    >>> cholesky([[4., 0.], [0., 9.]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return input.spec.with_shape(square_matrix(input, "cholesky"))  # type: ignore[no-any-return]


@cholesky.kernel
def _(input: Array) -> Array:
    return _solvable(np.linalg.cholesky, input)


@cholesky.gradient
def _(dy: Any, y: Any, input: Any) -> Any:
    """I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10; symmetric, as the input is."""
    middle = _half_diagonal(band_part(times(y, dy, adjoint_a=True), -1, 0))
    right = triangular_solve(y, matrix_transpose(middle, conjugate=True), adjoint=True)
    grad = triangular_solve(y, matrix_transpose(right, conjugate=True), adjoint=True)
    return (grad + matrix_transpose(grad, conjugate=True)) * 0.5


def _half_diagonal(x: Any) -> Any:
    return set_diag(x, diag_part(x) * 0.5)


class Qr(NamedTuple):
    """What `qr` gives."""

    q: Tensor
    r: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: Name = None) -> Qr:
    """`q` with orthonormal columns and an upper triangle `r`, so that `q @ r == input`.

    >>> q, r = qr([[0., 2.], [1., 3.]])
    >>> (q @ r).numpy().round(5).tolist()
    [[0.0, 2.0], [1.0, 3.0]]
    """
    return Qr(*_qr(input, full_matrices, name))


@op(name="qr")
def _qr(input: Input, full_matrices: bool = False, name: Name = None) -> tuple[Spec, Spec]:
    """`qr`.

    >>> [part.shape.as_list() for part in _qr([[1.], [2.], [3.]], full_matrices=True)]
    [[3, 3], [3, 1]]
    """
    shape = _matrix(input, "qr")
    if shape is None:
        return Spec(input.dtype, None), Spec(input.dtype, None)
    *batch, rows, columns = shape
    inner = rows if full_matrices else _smaller(rows, columns)
    return Spec(input.dtype, (*batch, rows, inner)), Spec(input.dtype, (*batch, inner, columns))


@_qr.kernel
def _(input: Array, full_matrices: bool) -> Any:
    return np.linalg.qr(input, "complete" if full_matrices else "reduced")


@_qr.gradient
def _(dy: list[Any], y: list[Any], input: Any, full_matrices: bool) -> Any:
    """H. Liao et al., "Differentiable programming tensor networks" (2019), for tall and for wide matrices."""
    rows, columns = input.shape.dims[-2:] if input.shape.dims else (None, None)
    if rows is None or columns is None or (full_matrices and rows > columns):
        raise errors.UnimplementedError(
            "qr has a gradient for matrices of known size only, and with `full_matrices` not for tall ones"
        )
    q, r = y
    dq, dr = (zeros_like(part) if grad is None else grad for grad, part in zip(dy, y, strict=True))
    if rows >= columns:
        return _qr_back(q, r, dq, dr)
    rest, d_rest = input[..., rows:], dr[..., rows:]
    left = _qr_back(q, r[..., :rows], dq + times(rest, d_rest, adjoint_b=True), dr[..., :rows])
    return join([left, times(q, d_rest)], -1)


def _qr_back(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    """The gradient for a tall matrix."""

    def divided(x: Any) -> Any:  # x @ inv(adjoint(r))
        turned = triangular_solve(r, matrix_transpose(x, conjugate=True), lower=False)
        return matrix_transpose(turned, conjugate=True)

    qdq, rdr = times(q, dq, adjoint_a=True), times(r, dr, adjoint_b=True)
    twist = qdq - matrix_transpose(qdq, conjugate=True) + rdr - matrix_transpose(rdr, conjugate=True)
    grad = times(q, dr + divided(band_part(twist, -1, 0)))
    grad = grad + divided(dq - times(q, qdq))
    if not q.dtype.is_complex:
        return grad
    phases = _diagonal_of(rdr - matrix_transpose(qdq, conjugate=True))
    turn = phases - cast(real(phases), phases.dtype)
    return grad + times(q, divided(matrix_transpose(turn, conjugate=True)))


def _diagonal_of(x: Any) -> Any:
    return band_part(x, 0, 0)


def _smaller(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)


def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: Name = None) -> Any:
    """The singular values `s`; with `compute_uv` (s, u, v), where `u @ diag(s) @ adjoint(v) == tensor`.

    >>> svd([[0., 2.], [1., 0.]], compute_uv=False).numpy().tolist()
    [2.0, 1.0]
    """
    parts = _svd(tensor, full_matrices, compute_uv, name)
    return tuple(parts) if compute_uv else parts


@op(name="svd")
def _svd(tensor: Input, full_matrices: bool = False, compute_uv: bool = True, name: Name = None) -> Any:
    """`svd`.

    >>> [part.shape.as_list() for part in _svd([[1.], [2.], [3.]])]
    [[1], [3, 1], [1, 1]]
    """
    kind = real_part(tensor.dtype)
    shape = _matrix(tensor, "svd")
    if shape is None:
        specs = Spec(kind, None), Spec(tensor.dtype, None), Spec(tensor.dtype, None)
        return specs if compute_uv else specs[0]
    *batch, rows, columns = shape
    rank = _smaller(rows, columns)
    values = Spec(kind, (*batch, rank))
    if not compute_uv:
        return values
    left = Spec(tensor.dtype, (*batch, rows, rows if full_matrices else rank))
    return values, left, Spec(tensor.dtype, (*batch, columns, columns if full_matrices else rank))


@_svd.kernel
def _(tensor: Array, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return _solvable(lambda x: np.linalg.svd(x, compute_uv=False), tensor)
    left, values, right = _solvable(lambda x: np.linalg.svd(x, full_matrices), tensor)
    return values, left, _adjoint(right)


@_svd.gradient
def _(dy: Any, y: Any, tensor: Any, full_matrices: bool, compute_uv: bool) -> Any:
    """J. Townsend, "Differentiating the singular value decomposition" (2016)."""
    if not compute_uv:
        _, u, v = _svd(tensor, False, True)
        return _of_values(u, dy, v)
    (s, u, v), (ds, du, dv) = y, dy
    if du is None and dv is None and not full_matrices:
        return _of_values(u, ds, v)
    if full_matrices or tensor.dtype.is_complex:
        raise errors.UnimplementedError(
            "svd has a gradient of its vectors for real matrices only, and without `full_matrices`; its values have one"
        )
    gaps = _gaps(square(s))
    sizes = diag(s)
    middle = zeros_like(sizes) if ds is None else diag(ds)
    outside: list[Any] = []
    if du is not None:
        twist = times(u, du, adjoint_a=True)
        middle = middle + times(gaps * (twist - matrix_transpose(twist)), sizes)
        rest = (du - times(u, twist)) / expand_dims(s, -2)
        outside.append(times(rest, v, adjoint_b=True))
    if dv is not None:
        twist = times(v, dv, adjoint_a=True)
        middle = middle + times(sizes, gaps * (twist - matrix_transpose(twist)))
        rest = (dv - times(v, twist)) / expand_dims(s, -2)
        outside.append(times(u, rest, adjoint_b=True))
    return functools.reduce(add, outside, times(times(u, middle), v, adjoint_b=True))


def _of_values(u: Any, ds: Any, v: Any) -> Any:
    return times(u * cast(expand_dims(ds, -2), u.dtype), v, adjoint_b=True)


def _gaps(x: Any) -> Any:
    """`1 / (x[j] - x[i])` at [i, j], 0 where they are equal."""
    difference = expand_dims(x, -2) - expand_dims(x, -1)
    return real_divide_no_nan(ones_like(difference), difference)


def eigh(tensor: TensorLike, name: Name = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of a hermitian matrix, ascending, and its eigenvectors as columns.

    >>> eigh([[2., 0.], [0., 1.]])[0].numpy().tolist()
    [1.0, 2.0]
    """
    values, vectors = _eigh(tensor, name)
    return values, vectors


def eigvalsh(tensor: TensorLike, name: Name = None) -> Tensor:
    """The eigenvalues of a hermitian matrix, ascending.

    >>> eigvalsh([[2., 0.], [0., 1.]]).numpy().tolist()
    [1.0, 2.0]
    """
    return eigh(tensor, name)[0]


@op(name="eigh")
def _eigh(tensor: Input, name: Name = None) -> tuple[Spec, Spec]:
    """`eigh`.

    >>> [part.shape.as_list() for part in _eigh([[2., 0.], [0., 1.]])]
    [[2], [2, 2]]
    """
    shape = square_matrix(tensor, "eigh")
    return Spec(tensor.dtype, shape and shape[:-1]), Spec(tensor.dtype, shape)


@_eigh.kernel
def _(tensor: Array) -> Any:
    values, vectors = _solvable(np.linalg.eigh, tensor)
    return values.astype(tensor.dtype), vectors


@_eigh.gradient
def _(dy: list[Any], y: list[Any], tensor: Any) -> Any:
    """M. Giles, "An extended collection of matrix derivative results" (2008), of the lower triangle, which is read."""
    (values, vectors), (d_values, d_vectors) = y, dy
    middle = zeros_like(vectors) if d_values is None else diag(d_values)
    if d_vectors is not None:
        middle = middle + _gaps(values) * times(vectors, d_vectors, adjoint_a=True)
    grad = times(times(vectors, middle), vectors, adjoint_b=True)
    return _half_diagonal(band_part(grad + matrix_transpose(grad, conjugate=True), -1, 0))
