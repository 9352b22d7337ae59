"""Parts of matrices: diagonals, triangles, transposes. Matrices are the last two axes of a tensor.

>>> diag([1, 2]).numpy().tolist(), diag_part([[1, 2], [3, 4]]).numpy().tolist()
([[1, 0], [0, 2]], [1, 4])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.graph import Operand
from ...ir.traits import LENIENT, TOTAL
from ...ir.value_types import TensorType
from ..arrays.creation import zeros_like
from ..framework.attribute_parsers import Axis
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import BOOLS, EVERY, NUMERIC, REAL, Array, require_dtype
from ..math.elementwise import conj
from ..reduce.reductions import reduce_sum


def _of_rank(x: Operand, rank: int, what: str) -> tuple[int | None, ...] | None:
    if x.shape is not None and len(x.shape) < rank:
        raise ValueError(f"{what}: input must be at least {rank}-dim, received shape: {shapes.show(x.shape)}")
    return x.shape


def _length(rows: int | None, columns: int | None, k: int) -> int | None:
    """Return the length of diagonal `k`; ValueError if it does not exist."""
    if rows is None or columns is None:
        return None
    if not -rows < k < columns and not (k == 0):
        raise ValueError(f"there is no diagonal {k} in a matrix of {rows} rows and {columns} columns")
    return min(rows + min(k, 0), columns - max(k, 0))


@op(batch=batching.unchanged)
def diag_part(input: Input, name: Name = None, k: Axis = 0) -> TensorType:
    """Return the diagonal: the main one, or the k-th above (below, if `k` is negative).

    >>> diag_part([[1, 2, 3], [4, 5, 6]], k=1).numpy().tolist()
    [2, 6]
    """
    require_dtype(input, NUMERIC | BOOLS, "diag_part")
    shape = _of_rank(input, 2, "diag_part")
    return TensorType(input.dtype, shape and (*shape[:-2], _length(shape[-2], shape[-1], k)))


@diag_part.kernel
def _(input: Array, k: int) -> Array:
    _length(input.shape[-2], input.shape[-1], k)
    return np.diagonal(input, k, -2, -1)


@diag_part.gradient
def _(dy: Any, y: Any, input: Any, k: int) -> Any:
    return set_diag(zeros_like(input), dy, k=k)


@op
def diag(diagonal: Input, name: Name = None, k: Axis = 0) -> TensorType:
    """Return matrices with these diagonals, and zeros elsewhere; `k` as in `diag_part`.

    >>> diag([1, 2], k=1).numpy().tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    require_dtype(diagonal, NUMERIC | BOOLS, "diag")
    shape = _of_rank(diagonal, 1, "diag")
    if shape is None:
        return TensorType(diagonal.dtype, None)
    size = None if shape[-1] is None else shape[-1] + abs(k)
    return TensorType(diagonal.dtype, (*shape[:-1], size, size))


@diag.kernel
def _(diagonal: Array, k: int) -> Array:
    if not diagonal.ndim:
        raise errors.InvalidArgumentError("diag: diagonal must be at least 1-dim, received shape: []")
    size = diagonal.shape[-1] + abs(k)
    matrix = np.zeros((*diagonal.shape[:-1], size, size), diagonal.dtype)
    _write_diagonal(matrix, diagonal, k)
    return matrix


diag.gradient(lambda dy, y, diagonal, k: diag_part(dy, k=k))


def _write_diagonal(matrix: Array, diagonal: Array, k: int) -> None:
    """Write a diagonal of contiguous matrices."""
    rows, columns = matrix.shape[-2:]
    begin = k if k >= 0 else -k * columns
    elements = matrix.reshape(*matrix.shape[:-2], rows * columns)
    elements[..., begin : begin + diagonal.shape[-1] * (columns + 1) : columns + 1] = diagonal


@op
def set_diag(input: Same, diagonal: Same, name: Name = None, k: Axis = 0) -> TensorType:
    """Return `input` with the diagonal replaced; `k` as in `diag_part`.

    >>> set_diag([[1, 2], [3, 4]], [8, 9]).numpy().tolist()
    [[8, 2], [3, 9]]
    """
    require_dtype(input, NUMERIC | BOOLS, "set_diag")
    shape = _of_rank(input, 2, "set_diag")
    if shape is not None:
        shapes.merge((*shape[:-2], _length(shape[-2], shape[-1], k)), diagonal.shape)
    return input.spec  # type: ignore[no-any-return]


