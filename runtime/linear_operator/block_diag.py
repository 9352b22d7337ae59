"""`LinearOperatorBlockDiag`: operators along the diagonal, with zeros elsewhere.

A 0
0 B        block.matmul([x, y])   ==>   [A.matmul(x), B.matmul(y)]
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..core.export import export
from . import hints
from .blocks import BlockOperator, concatenated
from .hints import Hints, with_hints
from .operator import LinearOperator
from .rules import apply, find, rule


@export("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(BlockOperator):
    """The direct sum of operators.

    `matmul`, `matvec`, `solve` and `solvevec` also take a list with one tensor for each block, and return one.

    Hints follow from those of the blocks; ValueError if others are given, or without operators; TypeError for
    operators of different dtypes.

    >>> from agc.runtime.linalg import LinearOperatorDiag, LinearOperatorFullMatrix
    >>> block = LinearOperatorBlockDiag([LinearOperatorDiag([2.]), LinearOperatorFullMatrix([[3., 4.]])])
    >>> block.to_dense().numpy().tolist()
    [[2.0, 0.0, 0.0], [0.0, 3.0, 4.0]]
    """

    _joint = "_ds_"

    @with_hints(is_square=True)
    def __init__(self, operators: Sequence[Any], *, given: Hints) -> None:
        for name, word in (
            ("is_non_singular", "non-singular"),
            ("is_self_adjoint", "self-adjoint"),
            ("is_positive_definite", "positive definite"),
        ):
            why = f"The direct sum of {word} operators is always {word}."
            hints.inherit(given, name, hints.all_have(operators, name), why)
        if not hints.all_have(operators, "is_square"):
            given["is_square"] = None
        super().__init__(operators, given)

    def _extent(self, sizes: Any) -> Any:
        return self._joint_extent(sizes, sizes.total)

    def _each(self, method: str, x: Any, own_axis: int, adjoint: bool) -> Any:
        """Call a method of each block with its part of `x`, and join the results."""
        pairs = zip(self.operators, self._split(x, own_axis), strict=True)
        return concatenated([getattr(block, method)(part, adjoint=adjoint) for block, part in pairs], -2, 2)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self._each("matmul", x, -2 if adjoint else -1, adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._each("solve", rhs, -2, adjoint) if self._has_squares() else super()._solve(rhs, adjoint)

    def _assert_positive_definite(self) -> Any:
        for part in self.operators:
            part.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        if not self._has_squares():
            return super()._assert_self_adjoint()
        for part in self.operators:
            part.assert_self_adjoint()
        return None


def declare(owner: Any) -> None:
    """Declare the rules of operators whose adjoints, inverses and Cholesky factors are those of their parts."""

    def by_parts(operation: str, operator: Any) -> Any:
        parts = [getattr(part, operation)() for part in operator.operators]
        kept = {"is_non_singular": True, "is_square": True} if operation == "cholesky" else hints.of(operator)
        return owner(parts, **kept)

    for operation in ("adjoint", "inverse", "cholesky"):
        rule(operation, owner)(functools.partial(by_parts, operation))


def _block_by_block(operation: str, left: Any, right: Any) -> Any:
    """Return the product or quotient block by block, or as a whole for blocks of other sizes."""
    mine, other = [one.shape[-1] for one in left.operators], [one.shape[-2] for one in right.operators]
    if mine != other or None in mine:
        return find(operation, LinearOperator, LinearOperator)(left, right)
    parts = [apply(operation, *pair) for pair in zip(left.operators, right.operators, strict=True)]
    return LinearOperatorBlockDiag(parts, **hints.of_product(left, right))


declare(LinearOperatorBlockDiag)
for _name in ("matmul", "solve"):
    rule(_name, LinearOperatorBlockDiag, LinearOperatorBlockDiag)(functools.partial(_block_by_block, _name))
