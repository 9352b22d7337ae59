"""`LinearOperatorFullMatrix` and `LinearOperatorLowerTriangular`: matrices that are stored element by element."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ops.linalg.decompositions import cholesky
from ..ops.linalg.diagonals import band_part
from ..ops.linalg.inverse_and_det import triangular_solve
from ..ops.linalg.matmul import matmul
from ..ops.linalg.matrix_diag import diag_part
from . import hints
from .diag import LinearOperatorDiag
from .hints import Hints, with_hints
from .operator import LinearOperator
from .rules import rule
from .structured import KnownEigenvalues, StructuredOperator, as_reference

_FLOATING = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


@export("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(StructuredOperator):
    """A matrix that is stored as such.

    Args:
        matrix: a tensor `[..., M, N]` of floating or complex numbers, or a variable, which is read at each use.

    >>> operator = LinearOperatorFullMatrix([[4., 2.], [2., 2.]], is_self_adjoint=True, is_positive_definite=True)
    >>> operator.cholesky().to_dense().numpy().tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """

    _matrix_ndims = {"matrix": 2}

    @with_hints()
    def __init__(self, matrix: Any, *, given: Hints) -> None:
        self.matrix = as_reference(matrix, "matrix", 2)
        kind = self.matrix.dtype
        if kind not in _FLOATING:
            known = ", ".join(f"tf.{one.name}" for one in _FLOATING)
            raise TypeError(f"Argument `matrix` must have dtype in [{known}]. Received: {kind}.")
        super().__init__(kind, **given)

    def _extent(self, sizes: Any) -> Any:
        return sizes.shape(self.matrix)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return matmul(self.matrix, x, adjoint_a=adjoint)

    def _to_dense(self) -> Any:
        return convert_to_tensor(self.matrix)


@export("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(KnownEigenvalues):
    """A lower triangular matrix.

    Args:
        tril: a tensor `[..., N, N]`, or a variable, which is read at each use; the upper triangle is ignored.

    >>> LinearOperatorLowerTriangular([[2., 9.], [1., 4.]]).solvevec([2., 5.]).numpy().tolist()
    [1.0, 1.0]
    """

    _matrix_ndims = {"tril": 2}

    @with_hints()
    def __init__(self, tril: Any, *, given: Hints) -> None:
        why = "Only square lower triangular operators supported at this time."
        hints.require(given, "is_square", True, why)
        self.tril = as_reference(tril, "tril", 2)
        super().__init__(self.tril.dtype, **given)

    def _extent(self, sizes: Any) -> Any:
        return sizes.shape(self.tril)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return matmul(self.to_dense(), x, adjoint_a=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return triangular_solve(self.tril, rhs, adjoint=adjoint)

    def _to_dense(self) -> Any:
        return band_part(self.tril, -1, 0)

    def _values(self) -> Any:
        return diag_part(self.tril)

    def _diag_part(self) -> Any:
        return self._values()


@rule("cholesky", LinearOperator)
def _(operator: Any) -> Any:
    factor = cholesky(operator.to_dense())
    return LinearOperatorLowerTriangular(factor, is_non_singular=True, is_self_adjoint=False, is_square=True)


def _triangular(tril: Any, left: Any, right: Any) -> Any:
    given = {**hints.of_commuting_product(left, right), "is_positive_definite": None, "is_square": True}
    return LinearOperatorLowerTriangular(tril, **given)


@rule("matmul", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(left: Any, right: Any) -> Any:
    return _triangular(left._column() * right.to_dense(), left, right)


@rule("matmul", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _(left: Any, right: Any) -> Any:
    return _triangular(left.to_dense() * right.diag[..., None, :], left, right)


@rule("solve", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(left: Any, right: Any) -> Any:
    return _triangular(right.to_dense() / left._column(), left, right)
