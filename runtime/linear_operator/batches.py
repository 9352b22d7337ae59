"""Batches of matrices and vectors that broadcast against each other."""

from __future__ import annotations

from typing import Any

from ..ops.arrays.concat_split import concat
from ..ops.arrays.reshape import broadcast_to
from ..ops.arrays.shape_arithmetic import broadcast_dynamic_shape
from ..ops.arrays.shape_ops import shape
from ..ops.linalg.inverse_and_det import solve


def with_equal_batches(tensors: Any, ndims: int) -> list[Any]:
    """Return tensors broadcast so that all axes but the last `ndims` are equal."""
    batches = [x.shape[:-ndims] for x in tensors]
    if batches[0].is_fully_defined() and all(batch == batches[0] for batch in batches):
        return list(tensors)
    common = shape(tensors[0])[:-ndims]
    for x in tensors[1:]:
        common = broadcast_dynamic_shape(common, shape(x)[:-ndims])
    return [broadcast_to(x, concat([common, shape(x)[-ndims:]], 0)) for x in tensors]


def solve_with_broadcast(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Return the solution of linear systems, whose batches broadcast."""
    return solve(*with_equal_batches([matrix, rhs], 2), adjoint=adjoint)