@set_diag.kernel
def _(input: Array, diagonal: Array, k: int) -> Array:
    if diagonal.shape != (*input.shape[:-2], _length(input.shape[-2], input.shape[-1], k)):
        raise errors.InvalidArgumentError(f"set_diag: the diagonal of {input.shape} is not {diagonal.shape}")
    matrix = np.array(input, order="C")
    _write_diagonal(matrix, diagonal, k)
    return matrix


@set_diag.gradient
def _(dy: Any, y: Any, input: Any, diagonal: Any, k: int) -> Any:
    return set_diag(dy, zeros_like(diagonal), k=k), diag_part(dy, k=k)


@export("linalg.band_part")
@op(batch=batching.unchanged)
def band_part(input: Input, num_lower: Axis, num_upper: Axis, name: Name = None) -> TensorType:
    """Return `input` with zeros outside a band around the diagonal; a negative number keeps the whole triangle.

    >>> band_part([[1, 2], [3, 4]], 0, -1).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    require_dtype(input, NUMERIC | BOOLS, "band_part")
    _of_rank(input, 2, "band_part")
    if input.shape is not None:
        _check_band(num_lower, num_upper, input.shape)
    return input.spec  # type: ignore[no-any-return]


def _check_band(num_lower: int, num_upper: int, shape: Any) -> None:
    for what, number, of, size in (
        ("num_lower", num_lower, "rows", shape[-2]),
        ("num_upper", num_upper, "columns", shape[-1]),
    ):
        if size is not None and number > size:
            raise ValueError(f"{what} must be negative or at most the number of {of} ({size}), got: {number}")


@band_part.kernel
def _(input: Array, num_lower: int, num_upper: int) -> Array:
    _check_band(num_lower, num_upper, input.shape)
    upper = np.triu(input, -num_lower) if num_lower >= 0 else input
    return np.tril(upper, num_upper) if num_upper >= 0 else upper


band_part.gradient(lambda dy, y, input, num_lower, num_upper: band_part(dy, num_lower, num_upper))


@export("linalg.trace")
@cached_dispatch
def trace(x: TensorLike, name: Name = None) -> Tensor:
    """Return the sum of the diagonal.

    >>> trace([[1, 2], [3, 4]]).numpy().tolist()
    5
    """
    return reduce_sum(diag_part(x), -1, name=name)  # type: ignore[no-any-return]


@export("linalg.matrix_transpose")
@op(traits=TOTAL)
def matrix_transpose(a: Input, name: Name = None, conjugate: bool = False) -> TensorType:
    """Transpose matrices; complex numbers are also conjugated if `conjugate`.

    >>> matrix_transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    require_dtype(a, EVERY, "matrix_transpose")
    shape = _of_rank(a, 2, "matrix_transpose")
    return TensorType(a.dtype, shape and (*shape[:-2], shape[-1], shape[-2]))


@matrix_transpose.kernel
def _(a: Array, conjugate: bool) -> Array:
    turned = np.swapaxes(a, -1, -2)
    return np.conj(turned) if conjugate and a.dtype.kind == "c" else turned


matrix_transpose.gradient(lambda dy, y, a, conjugate: matrix_transpose(dy, conjugate=conjugate))


@export("linalg.adjoint")
def adjoint(matrix: TensorLike, name: Name = None) -> Tensor:
    """Return the conjugate transpose.

    >>> adjoint([[1 + 1j, 2j]]).numpy().tolist()
    [[(1-1j)], [-2j]]
    """
    return matrix_transpose(matrix, name, conjugate=True)  # type: ignore[no-any-return]


@export("linalg.cross")
@op(traits=LENIENT)
def cross(a: Same, b: Same, name: Name = None) -> TensorType:
    """Return the cross product of vectors of three numbers along the last axis.

    >>> cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
    [0, 0, 1]
    """
    require_dtype(a, REAL, "cross")
    shape = shapes.merge(_of_rank(a, 1, "cross"), _of_rank(b, 1, "cross"))
    if shape is not None and shape[-1] not in (None, 3):
        raise ValueError(f"cross: the last dimension of {shapes.show(shape)} must be 3")
    return TensorType(a.dtype, shape)


cross.kernel(lambda a, b: np.cross(a, b))
cross.gradient(lambda dy, y, a, b: (cross(conj(b), dy), cross(dy, conj(a))))
