"""`LinearOperatorKronecker`: the Kronecker product of operators, which is never computed.

A product applies one operator after the other, each to the first axis of the rows, which becomes the last one:

    kron(A, B).matmul(x)      x [a*b, r]   →   [a, b*r]   →   A.matmul   →   [b, r*a]   →   B.matmul   →   [r, a*b]
"""

from __future__ import annotations

import functools
import operator as python
from collections.abc import Sequence
from typing import Any

from ..core.export import export
from ..ops.arrays.reshape import reshape
from ..ops.linalg.diagonals import matrix_transpose
from ..ops.math.cast import cast
from . import hints
from .block_diag import declare
from .composition import OperatorSequence
from .extents import DYNAMIC
from .hints import Hints, with_hints


@export("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(OperatorSequence):
    """The Kronecker product of operators.

    Hints follow from those of the factors; ValueError if others are given, or without operators; TypeError for
    operators of different dtypes.

    >>> from agc.runtime.linalg import LinearOperatorFullMatrix
    >>> a, b = LinearOperatorFullMatrix([[1., 2.]]), LinearOperatorFullMatrix([[1.], [3.]])
    >>> LinearOperatorKronecker([a, b]).to_dense().numpy().tolist()
    [[1.0, 2.0], [3.0, 6.0]]
    """

    _joint = "_x_"

    @with_hints()
    def __init__(self, operators: Sequence[Any], *, given: Hints) -> None:
        for name in hints.HINTS[:3]:
            word = name.removeprefix("is_").replace("_", "-")
            why = (
                f"The Kronecker product of {word} operators is always {word}. Expected argument `{name}` to be True. "
                f"Received: {given[name]}."
            )
            hints.inherit(given, name, hints.all_have(operators, name), why)
        super().__init__(operators, given)

    def _extent(self, sizes: Any) -> Any:
        return self._joint_extent(sizes, sizes.product)

    def _applied(self, method: str, x: Any, axis: int, adjoint: bool) -> Any:
        """Apply a method of each operator to the first axis of the rows of `x`, which becomes the last one."""
        width = DYNAMIC.size(x, -1)
        for part in self.operators:
            x = reshape(x, DYNAMIC.join(DYNAMIC.batch(x, 2), DYNAMIC.size(part, axis), -1))
            x = matrix_transpose(getattr(part, method)(x, adjoint=adjoint))
        return matrix_transpose(reshape(x, DYNAMIC.join(DYNAMIC.batch(x, 2), width, -1)))

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self._applied("matmul", x, -2 if adjoint else -1, adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return (
            self._applied("solve", rhs, -2, adjoint) if self._has_squares() else super()._solve(rhs, adjoint)
        )

    def _diag_part(self) -> Any:
        if not self._has_squares():
            return super()._diag_part()
        return functools.reduce(_outer_product, [part.diag_part() for part in self.operators])

    def _eigvals(self) -> Any:
        if not hints.all_have(self.operators, "is_self_adjoint"):
            return super()._eigvals()
        return functools.reduce(_outer_product, [part.eigvals() for part in self.operators])

    def _powers(self) -> list[Any]:
        """Return for each operator how often its eigenvalues are repeated in the product."""
        whole = self.domain_dimension_tensor()
        return [cast(whole // part.domain_dimension_tensor(), self.dtype) for part in self.operators]

    def _determinant(self) -> Any:
        if not self._has_squares():
            return super()._determinant()
        pairs = zip(self.operators, self._powers(), strict=True)
        return functools.reduce(python.mul, (part.determinant() ** power for part, power in pairs))

    def _log_abs_determinant(self) -> Any:
        if not self._has_squares():
            return super()._log_abs_determinant()
        pairs = zip(self.operators, self._powers(), strict=True)
        return functools.reduce(python.add, (part.log_abs_determinant() * power for part, power in pairs))


def _outer_product(one: Any, other: Any) -> Any:
    """Return the Kronecker product of vectors."""
    whole = one[..., :, None] * other[..., None, :]
    return reshape(whole, DYNAMIC.join(DYNAMIC.batch(whole, 2), -1))


declare(LinearOperatorKronecker)
