"""`LinearOperatorToeplitz`: matrices with equal elements along each diagonal.

c0 r1 r2
c1 c0 r1      a part of the circulant matrix of [c0, c1, c2, r2, r1], which Fourier transforms multiply
c2 c1 c0
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.export import export
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import zeros_like
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as number_range
from ..ops.arrays.reverse_and_roll import reverse
from ..ops.linalg.diagonals import matrix_transpose
from ..ops.linalg.matmul import matmul
from ..ops.math.cast import cast
from ..ops.math.elementwise import conj
from ..ops.signal.fft_api import fft, ifft
from . import hints
from .batches import with_equal_batches
from .extents import DYNAMIC
from .hints import Hints, with_hints
from .structured import StructuredOperator, as_reference


@export("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(StructuredOperator):
    """A Toeplitz matrix.

    Args:
        col, row: tensors `[..., N]`, the first column and the first row, or variables, which are read at each use; the
            first element of `row` is ignored. Raises ValueError for different sizes.

    >>> LinearOperatorToeplitz(col=[1., 2., 3.], row=[1., 4., 9.]).to_dense().numpy().tolist()
    [[1.0, 4.0, 9.0], [2.0, 1.0, 4.0], [3.0, 2.0, 1.0]]
    """

    _matrix_ndims = {"col": 1, "row": 1}

    @with_hints()
    def __init__(self, col: Any, row: Any, *, given: Hints) -> None:
        hints.require(given, "is_square", True, "Only square Toeplitz operators currently supported.")
        self.col, self.row = as_reference(col, "col", 1), as_reference(row, "row", 1)
        rows, columns = self.col.shape[-1], self.row.shape[-1]
        if rows is not None and columns is not None and rows != columns:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
        super().__init__(self.col.dtype, **given)

    def _extent(self, sizes: Any) -> Any:
        n = sizes.size(self.row, -1)
        return sizes.join(sizes.broadcast(sizes.batch(self.row, 1), sizes.batch(self.col, 1)), n, n)

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        if self.dtype.real_dtype not in (dtypes.float32, dtypes.float64):
            return matmul(self.to_dense(), x, adjoint_a=adjoint)  # there are no Fourier transforms
        col, row = (self.row, self.col) if adjoint else (self.col, self.row)
        cycle = _joined([self.col[..., :1], col[..., 1:], reverse(row[..., 1:], [-1])])
        wide = dtypes.complex128 if self.dtype.real_dtype is dtypes.float64 else dtypes.complex64
        cycle = cast(conj(cycle) if adjoint else cycle, wide)
        lines = matrix_transpose(x)
        lines = cast(concat([lines, zeros_like(lines[..., 1:])], -1), wide)
        product = ifft(fft(cycle)[..., None, :] * fft(lines))[..., : DYNAMIC.size(self.row, -1)]
        return matrix_transpose(cast(product, self.dtype))

    def _to_dense(self) -> Any:
        n = DYNAMIC.size(self.row, -1)
        values = _joined([reverse(self.row[..., 1:], [-1]), self.col])
        index = number_range(n)
        return gather(values, index[:, None] - index[None, :] + n - 1, axis=-1)

    def _diag_part(self) -> Any:
        return self.col[..., :1] + zeros_like(self.row + self.col)

    def _trace(self) -> Any:
        size = cast(self.domain_dimension_tensor(), self.dtype)
        return size * self.col[..., 0] + zeros_like(self.row[..., 0])


def _joined(parts: list[Any]) -> Any:
    return concat(with_equal_batches(parts, 1), -1)
