"""Inverses, determinants and linear systems of (batches of) matrices, which are the last two axes.

>>> solve([[2., 0.], [0., 4.]], [[2.], [2.]]).numpy().tolist()
[[1.0], [0.5]]
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.graph import Operand
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels import blas_limit
from ...kernels.blas import triangular_solver
from ...kernels.thread_pool import run_all
from ..arrays.creation import zeros_like
from ..arrays.reshape import expand_dims, fitted
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import CURVED, Array, require_dtype
from ..math.cast import cast, complex
from ..math.elementwise import conj, imag, real
from .diagonals import band_part
from .matmul import matmul

SOLVABLE = CURVED - {dtypes.float16}


def matrix_shape(x: Operand, what: str) -> tuple[int | None, ...] | None:
    """Return the shape of an operand that must be a matrix.

    >>> from agc.runtime.ir.graph import Constant
    >>> matrix_shape(Constant(np.eye(2)), "inv")
    (2, 2)
    """
    require_dtype(x, SOLVABLE, what)
    if x.shape is not None and len(x.shape) < 2:
        raise ValueError(f"{what}: input must have rank >= 2, got {len(x.shape)}")
    return x.shape


def square_matrix(x: Operand, what: str) -> tuple[int | None, ...] | None:
    shape = matrix_shape(x, what)
    if shape is not None and shape[-1] != shape[-2] and None not in shape[-2:]:
        raise ValueError(f"{what}: input matrix must be square, not {shapes.show(shape)}")
    return shape


def lapack(compute: Callable[..., Any], *arrays: Array) -> Any:
    """Call a function of `np.linalg` with one thread of BLAS, and convert its LinAlgError to InvalidArgumentError.

    Next to a busy program, threads of OpenBLAS wait for each other for up to 0.1 s a call, in which one thread
    inverts hundreds of matrices of 128 by 128.

    >>> lapack(np.linalg.inv, np.eye(1)).tolist()
    [[1.0]]
    """
    try:
        return blas_limit.run(compute, *arrays)
    except np.linalg.LinAlgError as error:
        what = _NO_CHOLESKY if "positive definite" in str(error) else "Input is not invertible, or not valid"
        raise errors.InvalidArgumentError(f"{what}: {error}") from None


_NO_CHOLESKY = "Cholesky decomposition was not successful. The input might not be valid"
"""TensorFlow's words, by which GPflow recognizes the error."""


def without_nan(x: Array) -> Array:
    """Return `x`; raise InvalidArgumentError if it contains NaN, which LAPACK can turn into finite results.

    >>> without_nan(np.eye(1)).tolist()
    [[1.0]]
    """
    if np.isnan(x).any():
        raise errors.InvalidArgumentError("Input is not invertible, or not valid: it contains NaN")
    return x


def are_all(flags: Array) -> bool:
    """Return whether all flags are set, so that a kernel can leave out a step; XLA programs never leave it out.

    >>> are_all(np.array([True, False]))
    False
    """
    return bool(flags.all())


def of_finite(compute: Callable[[Array], Sequence[Array]]) -> Callable[[Array], Sequence[Array]]:
    """Return `compute`, a function of (a batch of) matrices, with NaN as its results for matrices with NaN or inf.

    LAPACK does not converge for such matrices, and an algorithm that scales them by their norms does not end.

    >>> of_finite(lambda x: [x + 1])(np.array([[[1.0]], [[np.inf]]]))[0].ravel().tolist()
    [2.0, nan]
    """

    def computed(x: Array) -> Sequence[Array]:
        finite = np.isfinite(x).all((-2, -1))
        if are_all(finite):
            return compute(x)
        parts = compute(np.where(finite[..., None, None], x, np.eye(*x.shape[-2:], dtype=x.dtype)))
        ranks = [range(finite.ndim, part.ndim) for part in parts]
        masks = [np.expand_dims(finite, tuple(axes)) for axes in ranks]
        return [np.where(mask, part, part * np.nan) for mask, part in zip(masks, parts, strict=True)]

    return computed


