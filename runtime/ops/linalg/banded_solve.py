"""Solve equations with banded triangular matrices, in band storage.

    bands   1 2 3        matrix  1 0 0        lower: the main diagonal, then those below it; upper: those
            0 4 5                4 2 0        above it, then the main one. Each row of a matrix is a column here,
                                 0 5 3        and elements outside the matrix are ignored.

>>> banded_triangular_solve([[1., 2., 3.], [0., 4., 5.]], [[1.], [6.], [8.]]).numpy().tolist()
[[1.0], [1.0], [1.0]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.export import export
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..arrays.concat_split import concat, stack
from ..arrays.creation import zeros_like
from ..arrays.reshape import fitted
from ..framework.op import Name, Same, op
from ..framework.op_families import Array, require_dtype
from ..math.elementwise import conj
from ..reduce.reductions import reduce_sum
from .inverse_and_det import SOLVABLE


@export("linalg.banded_triangular_solve")
@op(traits=LENIENT)
def banded_triangular_solve(
    bands: Same, rhs: Same, lower: bool = True, adjoint: bool = False, name: Name = None
) -> TensorType:
    """Return `x` with `matrix @ x == rhs` for a banded triangular matrix, or for its adjoint if `adjoint`.

    Args:
        bands: [..., k, n]: the main diagonal and the k - 1 adjacent ones, aligned as "LEFT_RIGHT" in `set_diag`.
        rhs: [..., n, m]; the leading axes are broadcast.
        lower: whether the diagonals are below the main one, which is then the first row, or above it.

    Raises InvalidArgumentError for a singular matrix.

    >>> banded_triangular_solve([[5., 2.], [1., 3.]], [[2.], [3.]], lower=False).numpy().tolist()
    [[-3.0], [1.0]]
    """
    require_dtype(bands, SOLVABLE, "banded_triangular_solve")
    for operand, what in ((bands, "bands"), (rhs, "rhs")):
        if operand.shape is not None and len(operand.shape) < 2:
            raise ValueError(f"{what} must have rank >= 2, got {len(operand.shape)}")
    if bands.shape is None or rhs.shape is None:
        return TensorType(rhs.dtype, None)
    if bands.shape[-2] == 0:
        raise ValueError("bands must have a row for the main diagonal")
    size = shapes.merge(bands.shape[-1:], rhs.shape[-2:-1])
    outer = shapes.broadcast(bands.shape[:-2], rhs.shape[:-2])
    assert size is not None
    return TensorType(rhs.dtype, None if outer is None else (*outer, size[0], rhs.shape[-1]))


@banded_triangular_solve.kernel
def _(bands: Array, rhs: Array, lower: bool, adjoint: bool) -> Array:
    """Solve row by row, for all matrices at once, by forward or back substitution."""
    count, size = bands.shape[-2:]
    outer = np.broadcast_shapes(bands.shape[:-2], rhs.shape[:-2])
    # At [k, i], the element of row i at distance k from the diagonal.
    rows = bands if lower else bands[..., ::-1, :]
    if np.any(rows[..., 0, :] == 0):
        raise errors.InvalidArgumentError("Input matrix is not invertible.")
    if adjoint:
        rows = _turned(np.conj(rows), lower)
    x = np.array(np.broadcast_to(rhs, (*outer, *rhs.shape[-2:])))
    down = lower != adjoint
    for i in range(size) if down else range(size - 1, -1, -1):
        known = min(count - 1, i if down else size - 1 - i)
        if known:
            before = x[..., i - known : i, :][..., ::-1, :] if down else x[..., i + 1 : i + 1 + known, :]
            x[..., i, :] -= (rows[..., 1 : known + 1, i, None] * before).sum(axis=-2)
        x[..., i, :] /= rows[..., 0, i, None]
    return x


def _turned(rows: Array, lower: bool) -> Array:
    """Return the diagonals in the row order of the transposed matrix."""
    turned = np.zeros_like(rows)
    for k in range(min(rows.shape[-2:])):
        if lower:
            turned[..., k, : rows.shape[-1] - k] = rows[..., k, k:]
        else:
            turned[..., k, k:] = rows[..., k, : rows.shape[-1] - k]
    return turned


@banded_triangular_solve.gradient
def _(dy: Any, y: Any, bands: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    right = banded_triangular_solve(bands, dy, lower, not adjoint)

    def to_bands() -> Any:
        count = bands.shape.sizes and bands.shape.sizes[-2]
        if count is None:
            raise ValueError(
                "the gradient of banded_triangular_solve needs a known number of diagonals: use "
                "`tf.ensure_shape`"
            )
        one, other = (y, right) if adjoint else (right, y)
        parts = [-reduce_sum(one * conj(_shifted(other, k, lower)), -1) for k in range(count)]
        return fitted(stack(parts if lower else parts[::-1], -2), bands)

    return to_bands, fitted(right, rhs)


def _shifted(x: Any, count: int, down: bool) -> Any:
    """Shift the rows of `x` down or up by `count`, filling with zeros."""
    if not count:
        return x
    nothing = zeros_like(x[..., :count, :])
    return concat([nothing, x[..., :-count, :]] if down else [x[..., count:, :], nothing], -2)
