"""The extension `linalg` of the array API: decompositions, norms and solutions of matrices, in stacks.

>>> svdvals([[0.0, 2.0], [1.0, 0.0]])
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 1.], dtype=float32)>
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ... import linalg
from ...core.tensor import Tensor
from ...ops.arrays import creation, gather_ops, reshape, shape_ops
from ...ops.arrays.concat_split import concat
from ...ops.arrays.shape_arithmetic import broadcast_dynamic_shape
from ...ops.math import elementwise
from ...ops.math.cast import cast
from ...ops.reduce import reductions
from ..numpy_dispatch.linalg import diagonal_of
from .data_types import ANY, FLOATING, NUMERIC, finfo, rank_of, tensor_of
from .manipulation import axes_of
from .matmul import matmul, matrix_transpose, tensordot, vecdot
from .promotion import together
from .statistical import sum as sum_of


class Eig(NamedTuple):
    """The result of `eig` and `eigh`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QR(NamedTuple):
    """The result of `qr`."""

    Q: Tensor
    R: Tensor


class SlogDet(NamedTuple):
    """The result of `slogdet`."""

    sign: Tensor
    logabsdet: Tensor


class SVD(NamedTuple):
    """The result of `svd`: `U @ diag(S) @ Vh`."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _matrices(x: Any, function: str) -> Tensor:
    tensor = tensor_of(x, FLOATING, function)
    if rank_of(tensor, function) < 2:
        raise ValueError(f"{function} takes arrays of two dimensions or more")
    return tensor


def cholesky(x: Any, /, *, upper: bool = False) -> Tensor:
    """Return the lower triangular matrix L with `L @ adjoint(L)` equal to the matrix; with `upper` its adjoint."""
    matrices = _matrices(x, "cholesky")
    if not upper:
        return linalg.cholesky(matrices)
    return linalg.adjoint(linalg.cholesky(linalg.adjoint(matrices)))


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Return the cross products of vectors of three elements along an axis."""
    a, b = together((x1, x2), NUMERIC, "cross")
    ranks = rank_of(a, "cross"), rank_of(b, "cross")
    if not -min(ranks) <= axis < min(ranks):
        raise IndexError(f"cross: axis {axis} is not an axis of both arrays")
    for each in (a, b):
        if each.shape[axis] not in (3, None):
            raise ValueError(f"cross takes vectors of 3 elements, not {each.shape[axis]}")
    (first, second), (third, fourth) = (
        [gather_ops.gather(each, order, axis=axis) for order in ([1, 2, 0], [2, 0, 1])] for each in (a, b)
    )
    return first * fourth - second * third


def det(x: Any, /) -> Tensor:
    """Return the determinant."""
    return linalg.det(_matrices(x, "det"))


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """Return the diagonal, or the one `offset` above it; an empty array if there is none."""
    tensor = tensor_of(x, ANY, "diagonal")
    if rank_of(tensor, "diagonal") < 2:
        raise ValueError("diagonal takes arrays of two dimensions or more")
    return diagonal_of(tensor, offset)


def eig(x: Any, /) -> Eig:
    """Return eigenvalues and eigenvectors, which are complex."""
    return Eig(*linalg.eig(_matrices(x, "eig")))


def eigvals(x: Any, /) -> Tensor:
    """Return eigenvalues, which are complex."""
    return linalg.eigvals(_matrices(x, "eigvals"))


