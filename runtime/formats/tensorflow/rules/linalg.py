"""Products and decompositions of matrices, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, refuse, writes
from .shapes import cast, inverse, permuted, rank_of, sliced

direct(
    """
    band_part=MatrixBandPart(input,num_lower,num_upper) band_within=MatrixBandPart
    banded_triangular_solve=BandedTriangularSolve cholesky=Cholesky cross=Cross det=MatrixDeterminant
    eigh=SelfAdjointEigV2 inv=MatrixInverse logm=MatrixLogarithm lu=Lu qr=Qr
    set_diag=MatrixSetDiagV3(input,diagonal,k) slogdet=LogMatrixDeterminant sqrtm=MatrixSquareRoot
    triangular_solve=MatrixTriangularSolve tridiagonal_solution=TridiagonalSolve
    """
)


refuse("expm", "TensorFlow composes it of other operations, in a loop")


def matrix_transpose(to: Body, x: NodeResult, conjugate: bool = False) -> Any:
    """Transpose the last two axes."""
    if x.rank is None:
        count = to.Rank(x)
        order: Any = to.ConcatV2(
            [to.Range(0, to.Sub(count, 2), 1), to.Pack([to.Sub(count, 1), to.Sub(count, 2)])], 0
        )
    else:
        order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    if conjugate and x.kind == "c":
        return to.ConjugateTranspose(x, order)
    return to.Transpose(x, order)


@writes("matrix_transpose")
def _(to: Body, a: NodeResult, conjugate: bool) -> Any:
    return matrix_transpose(to, a, conjugate)


@writes("matmul")
def _(
    to: Body,
    a: NodeResult,
    b: NodeResult,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
) -> Any:
    is_complex = a.kind == "c"
    if not is_complex:
        transpose_a, transpose_b = transpose_a or adjoint_a, transpose_b or adjoint_b
        adjoint_a = adjoint_b = False
    if a.rank == b.rank == 2 and not (adjoint_a or adjoint_b):
        return to.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    if is_complex and transpose_a:
        a = matrix_transpose(to, a)
    if is_complex and transpose_b:
        b = matrix_transpose(to, b)
    swap_a, swap_b = (adjoint_a, adjoint_b) if is_complex else (transpose_a, transpose_b)
    return to.BatchMatMulV2(a, b, adj_x=swap_a, adj_y=swap_b)


@writes("matvec")
def _(to: Body, a: NodeResult, b: NodeResult, transpose_a: bool, adjoint_a: bool) -> Any:
    if a.kind == "c" and transpose_a:
        a, transpose_a = matrix_transpose(to, a), False
    product = to.BatchMatMulV2(a, to.ExpandDims(b, -1), adj_x=transpose_a or adjoint_a)
    return to.Squeeze(product, squeeze_dims=[-1])


@writes("einsum")
def _(to: Body, inputs: list[NodeResult], equation: str) -> Any:
    return to.Einsum(inputs, equation=equation.replace(" ", ""))


def _flat(
    to: Body, x: NodeResult, first: list[int], last: list[int]
) -> tuple[NodeResult, NodeResult, NodeResult]:
    """Return `x` as a matrix with these axes merged to rows and columns, and their sizes."""
    shape = to.Shape(x)
    rows, columns = (
        to.GatherV2(shape, np.array(first, np.int32), 0),
        to.GatherV2(shape, np.array(last, np.int32), 0),
    )
    sizes = to.Pack([to.Prod(rows, [0]), to.Prod(columns, [0])])
    return to.Reshape(permuted(to, x, first + last), sizes), rows, columns


@writes("tensordot")
def tensordot(to: Body, a: NodeResult, b: NodeResult, axes_a: Any, axes_b: Any) -> Any:
    """Merge the axes to those of matrices."""
    axes_a, axes_b = [i % rank_of(a) for i in axes_a], [i % rank_of(b) for i in axes_b]
    left, rows, _ = _flat(to, a, [i for i in range(rank_of(a)) if i not in axes_a], axes_a)
    right, _, columns = _flat(to, b, axes_b, [i for i in range(rank_of(b)) if i not in axes_b])
    return to.Reshape(to.MatMul(left, right), to.ConcatV2([rows, columns], 0))


@writes("tensordot_back")
def _(
    to: Body, dy: NodeResult, other: NodeResult, shape: NodeResult, axes: Any, axes_other: Any, is_left: bool
) -> Any:
    """Contract the axes that the other factor kept, and order the others as in the factor."""
    whole, gone = to.outputs[0].shape, [i % rank_of(other) for i in axes_other]
    if whole is None:
        raise RefusedByRuleError("the rank of a tensor is unknown")
    rank = len(whole)
    summed = [i % rank for i in axes]
    free = [i for i in range(rank) if i not in summed]
    rest = [i for i in range(rank_of(other)) if i not in gone]
    first = len(free) if is_left else 0
    product = tensordot(to, dy, other, range(first, first + len(rest)), rest)
    order = free + [summed[i] for i in sorted(range(len(gone)), key=gone.__getitem__)]
    return to.Transpose(product, inverse(order))


@writes("diag")
def _(to: Body, diagonal: NodeResult, k: int) -> Any:
    return to.MatrixDiagV3(diagonal, k, -1, -1, to.const(0, diagonal.dtype))


@writes("diag_part")
def _(to: Body, input: NodeResult, k: int) -> Any:
    return to.MatrixDiagPartV3(input, k, to.const(0, input.dtype))


@writes("diagonals_of_matrix")
def _(to: Body, input: NodeResult, k: NodeResult, padding: NodeResult, align: str) -> Any:
    return to.MatrixDiagPartV3(input, cast(to, k, "int32"), padding, align=align)


@writes("matrix_of_diagonals")
def _(
    to: Body,
    diagonal: NodeResult,
    k: NodeResult,
    rows: NodeResult,
    columns: NodeResult,
    padding: NodeResult,
    align: str,
) -> Any:
    k, rows, columns = (cast(to, each, "int32") for each in (k, rows, columns))
    return to.MatrixDiagV3(diagonal, k, to.Reshape(rows, []), to.Reshape(columns, []), padding, align=align)


@writes("matrix_with_diagonals")
def _(to: Body, input: NodeResult, diagonal: NodeResult, k: NodeResult, align: str) -> Any:
    return to.MatrixSetDiagV3(input, diagonal, cast(to, k, "int32"), align=align)


@writes("svd")
def _(to: Body, tensor: NodeResult, full_matrices: bool, compute_uv: bool) -> Any:
    return to.Svd(tensor, full_matrices=full_matrices, compute_uv=compute_uv)[: len(to.outputs)]


@writes("eig")
def _(to: Body, tensor: NodeResult) -> Any:
    return to.Eig(tensor, Tout=to.outputs[0].dtype)


@writes("solve")
def _(to: Body, matrix: NodeResult, rhs: NodeResult, adjoint: bool) -> Any:
    if matrix.rank != rhs.rank or (matrix.rank or 0) > 2:
        matrix, rhs = _same_batch(to, matrix, rhs)
    return to.MatrixSolve(matrix, rhs, adjoint=adjoint)


def _same_batch(to: Body, matrix: NodeResult, rhs: NodeResult) -> tuple[NodeResult, NodeResult]:
    """Broadcast the batch axes of two matrices."""
    shapes = to.Shape(matrix), to.Shape(rhs)
    batch = to.BroadcastArgs(*[sliced(to, shape, None, -2) for shape in shapes])
    whole = [to.ConcatV2([batch, sliced(to, shape, -2, None)], 0) for shape in shapes]
    return to.BroadcastTo(matrix, whole[0]), to.BroadcastTo(rhs, whole[1])


@writes("rows_in_order")
def _(to: Body, matrix: NodeResult, order: NodeResult) -> Any:
    batch = rank_of(matrix) - 2
    return to.GatherV2(matrix, order, batch, batch_dims=batch)


@writes("pseudo_inverse")
def _(to: Body, a: NodeResult, rcond: NodeResult) -> Any:
    """Invert the singular values that are large enough."""
    values, left, right = to.Svd(a)
    limit = to.Mul(rcond, to.Max(values, [-1]))
    kept = to.Greater(values, to.ExpandDims(limit, -1))
    inverse = to.SelectV2(
        kept, to.Reciprocal(to.SelectV2(kept, values, to.OnesLike(values))), to.ZerosLike(values)
    )
    scaled = to.Mul(right, cast(to, to.ExpandDims(inverse, -2), a.dtype))
    return to.BatchMatMulV2(scaled, left, adj_y=True)
