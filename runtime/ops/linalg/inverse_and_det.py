"""Inverses, determinants and linear systems of (batches of) matrices, which are the last two axes.

>>> solve([[2., 0.], [0., 4.]], [[2.], [2.]]).numpy().tolist()
[[1.0], [0.5]]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ...kernels import blas_limit
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
        raise errors.InvalidArgumentError(f"Input is not invertible, or not valid: {error}") from None


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
    inverse = lapack(np.linalg.inv, input)
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
    return sign, size.astype(input.dtype)


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
    return _solution(matrix, rhs, "solve")


def _solution(matrix: Operand, rhs: Operand, what: str) -> TensorType:
    square, right = square_matrix(matrix, what), matrix_shape(rhs, what)
    if square is None or right is None:
        return TensorType(rhs.dtype, right)
    if len(square) != len(right):
        raise ValueError(f"{what}: all inputs must have the same rank, not {len(square)} and {len(right)}")
    batch = shapes.merge(square[:-1], right[:-1])
    assert batch is not None
    return TensorType(rhs.dtype, (*batch, right[-1]))


@solve.kernel
def _(matrix: Array, rhs: Array, adjoint: bool) -> Array:
    if matrix.ndim != rhs.ndim:
        raise errors.InvalidArgumentError("solve: all inputs must have the same rank")
    return lapack(np.linalg.solve, _adjoint(matrix) if adjoint else matrix, rhs)


@solve.gradient
def _(dy: Any, y: Any, matrix: Any, rhs: Any, adjoint: bool) -> Any:
    to_rhs = solve(matrix, dy, adjoint=not adjoint)
    return lambda: -times(y, to_rhs, adjoint_b=True) if adjoint else -times(to_rhs, y, adjoint_b=True), to_rhs


@export("linalg.triangular_solve")
@op(batch=batching.all_with_rows)
def triangular_solve(
    matrix: Same, rhs: Same, lower: bool = True, adjoint: bool = False, name: Name = None
) -> TensorType:
    """Solve a triangular system like `solve`; the other half of `matrix` is ignored. Batches are broadcast.

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
    half = np.tril(matrix) if lower else np.triu(matrix)
    half = half.reshape((1,) * (rhs.ndim - half.ndim) + half.shape)
    rhs = rhs.reshape((1,) * (half.ndim - rhs.ndim) + rhs.shape)
    if half.shape[-1] > _BLOCK:  # as LAPACK computes in NumPy
        half, rhs = (x.astype(np.result_type(x, np.float64)) for x in (half, rhs))
    found = lapack(_substituted, _adjoint(half) if adjoint else half, rhs, lower != adjoint)
    return found.astype(matrix.dtype, copy=False)


_BLOCK = 64


def _substituted(half: Array, rhs: Array, is_lower: bool) -> Array:
    """Solve a triangular system by halves; the solution of one half times the corner changes the other's right side."""
    size = half.shape[-1]
    if size <= _BLOCK:
        return np.linalg.solve(half, rhs)
    middle = size // 2
    parts = [slice(0, middle), slice(middle, size)]
    one, other = parts if is_lower else parts[::-1]
    first = _substituted(half[..., one, one], rhs[..., one, :], is_lower)
    rest = rhs[..., other, :] - half[..., other, one] @ first
    second = _substituted(half[..., other, other], rest, is_lower)
    return np.concatenate([first, second] if is_lower else [second, first], axis=-2)


@triangular_solve.gradient
def _(dy: Any, y: Any, matrix: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    to_rhs = triangular_solve(matrix, dy, lower, not adjoint)

    def to_matrix() -> Any:
        whole = times(y, to_rhs, adjoint_b=True) if adjoint else times(to_rhs, y, adjoint_b=True)
        return fitted(-band_part(whole, -1, 0) if lower else -band_part(whole, 0, -1), matrix)

    return to_matrix, fitted(to_rhs, rhs)