_LARGE, _PARTS = 1 << 13, 8
_LARGE_SYSTEM, _STRIP = 1 << 21, 96


def decomposed(compute: Callable[[Array], Sequence[Array]], x: Array) -> list[Array]:
    """Return the arrays that `compute`, a decomposition, returns for (a batch of) matrices, as `lapack` does.

    Threads share the matrices: unlike those of `solve`, the loops of `qr`, `svd` and `eigh` release the GIL.

    >>> [part.shape for part in decomposed(np.linalg.qr, np.ones((2, 3, 3)))]
    [(2, 3, 3), (2, 3, 3)]
    """
    count = math.prod(x.shape[:-2])
    if x.size < _LARGE or count < _PARTS:
        return list(lapack(compute, x))
    rows, found = x.reshape(count, *x.shape[-2:]), dict[int, Sequence[Array]]()

    def work(part: int) -> None:
        found[part] = compute(rows[part * count // _PARTS : (part + 1) * count // _PARTS])

    lapack(run_all, *(functools.partial(work, part) for part in range(_PARTS)))
    results = (np.concatenate(parts) for parts in zip(*map(found.get, range(_PARTS)), strict=True))
    return [whole.reshape(*x.shape[:-2], *whole.shape[1:]) for whole in results]


def _adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


@export("linalg.inv")
@op(batch=batching.unchanged)
def inv(input: Input, adjoint: bool = False, name: Name = None) -> TensorType:
    """Return the inverse, of the conjugate transpose if `adjoint`.

    >>> inv([[2., 0.], [0., 4.]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return input.spec.with_shape(square_matrix(input, "inv"))  # type: ignore[no-any-return]


@inv.kernel
def _(input: Array, adjoint: bool) -> Array:
    inverse = lapack(np.linalg.inv, without_nan(input))
    return _adjoint(inverse) if adjoint else inverse


@inv.gradient
def _(dy: Any, y: Any, input: Any, adjoint: bool) -> Any:
    if adjoint:
        return -times(y, times(dy, y, adjoint_a=True))
    return -times(y, times(dy, y, adjoint_b=True), adjoint_a=True)


def times(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Any:
    """Return the product of matrices, or of their conjugate transposes."""
    return matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


@export("linalg.det")
@op(batch=batching.unchanged)
def det(input: Input, name: Name = None) -> TensorType:
    """Return the determinant.

    >>> det([[2., 0.], [0., 4.]]).numpy().tolist()
    8.0
    """
    shape = square_matrix(input, "det")
    return TensorType(input.dtype, shape and shape[:-2])


det.kernel(lambda input: lapack(np.linalg.det, input))
det.gradient(lambda dy, y, input: _as_matrices(dy * conj(y)) * inv(input, adjoint=True))


def _as_matrices(x: Any) -> Any:
    return expand_dims(expand_dims(x, -1), -1)


class LogMatrixDeterminant(NamedTuple):
    """The result of `slogdet`."""

    sign: Tensor
    log_abs_determinant: Tensor


@export("linalg.slogdet")
def slogdet(input: TensorLike, name: Name = None) -> LogMatrixDeterminant:
    """Return the sign of the determinant, and the logarithm of its absolute value.

    >>> sign, size = slogdet([[-1., 0.], [0., 1.]])
    >>> sign.numpy().tolist(), size.numpy().tolist()
    (-1.0, 0.0)
    """
    return LogMatrixDeterminant(*_slogdet(input, name))


@op(name="slogdet")
def _slogdet(input: Input, name: Name = None) -> tuple[TensorType, TensorType]:
    """Compute `slogdet`.

    >>> len(_slogdet([[1., 0.], [0., 1.]]))
    2
    """
    shape = square_matrix(input, "slogdet")
    spec = TensorType(input.dtype, shape and shape[:-2])
    return spec, spec


@_slogdet.kernel
def _(input: Array) -> Any:
    sign, size = lapack(np.linalg.slogdet, input)
    return sign * np.where(np.isnan(size), size, 1), size.astype(input.dtype)


@_slogdet.gradient
def _(dys: Any, ys: Any, input: Any) -> Any:
    """Differentiate the logarithm, and the sign's phase for complex numbers.

    The derivative of the logarithm is `input'^-1`, where ' is the adjoint.
    """
    sign, size = (zeros_like(y) if dy is None else dy for dy, y in zip(dys, ys, strict=True))
    weight = cast(real(size), input.dtype)
    if input.dtype.is_complex:
        turn = imag(conj(sign) * ys[0])
        weight += complex(zeros_like(turn), -turn)
    return _as_matrices(weight) * inv(input, adjoint=True)


@export("linalg.solve")
@op(batch=batching.all_with_rows)
def solve(matrix: Same, rhs: Same, adjoint: bool = False, name: Name = None) -> TensorType:
    """Return `x` with `matrix @ x == rhs`, column by column; with the conjugate transpose of `matrix` if `adjoint`.

    >>> solve([[2., 1.], [0., 1.]], [[4.], [2.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    square, right = square_matrix(matrix, "solve"), matrix_shape(rhs, "solve")
    if square is None or right is None:
        return TensorType(rhs.dtype, right)
    if len(square) != len(right):
        raise ValueError(f"solve: all inputs must have the same rank, not {len(square)} and {len(right)}")
    batch = shapes.merge(square[:-1], right[:-1])
    assert batch is not None
    return TensorType(rhs.dtype, (*batch, right[-1]))


@solve.kernel
def _(matrix: Array, rhs: Array, adjoint: bool) -> Array:
    if matrix.ndim != rhs.ndim:
        raise errors.InvalidArgumentError("solve: all inputs must have the same rank")
    return lapack(np.linalg.solve, _adjoint(without_nan(matrix)) if adjoint else without_nan(matrix), rhs)


@solve.gradient
def _(dy: Any, y: Any, matrix: Any, rhs: Any, adjoint: bool) -> Any:
    to_rhs = solve(matrix, dy, adjoint=not adjoint)
    return lambda: -times(y, to_rhs, adjoint_b=True) if adjoint else -times(to_rhs, y, adjoint_b=True), to_rhs


@export("linalg.triangular_solve")
@op(batch=batching.elementwise, traits=LENIENT)
def triangular_solve(
    matrix: Same, rhs: Same, lower: bool = True, adjoint: bool = False, name: Name = None
) -> TensorType:
    """Solve a triangular system like `solve`; the batch axes broadcast.

    `lower` selects the triangle of `matrix` that is read; `adjoint` solves with the adjoint of that.

    >>> triangular_solve([[2., 9.], [1., 1.]], [[2.], [3.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    square, right = square_matrix(matrix, "triangular_solve"), matrix_shape(rhs, "triangular_solve")
    if square is None or right is None:
        return TensorType(rhs.dtype, None)
    rows = shapes.merge(square[-1:], right[-2:-1])
    outer = shapes.broadcast(square[:-2], right[:-2])
    assert rows is not None
    return TensorType(rhs.dtype, None if outer is None else (*outer, *rows, right[-1]))


@triangular_solve.kernel
def _(matrix: Array, rhs: Array, lower: bool, adjoint: bool) -> Array:
    half = matrix.reshape((1,) * (rhs.ndim - matrix.ndim) + matrix.shape)
    rhs = rhs.reshape((1,) * (half.ndim - rhs.ndim) + rhs.shape)
    half = _adjoint(half) if adjoint else half
    return lapack(_solved, half, rhs, lower != adjoint).astype(matrix.dtype)


def _solved(half: Array, rhs: Array, is_lower: bool) -> Array:
    found = solved_by_blas(half, rhs, is_lower)
    return _substituted(_wide(half), _wide(rhs), is_lower) if found is None else found


def _wide(x: Array) -> Array:
    """Return the numbers in the dtype in which LAPACK computes here."""
    return x.astype(np.result_type(x, np.float64))


_SMALL, _FEW, _BLOCK = 24, 2, 64

_COSTLY = 128
"""The most rows for which float32 is widened, here and in native code."""


def _substituted(half: Array, rhs: Array, is_lower: bool) -> Array:
    """Solve a triangular system by halves; the solution of one half times the corner changes the other's right side.

    BLAS would spread NaN and infinities to all elements of a solution, or lose them. LAPACK's solver for any matrix
    exchanges rows, which loses most digits of ill-conditioned triangular systems.
    """
    size = half.shape[-1]
    if size <= _BLOCK:
        outer = np.broadcast_shapes(half.shape[:-2], rhs.shape[:-2])
        half, rhs = (np.broadcast_to(x, outer + x.shape[-2:]) for x in (half, rhs))
        return by_columns(half, rhs, is_lower)
    middle = size // 2
    parts = [slice(0, middle), slice(middle, size)]
    one, other = parts if is_lower else parts[::-1]
    first = _substituted(half[..., one, one], rhs[..., one, :], is_lower)
    rest = rhs[..., other, :] - half[..., other, one] @ first
    second = _substituted(half[..., other, other], rest, is_lower)
    return np.concatenate([first, second] if is_lower else [second, first], axis=-2)


def solved_by_blas(half: Array, rhs: Array, is_lower: bool) -> Array | None:
    """Solve triangular systems of finite numbers; threads share the columns of large right sides.

    Return None for many small systems, for numbers that are not finite, and without BLAS.

    >>> solved_by_blas(np.tile(np.eye(2), (9, 1, 1)), np.ones((9, 2, 1)), True) is None
    True
    """
    outer = np.broadcast_shapes(half.shape[:-2], rhs.shape[:-2])
    if half.shape[-1] < _SMALL and math.prod(outer) > _FEW:
        return None
    if half.shape[-1] <= _COSTLY:
        half, rhs = _wide(half), _wide(rhs)
    solve = triangular_solver(half.dtype)
    if solve is None or not (np.isfinite(half).all() and np.isfinite(rhs).all()):
        return None
    size, columns = rhs.shape[-2:]
    _demand_regular(half)
    near, far = sorted(half.strides[-2:])  # a view may repeat rows, or run backwards
    half = half if near == half.itemsize and far >= size * near else np.ascontiguousarray(half)
    x = np.array(np.broadcast_to(rhs, outer + rhs.shape[-2:]), order="C")
    halves = np.broadcast_to(half, outer + half.shape[-2:])
    step = max(columns // _PARTS, _STRIP) if size * size * columns > _LARGE_SYSTEM else max(columns, 1)
    for index in np.ndindex(outer):
        parts = (x[index][:, start : start + step] for start in range(0, columns, step))
        run_all(*(functools.partial(solve, halves[index], part, is_lower) for part in parts))
    return x


def _demand_regular(half: Array) -> None:
    if not np.diagonal(half, axis1=-2, axis2=-1).all():
        raise np.linalg.LinAlgError("Singular matrix")


def by_columns(half: Array, rhs: Array, is_lower: bool) -> Array:
    """Solve many small triangular systems at once, column by column; the batch becomes the last axis."""
    size, count = half.shape[-1], math.prod(half.shape[:-2])
    a, x = (np.array(m.reshape(count, -1).T, order="C").reshape(*m.shape[-2:], count) for m in (half, rhs))
    _demand_regular(half)
    for k in range(size) if is_lower else reversed(range(size)):
        rest = slice(k + 1, None) if is_lower else slice(k)
        x[k] /= a[k, k]
        x[rest] -= a[rest, k, None] * x[k]
    return x.reshape(-1, count).T.reshape(rhs.shape)


@triangular_solve.gradient
def _(dy: Any, y: Any, matrix: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    to_rhs = triangular_solve(matrix, dy, lower, not adjoint)

    def to_matrix() -> Any:
        whole = times(y, to_rhs, adjoint_b=True) if adjoint else times(to_rhs, y, adjoint_b=True)
        return fitted(-band_part(whole, -1, 0) if lower else -band_part(whole, 0, -1), matrix)

    return to_matrix, fitted(to_rhs, rhs)
