"""Products of arrays, for the main namespace and for `linalg`.

>>> vecdot(asarray([1.0, 2.0]), asarray([3.0, 4.0])).numpy()
np.float32(11.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ops.linalg import diagonals
from ...ops.linalg import tensordot as contractions
from ...ops.math import elementwise
from ...ops.reduce import reductions
from ..numpy_dispatch.ufuncs import operation_of
from .creation import asarray
from .data_types import NUMERIC, rank_of
from .promotion import together


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Return the product of matrices, or of vectors: a row on the left, a column on the right."""
    a, b = together((x1, x2), NUMERIC, "matmul")
    ranks = rank_of(a, "matmul"), rank_of(b, "matmul")
    if 0 in ranks:
        raise ValueError("matmul takes arrays of one dimension or more")
    return operation_of(np.matmul, a.dtype)(a, b)


def matrix_transpose(x: Any, /) -> Tensor:
    """Return the transpose of each matrix in the last two dimensions."""
    tensor = asarray(x)
    if rank_of(tensor, "matrix_transpose") < 2:
        raise ValueError("matrix_transpose takes arrays of two dimensions or more")
    return diagonals.matrix_transpose(tensor)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Return the sum of products over the last `axes` axes of `x1` and the first of `x2`, or over pairs of axes."""
    a, b = together((x1, x2), NUMERIC, "tensordot")
    return contractions.tensordot(a, b, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Return the sum of the products of the conjugate of `x1` and `x2` along an axis, counted from the end."""
    a, b = together((x1, x2), NUMERIC, "vecdot")
    shortest = min(rank_of(a, "vecdot"), rank_of(b, "vecdot"))
    if not -shortest <= axis < (shortest if a.shape.rank == b.shape.rank else 0):
        raise IndexError(f"vecdot: axis {axis} is not an axis, counted from the end, of both arrays")
    if None not in (a.shape[axis], b.shape[axis]) and a.shape[axis] != b.shape[axis]:
        raise ValueError(f"vecdot: axis {axis} has the sizes {a.shape[axis]} and {b.shape[axis]}")
    return reductions.reduce_sum(elementwise.conj(a) * b, axis)
