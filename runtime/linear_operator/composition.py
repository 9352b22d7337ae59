"""`LinearOperatorComposition`: the product of operators, which is never computed.

composition.matmul(x)   ==>   A.matmul(B.matmul(C.matmul(x)))
"""

from __future__ import annotations

import functools
import operator as python
from collections.abc import Callable, Sequence
from typing import Any

from ..core.export import export
from . import hints
from .hints import Hints, with_hints
from .operator import LinearOperator
from .rules import rule
from .structured import StructuredOperator
from .wrappers import LinearOperatorAdjoint, LinearOperatorInversion


class OperatorSequence(StructuredOperator):
    """Base class of operators that are made of several others of one dtype."""

    _matrix_ndims = {"operators": 0}
    _joint: str

    def __init__(self, operators: Sequence[Any], given: Hints) -> None:
        parts = list(operators)
        if not parts:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        if any(part.dtype is not parts[0].dtype for part in parts):
            found = "   ".join(str((part.name, part.dtype)) for part in parts)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
        self.operators: list[Any] = parts
        name = given.pop("name")
        super().__init__(
            parts[0].dtype,
            name=self._joint.join(part.name for part in parts) if name is None else name,
            **given,
        )

    def _factors(self) -> list[Any]:
        """Return the operators whose determinants multiply."""
        return self.operators

    def _joint_extent(self, sizes: Any, combined: Callable[..., Any]) -> Any:
        """Return the extent whose numbers of rows and columns are the combined ones of the parts."""
        batch = sizes.broadcast(*(sizes.batch(part, 2) for part in self.operators))
        ends = (combined(*(sizes.size(part, axis) for part in self.operators)) for axis in (-2, -1))
        return sizes.join(batch, *ends)

    def _has_squares(self) -> bool:
        return hints.all_have(self._factors(), "is_square")

    def _determinant(self) -> Any:
        if not self._has_squares():
            return super()._determinant()
        return functools.reduce(python.mul, (part.determinant() for part in self._factors()))

    def _log_abs_determinant(self) -> Any:
        if not self._has_squares():
            return super()._log_abs_determinant()
        return functools.reduce(python.add, (part.log_abs_determinant() for part in self._factors()))

    def _assert_non_singular(self) -> Any:
        if not self._has_squares():
            return super()._assert_non_singular()
        for part in self._factors():
            part.assert_non_singular()
        return None


@export("linalg.LinearOperatorComposition")
class LinearOperatorComposition(OperatorSequence):
    """The product `operators[0] @ operators[1] @ …`.

    Hints follow from those of the factors; ValueError if others are given. A product with the form `A @ A.H` is known
    to be self-adjoint.

    Raises ValueError without operators, TypeError for operators of different dtypes.

    >>> from agc.runtime.linalg import LinearOperatorFullMatrix
    >>> a, b = LinearOperatorFullMatrix([[1., 2.]]), LinearOperatorFullMatrix([[3.], [4.]])
    >>> LinearOperatorComposition([a, b]).to_dense().numpy().tolist()
    [[11.0]]
    """

    _joint = "_o_"

    @with_hints()
    def __init__(self, operators: Sequence[Any], *, given: Hints) -> None:
        known = hints.all_have(operators, "is_non_singular")
        why = "The composition of non-singular operators is always non-singular."
        hints.inherit(given, "is_non_singular", known, why)
        palindromic = _is_product_with_adjoint(operators)
        known = palindromic or (len(operators) == 1 and operators[0].is_self_adjoint)
        why = "The composition was determined to be self-adjoint but user provided incorrect `False` hint."
        hints.inherit(given, "is_self_adjoint", known, why)
        form = (
            "have the form A @ A.H, hence it must be {}. The user provided an incorrect `False` hint.".format
        )
        why = f"The composition was determined {form('square')}"
        hints.inherit(given, "is_square", palindromic, why)
        why = f"The composition was determined to be non-singular and {form('positive-definite')}"
        hints.inherit(given, "is_positive_definite", palindromic and given["is_non_singular"], why)
        super().__init__(operators, given)

    def _extent(self, sizes: Any) -> Any:
        parts = self.operators
        batch = sizes.broadcast(*(sizes.batch(part, 2) for part in parts))
        return sizes.join(batch, sizes.size(parts[0], -2), sizes.size(parts[-1], -1))

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        for part in self.operators if adjoint else reversed(self.operators):
            x = part.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        if not self._has_squares():
            return super()._solve(rhs, adjoint)
        for part in reversed(self.operators) if adjoint else self.operators:
            rhs = part.solve(rhs, adjoint=adjoint)
        return rhs


def _is_product_with_adjoint(operators: Sequence[Any]) -> bool:
    """Return whether the operators have the form `A, B, …, B.H, A.H`."""
    half, odd = divmod(len(operators), 2)
    return half > 0 and not odd and all(map(_are_adjoint, operators[:half], reversed(operators[half:])))


def _are_adjoint(one: Any, other: Any) -> bool:
    if one is other:
        return bool(one.is_self_adjoint)
    wrapped = [(one, other), (other, one)]
    return any(isinstance(a, LinearOperatorAdjoint) and a.operator is b for a, b in wrapped)


@rule("matmul", LinearOperator, LinearOperator)
def _(left: Any, right: Any) -> Any:
    return LinearOperatorComposition([left, right], **hints.of_product(left, right))


@rule("solve", LinearOperator, LinearOperator)
def _(left: Any, right: Any) -> Any:
    return LinearOperatorComposition([LinearOperatorInversion(left), right], **hints.of_product(left, right))
