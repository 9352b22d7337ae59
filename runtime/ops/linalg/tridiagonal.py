"""Tridiagonal matrices in compact storage: products, solutions and eigenvalues.

>>> tridiagonal_solve([[1., 0.], [2., 2.], [0., 1.]], [4., 5.]).numpy().tolist()
[1.0, 2.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..arrays.concat_split import concat, stack
from ..arrays.creation import zeros_like
from ..arrays.reshape import expand_dims, squeeze
from ..arrays.where_ops import boolean_mask
from ..framework.op import Name, Same, op
from ..framework.op_families import Array, require_dtype
from ..math.cast import cast
from ..math.comparison import greater, less_equal, logical_and
from ..math.elementwise import conj
from ..reduce.reductions import reduce_sum
from .decompositions import eigh
from .diagonals import diag, diag_part, matrix_transpose
from .inverse_and_det import SOLVABLE


def compact_diagonals(diagonals: Any, diagonals_format: str) -> Tensor:
    """Return the diagonals above, on and below the main one as three rows; elements outside the matrix are ignored."""
    if diagonals_format == "compact":
        return convert_to_tensor(diagonals)
    if diagonals_format == "matrix":
        matrix = convert_to_tensor(diagonals)
        column = zeros_like(matrix[..., :1])
        moved = (concat([matrix[..., 1:], column], -1), matrix, concat([column, matrix[..., :-1]], -1))
        parts = [diag_part(each) for each in moved]
    elif diagonals_format == "sequence":
        parts = [convert_to_tensor(part) for part in diagonals]
        if len(parts) != 3:
            raise ValueError(f"Expected diagonals to be a sequence of length 3, got {len(parts)}")
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    upper, middle, lower = parts
    size = middle.shape.sizes and middle.shape.sizes[-1]
    if upper.shape.sizes is None or size is None or upper.shape[-1] == size:
        return stack(parts, -2)  # type: ignore[no-any-return]
    nothing = zeros_like(middle[..., :1])
    return stack([concat([upper, nothing], -1), middle, concat([nothing, lower], -1)], -2)  # type: ignore[no-any-return]


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any, rhs: TensorLike, diagonals_format: str = "compact", name: Name = None
) -> Tensor:
    """Return the product of tridiagonal matrices with `rhs`.

    Args:
        diagonals: "compact": rows [..., 3, n] with the diagonals above (its last element is ignored), on and
            below (its first is ignored) the main one; "sequence": the three diagonals; "matrix": the whole
            matrices.
        rhs: matrices [..., n, k].

    >>> tridiagonal_matmul([[1., 0.], [2., 2.], [0., 1.]], [[1.], [2.]]).numpy().tolist()
    [[4.0], [5.0]]
    """
    rows = compact_diagonals(diagonals, diagonals_format)
    right = convert_to_tensor(rhs, rows.dtype)
    upper, middle, lower = (expand_dims(rows[..., i, :], -1) for i in range(3))
    nothing = zeros_like(right[..., :1, :])
    after = concat([right[..., 1:, :], nothing], -2)
    before = concat([nothing, right[..., :-1, :]], -2)
    above = concat([upper[..., :-1, :], zeros_like(upper[..., :1, :])], -2)
    below = concat([zeros_like(lower[..., :1, :]), lower[..., 1:, :]], -2)
    return middle * right + above * after + below * before  # type: ignore[no-any-return]


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: Name = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Return `x` with `matrix @ x == rhs`, for tridiagonal matrices, given as in `tridiagonal_matmul`.

    Args:
        rhs: vectors [..., n], or matrices [..., n, k]; matrices if ranks are unknown during tracing.
        transpose_rhs, conjugate_rhs: how to transform `rhs` first.
        partial_pivoting: always done, since it is no less accurate.
        perturb_singular: not supported.

    Raises InvalidArgumentError for a singular matrix.

    >>> tridiagonal_solve([[1., 0.], [2., 2.], [0., 1.]], [[4.], [5.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    if perturb_singular:
        raise ValueError("perturb_singular is not supported")
    rows = compact_diagonals(diagonals, diagonals_format)
    right = convert_to_tensor(rhs, rows.dtype)
    right = conj(right) if conjugate_rhs else right
    if right.shape.rank is not None and right.shape.rank + 1 == rows.shape.rank:
        return squeeze(tridiagonal_solution(rows, expand_dims(right, -1), name), [-1])  # type: ignore[no-any-return]
    if transpose_rhs:
        right = matrix_transpose(right)
    return tridiagonal_solution(rows, right, name)  # type: ignore[no-any-return]


@op(traits=LENIENT)
def tridiagonal_solution(diagonals: Same, rhs: Same, name: Name = None) -> TensorType:
    """Compute `tridiagonal_solve` for compact diagonals and matrices `rhs`.

    >>> tridiagonal_solution([[1., 0.], [2., 2.], [0., 1.]], [[4.], [5.]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    require_dtype(diagonals, SOLVABLE, "tridiagonal_solve")
    rows, right = diagonals.shape, rhs.shape
    if rows is None or right is None:
        return TensorType(rhs.dtype, None)
    if len(rows) < 2 or len(rows) != len(right) or rows[-2] not in (None, 3):
        raise ValueError(
            f"diagonals {shapes.show(rows)} and rhs {shapes.show(right)} must be [..., 3, n] and [..., n, k]"
        )
    batch = shapes.merge((*rows[:-2], rows[-1]), right[:-1])
    assert batch is not None
    return TensorType(rhs.dtype, (*batch, right[-1]))


@tridiagonal_solution.kernel
def _(diagonals: Array, rhs: Array) -> Array:
    """Compute Gaussian elimination with pivoting between adjacent rows, for all matrices at once.

    A row has three elements of its matrix, from the first that is not eliminated yet, and then those of `rhs`.
    """
    size = diagonals.shape[-1]
    if not size:
        return rhs
    upper, middle, lower = (diagonals[..., i, :] for i in range(3))
    nothing = np.zeros_like(middle)
    upper = np.concatenate([upper[..., :-1], nothing[..., :1]], -1)
    rights = np.moveaxis(rhs, -1, 0)
    rows = np.ascontiguousarray(np.moveaxis(np.stack([lower, middle, upper, *rights]), -1, 0))
    last = np.stack([rows[0, 1], rows[0, 2], np.zeros_like(rows[0, 0]), *rows[0, 3:]])
    done = []
    for below in rows[1:]:
        swap = np.abs(below[0]) > np.abs(last[0])
        first, other = np.where(swap, below, last), np.where(swap, last, below)
        done.append(first)
        rest = other[1:] - other[0] / first[0] * first[1:]
        last = np.concatenate([rest[:2], np.zeros_like(rest[:1]), rest[2:]])
    done.append(last)
    x: list[Array] = []
    for row in reversed(done):
        rest = row[3:]
        for factor, known in zip(row[1:3], x[:-3:-1], strict=False):
            rest = rest - factor * known
        x.append(rest / row[0])
    if np.any(np.stack([row[0] for row in done]) == 0):
        raise errors.InvalidArgumentError("The matrix is not invertible.")
    return np.moveaxis(np.stack(x[::-1], -1), 0, -1)


def _shifted(x: Any, up: bool) -> Any:
    nothing = zeros_like(x[..., :1])
    return concat([x[..., 1:], nothing], -1) if up else concat([nothing, x[..., :-1]], -1)


@tridiagonal_solution.gradient
def _(dy: Any, y: Any, diagonals: Any, rhs: Any) -> Any:
    turned = [
        _shifted(diagonals[..., 2, :], True),
        diagonals[..., 1, :],
        _shifted(diagonals[..., 0, :], False),
    ]
    right = tridiagonal_solution(conj(stack(turned, -2)), dy)
    nothing = zeros_like(y[..., :1, :])
    after, before = concat([y[..., 1:, :], nothing], -2), concat([nothing, y[..., :-1, :]], -2)
    rows = [-reduce_sum(right * conj(part), -1) for part in (after, y, before)]
    return stack(rows, -2), right


@export("linalg.eigh_tridiagonal")
def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: Name = None,
) -> Any:
    """Return the eigenvalues, ascending, of a Hermitian tridiagonal matrix, and on request the eigenvectors.

    Args:
        alpha: the diagonal.
        beta: the diagonal above it.
        select: "a" for all, "i" for the indices from the first to the last number of `select_range`, "v" for
            values above its first number, up to the second.
        tol: accepted for compatibility; the eigenvalues have full precision.

    >>> eigh_tridiagonal([0., 0.], [1.]).numpy().round(5).tolist()
    [-1.0, 1.0]
    """
    middle = convert_to_tensor(alpha)
    upper = convert_to_tensor(beta, middle.dtype)
    if select not in ("a", "i", "v"):
        raise ValueError(f"'select must have a value in {{'a', 'i', 'v'}}, not {select!r}")
    if select != "a" and (select_range is None or len(select_range) != 2):
        raise ValueError(f"select {select!r} needs a select_range of two numbers")
    values, vectors = eigh(diag(middle) + diag(upper, k=1) + diag(conj(upper), k=-1))
    values = cast(values, middle.dtype.real_dtype)
    if select == "i":
        first, last = int(select_range[0]), int(select_range[1]) + 1
        values, vectors = values[first:last], vectors[:, first:last]
    if select == "v":
        low, high = (convert_to_tensor(end, values.dtype) for end in select_range)
        chosen = logical_and(greater(values, low), less_equal(values, high))
        values, vectors = boolean_mask(values, chosen), boolean_mask(vectors, chosen, axis=1)
    return values if eigvals_only else (values, vectors)
