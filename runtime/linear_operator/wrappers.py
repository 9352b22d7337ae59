"""`LinearOperatorAdjoint` and `LinearOperatorInversion`: the conjugate transpose and the inverse of any operator.

adjoint.matmul(x)     ==>   operator.matmul(x, adjoint=True)
inversion.matmul(x)   ==>   operator.solve(x)
"""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..ops.linalg.diagonals import adjoint as conjugate_transpose
from ..ops.math.elementwise import conj
from . import hints
from .hints import Hints, with_hints
from .operator import LinearOperator
from .rules import apply, rule
from .structured import StructuredOperator


class _Wrapper(StructuredOperator):
    """Base class of the operators that are made of one other, and have its hints."""

    _matrix_ndims = {"operator": 0}
    _suffix: str
    _noun: str

    def __init__(self, operator: LinearOperator, given: Hints) -> None:
        self.operator = operator
        for name, word in _WORDS.items():
            known = getattr(operator, name)
            if known is not None:
                why = f"An operator is {word} if and only if its {self._noun} is {word}."
                hints.require(given, name, known, why)
        name = given.pop("name")
        super().__init__(operator.dtype, name=operator.name + self._suffix if name is None else name, **given)

    def _extent(self, sizes: Any) -> Any:
        inner = self.operator
        return sizes.join(sizes.batch(inner, 2), sizes.size(inner, -1), sizes.size(inner, -2))

    def _cond(self) -> Any:
        return self.operator.cond()

    def _assert_non_singular(self) -> Any:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self.operator.assert_self_adjoint()


_WORDS = {
    "is_square": "square",
    "is_non_singular": "non-singular",
    "is_self_adjoint": "self-adjoint",
    "is_positive_definite": "positive-definite",
}


@export("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_Wrapper):
    """The conjugate transpose of an operator.

    The hints are those of the operator; ValueError if others are given.

    >>> from agc.runtime.linalg import LinearOperatorFullMatrix
    >>> LinearOperatorAdjoint(LinearOperatorFullMatrix([[1 + 1j, 2j]])).to_dense().numpy().tolist()
    [[(1-1j)], [-2j]]
    """

    _suffix, _noun = "_adjoint", "adjoint"

    @with_hints()
    def __init__(self, operator: LinearOperator, *, given: Hints) -> None:
        super().__init__(operator, given)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Any:
        return conjugate_transpose(self.operator.to_dense())

    def _diag_part(self) -> Any:
        return conj(self.operator.diag_part())

    def _trace(self) -> Any:
        return conj(self.operator.trace())

    def _determinant(self) -> Any:
        return conj(self.operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()


@export("linalg.LinearOperatorInversion")
class LinearOperatorInversion(_Wrapper):
    """The inverse of an operator, which is never computed: products solve linear systems.

    The hints are those of the operator; ValueError if others are given, or if it is singular or not square.

    >>> from agc.runtime.linalg import LinearOperatorFullMatrix
    >>> LinearOperatorInversion(LinearOperatorFullMatrix([[2., 0.], [0., 4.]])).matvec([1., 1.]).numpy().tolist()
    [0.5, 0.25]
    """

    _suffix, _noun = "_inv", "inverse"

    @with_hints()
    def __init__(self, operator: LinearOperator, *, given: Hints) -> None:
        for name in ("is_non_singular", "is_square"):
            own = getattr(operator, name)
            if given[name] is False or own is False:
                raise ValueError(
                    f"Argument `{name}` or argument `operator` must have supplied hint `{name}` equal to `True` or "
                    f"`None`. Found `operator.{name}`: {own}, `{name}`: {given[name]}."
                )
        super().__init__(operator, given)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint)

    def _determinant(self) -> Any:
        return 1 / self.operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -self.operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return 1 / self.operator.eigvals()


rule("adjoint", LinearOperator)(LinearOperatorAdjoint)
rule("inverse", LinearOperator)(LinearOperatorInversion)
rule("adjoint", LinearOperatorAdjoint)(lambda wrapper: wrapper.operator)
rule("inverse", LinearOperatorInversion)(lambda wrapper: wrapper.operator)


@rule("solve", LinearOperatorInversion, LinearOperator)
def _(left: Any, right: Any) -> Any:
    return apply("matmul", left.operator, right)
