"""`LinearOperatorDiag`: diagonal matrices, given by their diagonals."""

from __future__ import annotations

from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ops.arrays.creation import zeros_like
from ..ops.linalg.matrix_diag import diag as diagonal_matrix
from ..ops.linalg.matrix_diag import diag_part, set_diag
from ..ops.math.elementwise import conj, sqrt
from . import hints
from .hints import Hints, with_hints
from .identity import LinearOperatorScaledIdentity
from .rules import rule
from .structured import NormalOperator, as_reference


@export("linalg.LinearOperatorDiag")
class LinearOperatorDiag(NormalOperator):
    """A diagonal matrix.

    Args:
        diag: a tensor `[..., N]`, or a variable, which is read at each use. A real one makes it self-adjoint.

    >>> LinearOperatorDiag([2., 4.]).solvevec([2., 2.]).numpy().tolist()
    [1.0, 0.5]
    >>> (LinearOperatorDiag([2., 4.]) @ LinearOperatorDiag([3., 5.])).diag.numpy().tolist()
    [6.0, 20.0]
    """

    _matrix_ndims = {"diag": 1}
    _not_real = "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint."

    @with_hints()
    def __init__(self, diag: Any, *, given: Hints) -> None:
        self.diag = as_reference(diag, "diag", 1)
        kind = self.diag.dtype
        why = "A real diagonal operator is always self adjoint."
        hints.inherit(given, "is_self_adjoint", not kind.is_complex, why)
        hints.require(given, "is_square", True, "Only square diagonal operators currently supported.")
        super().__init__(kind, **given)

    def _extent(self, sizes: Any) -> Any:
        n = sizes.size(self.diag, -1)
        return sizes.join(sizes.batch(self.diag, 1), n, n)

    def _column(self, adjoint: bool = False) -> Any:
        return (conj(self.diag) if adjoint else self.diag)[..., None]

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self._column(adjoint) * x

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return rhs / self._column(adjoint)

    def _to_dense(self) -> Any:
        return diagonal_matrix(self.diag)

    def _add_to_tensor(self, x: Any) -> Any:
        whole = x + zeros_like(self._column())
        return set_diag(whole, diag_part(whole) + self.diag)

    def _values(self) -> Any:
        return convert_to_tensor(self.diag)

    def _diag_part(self) -> Any:
        return self._values()

    @property
    def _not_positive(self) -> str:  # type: ignore[override]
        if self.dtype.is_complex:
            return "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
        return "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."


_DIAG, _SCALED = LinearOperatorDiag, LinearOperatorScaledIdentity
rule("adjoint", _DIAG)(lambda one: LinearOperatorDiag(conj(one.diag), **hints.of(one)))
rule("inverse", _DIAG)(lambda one: LinearOperatorDiag(1 / one.diag, **hints.of(one)))
rule("cholesky", _DIAG)(lambda one: LinearOperatorDiag(sqrt(one.diag), **hints.of(one)))


def _rows(operator: Any) -> Any:
    """Return the diagonal, or what broadcasts to it."""
    return operator.diag if isinstance(operator, LinearOperatorDiag) else operator._scale(1)


@rule("matmul", _DIAG, _DIAG)
@rule("matmul", _DIAG, _SCALED)
@rule("matmul", _SCALED, _DIAG)
def _(left: Any, right: Any) -> Any:
    return LinearOperatorDiag(_rows(left) * _rows(right), **hints.of_commuting_product(left, right))


@rule("solve", _DIAG, _DIAG)
@rule("solve", _DIAG, _SCALED)
@rule("solve", _SCALED, _DIAG)
def _(left: Any, right: Any) -> Any:
    return LinearOperatorDiag(_rows(right) / _rows(left), **hints.of_commuting_product(left, right))
