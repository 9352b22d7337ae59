"""`LinearOperatorLowRankUpdate`: `L + U D V^H`, with few columns in `U` and `V`.

Solutions and determinants are those of `L` and of a small matrix, the capacitance `C = D^-1 + V^H L^-1 U`:

    solve(b)        L^-1 b - L^-1 U C^-1 V^H L^-1 b        (Woodbury)
    determinant     det(L) det(D) det(C)
"""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..ops.linalg import inverse_and_det
from ..ops.linalg.diagonals import adjoint as conjugate_transpose
from ..ops.linalg.matmul import matmul
from ..ops.linalg.matrix_diag import diag as diagonal_matrix
from ..ops.math.elementwise import conj
from ..ops.reduce.reductions import reduce_sum
from . import hints
from .batches import solve_with_broadcast
from .diag import LinearOperatorDiag
from .extents import DYNAMIC
from .hints import Hint, Hints, with_hints
from .identity import LinearOperatorIdentity
from .operator import LinearOperator
from .structured import StructuredOperator, as_reference


@export("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(StructuredOperator):
    """The sum `L + U D V^H` of an operator and a product of low rank.

    Args:
        base_operator: `L`, an operator `[..., M, N]`.
        u: `U`, a tensor `[..., M, K]` of its dtype.
        diag_update: the diagonal `[..., K]` of `D`; the identity by default.
        v: `V`, a tensor `[..., N, K]`; `U` by default.
        is_diag_update_positive: a hint, whether all elements of `diag_update` are known to be positive.

    Raises ValueError for shapes that do not fit, and for hints that contradict those that follow.

    >>> update = LinearOperatorLowRankUpdate(LinearOperatorDiag([1., 1.]), u=[[1.], [2.]])
    >>> update.to_dense().numpy().tolist(), round(float(update.determinant()), 3)
    ([[2.0, 2.0], [2.0, 5.0]], 6.0)
    """

    _composite_tensor_fields = ("is_diag_update_positive",)
    _matrix_ndims = {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}

    @with_hints()
    def __init__(
        self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
        is_diag_update_positive: Hint = None, *, given: Hints,
    ) -> None:  # fmt: skip
        kind = base_operator.dtype
        positive = {"is_diag_update_positive": is_diag_update_positive}
        hints.inherit(
            positive,
            "is_diag_update_positive",
            diag_update is None,
            "Default diagonal is the identity, which is positive.  However, user set 'is_diag_update_positive' to "
            "False.",
        )
        self.base_operator, self.is_diag_update_positive = base_operator, positive["is_diag_update_positive"]
        self.u = as_reference(u, "u", 2, dtype_hint=kind)
        self.v = self.u if v is None else as_reference(v, "v", 2, dtype_hint=kind)
        self.diag_update: Any = None
        if diag_update is not None:
            self.diag_update = as_reference(diag_update, "diag_update", 1, dtype_hint=kind)
        if v is None and base_operator.is_self_adjoint and self._has_real_diagonal():
            why = (
                "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a "
                "self-adjoint operator."
            )
            hints.require(given, "is_self_adjoint", True, why)
            if base_operator.is_positive_definite and self.is_diag_update_positive:
                why = "Arguments imply this is self-adjoint positive-definite operator."
                hints.require(given, "is_positive_definite", True, why)
                hints.require(given, "is_non_singular", True, why)
        super().__init__(kind, **given)
        self._check_shapes()

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "v": None if self.v is self.u else self.v}

    def _has_real_diagonal(self) -> bool:
        return bool(
            self.diag_update is None or not self.diag_update.dtype.is_complex or self.is_diag_update_positive
        )

    def _check_shapes(self) -> None:
        u, v, base = self.u.shape, self.v.shape, self.base_operator.shape
        columns = None if self.diag_update is None else self.diag_update.shape[-1]
        for one, other in ((base[-2], u[-2]), (base[-1], v[-2]), (u[-1], v[-1]), (u[-1], columns)):
            if one is not None and other is not None and one != other:
                raise ValueError(f"Dimensions {one} and {other} are not compatible")

    @property
    def diag_operator(self) -> Any:
        """The operator `D`."""
        if self.diag_update is not None:
            return LinearOperatorDiag(self.diag_update, is_positive_definite=self.is_diag_update_positive)
        columns = self.u.shape[-1]
        return LinearOperatorIdentity(
            DYNAMIC.size(self.u, -1) if columns is None else columns, dtype=self.dtype
        )

    def _extent(self, sizes: Any) -> Any:
        base, parts = self.base_operator, [self.u, self.v]
        batches = [sizes.batch(part, 2) for part in (base, *parts)]
        if self.diag_update is not None:
            batches.append(sizes.batch(self.diag_update, 1))
        return sizes.join(sizes.broadcast(*batches), sizes.size(base, -2), sizes.size(base, -1))

    def _scaled(self, x: Any, adjoint: bool = False) -> Any:
        """Return `D x`, or `D^H x`."""
        return x if self.diag_update is None else self.diag_operator.matmul(x, adjoint=adjoint)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        u, v = (self.v, self.u) if adjoint else (self.u, self.v)
        update = matmul(u, self._scaled(matmul(v, x, adjoint_a=True), adjoint))
        return self.base_operator.matmul(x, adjoint=adjoint) + update

    def _to_dense(self) -> Any:
        update = matmul(self.u, self._scaled(conjugate_transpose(self.v)))
        return self.base_operator.to_dense() + update

    def _diag_part(self) -> Any:
        if not self.is_square:
            return super()._diag_part()
        weights = conj(self.v) if self.diag_update is None else conj(self.v) * self.diag_update[..., None, :]
        return self.base_operator.diag_part() + reduce_sum(self.u * weights, -1)

    def _capacitance(self) -> Any:
        inner = matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        if self.diag_update is None:
            return self.diag_operator.add_to_tensor(inner)
        return inner + diagonal_matrix(1 / self.diag_update)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        if self.base_operator.is_non_singular is False:
            return super()._solve(rhs, adjoint)
        u, v = (self.v, self.u) if adjoint else (self.u, self.v)
        first = self.base_operator.solve(rhs, adjoint=adjoint)
        small = solve_with_broadcast(self._capacitance(), matmul(v, first, adjoint_a=True), adjoint)
        return first - self.base_operator.solve(matmul(u, small), adjoint=adjoint)

    def _determinant(self) -> Any:
        if self.base_operator.is_non_singular is False:
            return super()._determinant()
        found = self.base_operator.determinant() * inverse_and_det.det(self._capacitance())
        return found if self.diag_update is None else found * self.diag_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        if self.base_operator.is_non_singular is False:
            return super()._log_abs_determinant()
        found = self.base_operator.log_abs_determinant() + inverse_and_det.slogdet(self._capacitance())[1]
        return found if self.diag_update is None else found + self.diag_operator.log_abs_determinant()
