"""`LinearOperatorZeros`: matrices of zeros, square or not."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.export import export
from ..ops.arrays.creation import zeros
from . import hints
from .composition import LinearOperatorComposition
from .extents import DYNAMIC, STATIC
from .hints import Hints, with_hints
from .identity import checked_batch, checked_size
from .operator import LinearOperator
from .rules import rule
from .structured import NormalOperator


@export("linalg.LinearOperatorZeros")
class LinearOperatorZeros(NormalOperator):
    """A matrix of zeros.

    Args:
        num_rows, num_columns: integers or scalar tensors; as many columns as rows by default.
        batch_shape: the shape of the batch, a vector of integers.
        dtype: float32 by default.

    Raises ValueError for negative sizes, and for hints that do not hold, such as `is_square` for other matrices.

    >>> LinearOperatorZeros(1, 2, is_square=False, is_self_adjoint=False).to_dense().numpy().tolist()
    [[0.0, 0.0]]
    """

    _singular = "Zero operators are always non-invertible."
    _not_positive = "Zero operators are always non-positive definite."

    @with_hints(
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
    )
    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        *,
        given: Hints,
    ) -> None:
        for is_wrong, word in (
            (not given["is_self_adjoint"] and given["is_square"], "self adjoint"),
            (given["is_non_singular"], "singular"),
            (given["is_positive_definite"], "not positive-definite"),
        ):
            if is_wrong:
                raise ValueError(f"A zero operator is always {word}.")
        rows = self._num_rows = checked_size(num_rows, "num_rows")
        columns = rows if num_columns is None else checked_size(num_columns, "num_columns")
        self._num_columns, self._batch_shape = columns, checked_batch(batch_shape)
        if given["is_square"] and isinstance(rows, int) and isinstance(columns, int) and rows != columns:
            raise ValueError(
                "LinearOperatorZeros initialized as is_square=True, but got "
                f"num_rows({rows}) != num_columns({columns})"
            )
        super().__init__(dtypes.as_dtype(dtypes.float32 if dtype is None else dtype), **given)
        self._parameters.update(
            num_rows=rows, num_columns=columns, batch_shape=self._batch_shape, dtype=self.dtype
        )

    def _extent(self, sizes: Any) -> Any:
        rows, columns = sizes.number(self._num_rows), sizes.number(self._num_columns)
        return sizes.join(sizes.vector(self._batch_shape), rows, columns)

    def _zeros(self, *sizes: Any, batch_of: Any = None) -> Any:
        """Return zeros for each matrix, or each of those and those of a tensor, with these further axes."""
        for kind in (STATIC, DYNAMIC):
            batch = kind.vector(self._batch_shape)
            if batch_of is not None:
                batch = kind.broadcast(batch, kind.batch(batch_of, 2))
            shape = kind.join(batch, *map(kind.number, sizes))
            if kind is DYNAMIC or shape.is_fully_defined():
                break
        return zeros(shape, self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        columns = DYNAMIC.size(x, -1) if x.shape[-1] is None else x.shape[-1]
        return self._zeros(self._num_columns if adjoint else self._num_rows, columns, batch_of=x)

    def _to_dense(self) -> Any:
        return self._zeros(self._num_rows, self._num_columns)

    def _add_to_tensor(self, x: Any) -> Any:
        return x + self._zeros(1, 1)

    def _values(self) -> Any:
        return self._zeros(self._num_rows)


@rule("adjoint", LinearOperatorZeros)
def _(operator: Any) -> Any:
    return _zeros(operator, operator._num_columns, operator._num_rows, operator.batch_shape)


@rule("matmul", LinearOperatorZeros, LinearOperator)
def _(left: Any, right: Any) -> Any:
    columns = left._num_columns if right.is_square else right.domain_dimension
    return _product(left, right, left._num_rows, columns)


@rule("matmul", LinearOperator, LinearOperatorZeros)
def _(left: Any, right: Any) -> Any:
    rows = right._num_rows if left.is_square else left.range_dimension
    return _product(left, right, rows, right._num_columns)


def _product(left: Any, right: Any, rows: Any, columns: Any) -> Any:
    batch = STATIC.broadcast(left.batch_shape, right.batch_shape)
    if rows is None or columns is None or not batch.is_fully_defined():
        return LinearOperatorComposition([left, right], **hints.of_product(left, right))
    return _zeros(left, rows, columns, batch)


def _zeros(like: Any, rows: Any, columns: Any, batch: Any) -> Any:
    square = rows is columns or (isinstance(rows, int) and rows == columns)
    return LinearOperatorZeros(rows, columns, batch, like.dtype, False, square, False, square)
