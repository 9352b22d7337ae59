"""`LinearOperatorPermutation`: matrices that reorder rows.

matmul(x)[i]   ==>   x[perm[i]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor
from ..ops.arrays.creation import ones, zeros
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import one_hot
from ..ops.arrays.ranges import range as number_range
from ..ops.arrays.sort import argsort
from ..ops.linalg.matmul import matmul
from ..ops.math.cast import cast
from ..ops.reduce.reductions import reduce_sum
from . import hints
from .extents import DYNAMIC
from .hints import Hints, with_hints
from .structured import StructuredOperator, as_reference


@export("linalg.LinearOperatorPermutation")
class LinearOperatorPermutation(StructuredOperator):
    """A permutation of the elements of vectors.

    Args:
        perm: integers `[..., N]`, each from 0 to N - 1 once: `matvec(x)[i]` is `x[perm[i]]`. Raises TypeError for
            other dtypes, ValueError for known values that are no permutation.
        dtype: the dtype of the matrix, float32 by default.

    >>> LinearOperatorPermutation([2, 0, 1]).matvec([1., 2., 3.]).numpy().tolist()
    [3.0, 1.0, 2.0]
    """

    _matrix_ndims = {"perm": 1}

    @with_hints()
    def __init__(self, perm: Any, dtype: Any = dtypes.float32, *, given: Hints) -> None:
        why = (
            "A Permutation operator is always {0}. Expected argument `{1}` to be True. Received: {2}.".format
        )
        if given["is_non_singular"] is False:
            raise ValueError(why("non-singular", "is_non_singular", False))
        hints.require(given, "is_square", True, why("square", "is_square", False))
        self.perm = as_reference(perm, "`perm`", 1)
        if not self.perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {perm}.")
        if isinstance(self.perm, EagerTensor):
            values = self.perm.numpy()
            count = values.shape[-1]
            if (np.sort(values, -1) != np.arange(count)).any():
                raise ValueError(
                    f"Argument `perm` must be a vector of unique integers from 0 to {count - 1}."
                )
        super().__init__(dtype, **given)
        self._parameters["dtype"] = self.dtype

    def _extent(self, sizes: Any) -> Any:
        n = sizes.size(self.perm, -1)
        return sizes.join(sizes.batch(self.perm, 1), n, n)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        if self.perm.shape.rank != 1:
            return matmul(self.to_dense(), x, adjoint_a=adjoint)
        return gather(x, argsort(self.perm) if adjoint else self.perm, axis=-2)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Any:
        return one_hot(self.perm, DYNAMIC.size(self.perm, -1), dtype=self.dtype)

    def _diag_part(self) -> Any:
        perm = convert_to_tensor(self.perm)
        return cast(perm == number_range(DYNAMIC.size(perm, -1), dtype=perm.dtype), self.dtype)

    def _determinant(self) -> Any:
        """Return the sign: whether the number of pairs in the wrong order is even."""
        perm = convert_to_tensor(self.perm)
        index = number_range(DYNAMIC.size(perm, -1))
        later = index[:, None] < index[None, :]
        wrong = cast((perm[..., :, None] > perm[..., None, :]) & later, dtypes.int32)
        return cast(1 - 2 * (reduce_sum(wrong, [-2, -1]) % 2), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(DYNAMIC.batch(self.perm, 1), self.dtype)

    def _cond(self) -> Any:
        return ones(DYNAMIC.batch(self.perm, 1), self.dtype)
