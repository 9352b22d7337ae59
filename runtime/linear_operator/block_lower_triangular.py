"""`LinearOperatorBlockLowerTriangular`: rows of operators up to the diagonal, with zeros above.

A 0
B C        solve([x, y])   ==>   [A^-1 x, C^-1 (y - B A^-1 x)]
"""

from __future__ import annotations

import functools
import operator as python
from collections.abc import Sequence
from typing import Any

from ..core.export import export
from ..ops.arrays.concat_split import concat
from ..ops.arrays.reshape import broadcast_to
from ..ops.arrays.shape_ops import shape as shape_of
from . import hints
from .blocks import BlockOperator, concatenated
from .dense import LinearOperatorFullMatrix
from .hints import Hints, with_hints
from .rules import rule


@export("linalg.LinearOperatorBlockLowerTriangular")
class LinearOperatorBlockLowerTriangular(BlockOperator):
    """A lower triangular matrix of operators.

    Args:
        operators: rows of one, two, three … operators; the last of each row is square.

    `matmul`, `matvec`, `solve` and `solvevec` also take a list with one tensor for each row, and return one.

    Raises ValueError for rows of other lengths, for sizes that do not fit, and for hints that contradict those that
    follow; TypeError for operators of different dtypes.

    >>> from agc.runtime.linalg import LinearOperatorDiag
    >>> a, b, c = (LinearOperatorDiag([x]) for x in (2., 3., 4.))
    >>> LinearOperatorBlockLowerTriangular([[a], [b, c]]).to_dense().numpy().tolist()
    [[2.0, 0.0], [3.0, 4.0]]
    """

    @with_hints()
    def __init__(self, operators: Sequence[Sequence[Any]], *, given: Hints) -> None:
        _check_blocks(operators)
        diagonal = [row[-1] for row in operators]
        wrong = "Expected argument `{0}` to be True. Received: {1}.".format
        why = (
            "A blockwise lower-triangular operator with non-singular operators on the main diagonal is always "
            f"non-singular. {wrong('is_non_singular', given['is_non_singular'])}"
        )
        hints.inherit(given, "is_non_singular", hints.all_have(diagonal, "is_non_singular"), why)
        why = f"`LinearOperatorBlockLowerTriangular` must be square. {wrong('is_square', given['is_square'])}"
        hints.require(given, "is_square", True, why)
        given["name"] = given["name"] or type(self).__name__
        super().__init__([block for row in operators for block in row], given)
        self.operators = [list(row) for row in operators]

    def _factors(self) -> list[Any]:
        return [row[-1] for row in self.operators]

    def _extent(self, sizes: Any) -> Any:
        size = sizes.total(*(sizes.size(block, -1) for block in self._factors()))
        batches = (sizes.batch(block, 2) for row in self.operators for block in row)
        return sizes.join(sizes.broadcast(*batches), size, size)

    def _rows(self, adjoint: bool) -> list[list[tuple[int, Any]]]:
        """Return for each part of a result the pairs of a part of the argument and the block between them."""
        rows = [list(enumerate(row)) for row in self.operators]
        if not adjoint:
            return rows
        count = len(rows)
        return [[(j, self.operators[j][i]) for j in range(i, count)] for i in range(count)]

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        parts, sums = self._split(x, -1), []
        for row in self._rows(adjoint):
            sums.append(
                functools.reduce(python.add, (block.matmul(parts[j], adjoint=adjoint) for j, block in row))
            )
        return concatenated(sums, -2, 2)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        parts = self._split(rhs, -1)
        solved: dict[int, Any] = {}
        rows = list(enumerate(self._rows(adjoint)))
        for i, row in reversed(rows) if adjoint else rows:
            rest = parts[i]
            for j, block in row:
                if j != i:
                    rest = rest - block.matmul(solved[j], adjoint=adjoint)
            solved[i] = self.operators[i][i].solve(rest, adjoint=adjoint)
        return concatenated([solved[i] for i in range(len(parts))], -2, 2)

    def _of_batch(self, x: Any, ndims: int = 0) -> Any:
        """Return numbers or vectors (`ndims` 1) for all matrices of the batch, also those of other blocks."""
        return broadcast_to(x, concat([self.batch_shape_tensor(), *[shape_of(x)[-1:]] * ndims], 0))

    def _diag_part(self) -> Any:
        return self._of_batch(super()._diag_part(), 1)

    def _determinant(self) -> Any:
        return self._of_batch(super()._determinant())

    def _log_abs_determinant(self) -> Any:
        return self._of_batch(super()._log_abs_determinant())

    def _eigvals(self) -> Any:
        return self._of_batch(super()._eigvals(), 1)


def _check_blocks(operators: Any) -> None:
    """Raise ValueError for operators that are no lower triangular matrix."""
    if not operators:
        raise ValueError(f"Argument `operators` must be a list of >=1 operators. Received: {operators}.")
    for i, row in enumerate(operators):
        if len(row) != i + 1:
            raise ValueError(
                f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} blocks."
            )
        if row[-1].is_square is False:
            raise ValueError(
                "Matrices on the diagonal (the final elements of each row-partition in the `operators` list) must be "
                f"square. Expected argument `operators[{i}][-1].is_square` to be True. Received: False."
            )
        for j, block in enumerate(row):
            for side, k in (("range_dimension", i), ("domain_dimension", j)):
                size, known = getattr(block, side), getattr(operators[k][k], side)
                if size is not None and known is not None and size != known:
                    raise ValueError(
                        f"Argument `operators[{i}][{j}].{side}` ({size}) must be the same as "
                        f"`operators[{k}][{k}].{side}` ({known})."
                    )


@rule("inverse", LinearOperatorBlockLowerTriangular)
def _(operator: Any) -> Any:
    rows: list[list[Any]] = []
    for i, (*left, last) in enumerate(operator.operators):
        inverse, row = last.inverse(), []
        for j in range(i):
            products = (left[k].matmul(rows[k][j].to_dense()) for k in range(j, i))
            row.append(LinearOperatorFullMatrix(-inverse.matmul(functools.reduce(python.add, products))))
        rows.append([*row, inverse])
    return LinearOperatorBlockLowerTriangular(rows, **hints.of(operator))
