"""`LinearOperatorHouseholder`: the reflection `I - 2 v v^H / |v|^2` at the plane orthogonal to `v`."""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import ones_like
from ..ops.math.cast import cast
from ..ops.math.elementwise import abs as magnitude
from ..ops.math.elementwise import conj, sqrt
from ..ops.reduce.reductions import reduce_sum
from . import hints
from .hints import Hints, with_hints
from .rules import rule
from .structured import NormalOperator, as_reference


@export("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(NormalOperator):
    """A reflection.

    Args:
        reflection_axis: a tensor `[..., N]`, or a variable, which is read at each use: the vector that is reversed.

    >>> LinearOperatorHouseholder([1., 1.]).to_dense().numpy().round(3).tolist()
    [[0.0, -1.0], [-1.0, 0.0]]
    """

    _matrix_ndims = {"reflection_axis": 1}
    _not_positive = "Householder operators are always non-positive definite."

    @with_hints()
    def __init__(self, reflection_axis: Any, *, given: Hints) -> None:
        self.reflection_axis = as_reference(reflection_axis, "reflection_axis", 1)
        why = "A Householder operator is always {}.".format
        hints.require(given, "is_self_adjoint", True, why("self adjoint"))
        hints.require(given, "is_positive_definite", False, why("non-positive definite"))
        hints.require(given, "is_square", True, why("square"))
        super().__init__(self.reflection_axis.dtype, **given)

    def _extent(self, sizes: Any) -> Any:
        n = sizes.size(self.reflection_axis, -1)
        return sizes.join(sizes.batch(self.reflection_axis, 1), n, n)

    def _unit(self) -> Any:
        """Return the vectors with length 1."""
        squares = reduce_sum(magnitude(self.reflection_axis) ** 2, -1, keepdims=True)
        return self.reflection_axis / cast(sqrt(squares), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        column = self._unit()[..., None]
        return x - 2 * column * reduce_sum(conj(column) * x, -2, keepdims=True)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._matmul(rhs)

    def _diag_part(self) -> Any:
        unit = self._unit()
        return 1 - 2 * unit * conj(unit)

    def _values(self) -> Any:
        ones = ones_like(self.reflection_axis)
        return concat([-ones[..., :1], ones[..., 1:]], -1)


rule("adjoint", LinearOperatorHouseholder)(lambda operator: operator)
rule("inverse", LinearOperatorHouseholder)(lambda operator: operator)