def eigh(x: Any, /) -> Eig:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices; only the lower triangles are read."""
    values, vectors = linalg.eigh(_matrices(x, "eigh"))
    return Eig(_real(values), vectors)


def eigvalsh(x: Any, /) -> Tensor:
    """Return eigenvalues of symmetric or Hermitian matrices."""
    return _real(linalg.eigvalsh(_matrices(x, "eigvalsh")))


def _real(x: Tensor) -> Tensor:
    return elementwise.real(x) if x.dtype.is_complex else x


def inv(x: Any, /) -> Tensor:
    """Return the inverse."""
    return linalg.inv(_matrices(x, "inv"))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Return norms of matrices: "fro", "nuc", 1, 2, infinity, and -1, -2, -infinity."""
    matrices = _matrices(x, "matrix_norm")
    if ord in ("fro", None):
        size = elementwise.abs(matrices)
        return elementwise.sqrt(reductions.reduce_sum(size * size, (-2, -1), keepdims))
    if ord in ("nuc", 2, -2):
        values = svdvals(matrices)
        reduce = reductions.reduce_sum if ord == "nuc" else _extreme(ord)
        found = reduce(values, -1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = reductions.reduce_sum(elementwise.abs(matrices), -2 if abs(ord) == 1 else -1)
        found = _extreme(ord)(sums, -1)
    else:
        raise ValueError(f"matrix_norm: ord is 'fro', 'nuc', 1, 2, inf, -1, -2 or -inf, not {ord!r}")
    return found[..., None, None] if keepdims else found


def _extreme(ord: Any) -> Any:
    return reductions.reduce_max if ord > 0 else reductions.reduce_min


def matrix_power(x: Any, n: int, /) -> Tensor:
    """Return the `n`th power of a square matrix; of the inverse, when `n` is negative."""
    factor = _matrices(x, "matrix_power")
    if n < 0:
        factor, n = linalg.inv(factor), -n
    result = reshape.broadcast_to(
        creation.eye(shape_ops.shape(factor)[-1], dtype=factor.dtype), shape_ops.shape(factor)
    )
    while n:
        if n % 2:
            result = linalg.matmul(result, factor)
        n //= 2
        if n:
            factor = linalg.matmul(factor, factor)
    return result


def _cut_off(x: Tensor, rtol: Any) -> Tensor:
    """Return the tolerance relative to the largest singular value; smaller singular values count as zero."""
    if rtol is not None:
        return cast(rtol, x.dtype.real_dtype)
    longest = cast(reductions.reduce_max(shape_ops.shape(x)[-2:]), x.dtype.real_dtype)
    return longest * finfo(x.dtype).eps


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Tensor:
    """Return the number of singular values above `rtol` times the largest."""
    matrices = _matrices(x, "matrix_rank")
    values = svdvals(matrices)
    limit = _cut_off(matrices, rtol)[..., None] * reductions.reduce_max(values, -1, True)
    return reductions.count_nonzero(values > limit, axis=-1)


def outer(x1: Any, x2: Any, /) -> Tensor:
    """Return all products of an element of one vector and an element of the other."""
    a, b = together((x1, x2), NUMERIC, "outer")
    if (rank_of(a, "outer"), rank_of(b, "outer")) != (1, 1):
        raise ValueError("outer takes arrays of one dimension")
    return reshape.expand_dims(a, 1) * b


def pinv(x: Any, /, *, rtol: Any = None) -> Tensor:
    """Return the pseudo-inverse; singular values up to `rtol` times the largest count as zero."""
    matrices = _matrices(x, "pinv")
    return linalg.pinv(matrices, _cut_off(matrices, rtol))


def qr(x: Any, /, *, mode: str = "reduced") -> QR:
    """Return the factors of a QR decomposition; with "complete", Q is square."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode is 'reduced' or 'complete', not {mode!r}")
    return QR(*linalg.qr(_matrices(x, "qr"), full_matrices=mode == "complete"))


def slogdet(x: Any, /) -> SlogDet:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    sign, size = linalg.slogdet(_matrices(x, "slogdet"))
    return SlogDet(sign, _real(size))


def solve(x1: Any, x2: Any, /) -> Tensor:
    """Return the solution X of `x1 @ X == x2`: a vector if `x2` has one dimension, otherwise matrices."""
    a, b = together((x1, x2), FLOATING, "solve")
    rank = rank_of(b, "solve")
    columns = reshape.expand_dims(b, 1) if rank == 1 else b
    batch = broadcast_dynamic_shape(
        shape_ops.shape(_matrices(a, "solve"))[:-2], shape_ops.shape(columns)[:-2]
    )
    found = linalg.solve(_in_batch(a, batch), _in_batch(columns, batch))
    return reshape.squeeze(found, -1) if rank == 1 else found


def _in_batch(x: Tensor, batch: Tensor) -> Tensor:
    return reshape.broadcast_to(x, concat([batch, shape_ops.shape(x)[-2:]], 0))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVD:
    """Return the factors of the singular value decomposition."""
    values, left, right = linalg.svd(_matrices(x, "svd"), full_matrices=full_matrices)
    return SVD(left, _real(values), linalg.adjoint(right))


def svdvals(x: Any, /) -> Tensor:
    """Return the singular values, the largest first."""
    return _real(linalg.svd(_matrices(x, "svdvals"), compute_uv=False))


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Return the sum of a diagonal; sums of small integers are widened as by `sum`."""
    return sum_of(diagonal(tensor_of(x, NUMERIC, "trace"), offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Return norms of vectors: infinity for the largest element, 0 for the number of nonzero elements, or a power."""
    size = elementwise.abs(tensor_of(x, FLOATING, "vector_norm"))
    axes = axes_of(axis, size, "vector_norm")
    if ord in (math.inf, -math.inf):
        return _extreme(ord)(size, axes, keepdims)
    if ord == 0:
        return reductions.reduce_sum(cast(size != 0, size.dtype), axes, keepdims)
    if ord == 1:
        return reductions.reduce_sum(size, axes, keepdims)
    if ord == 2:
        return elementwise.sqrt(reductions.reduce_sum(size * size, axes, keepdims))
    return reductions.reduce_sum(size**ord, axes, keepdims) ** (1 / ord)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip
