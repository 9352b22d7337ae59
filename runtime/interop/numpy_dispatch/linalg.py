"""NumPy's linear algebra as operations, with NumPy's parameters and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg as tf_linalg
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...ops.arrays import concat_split, ranges, reshape, shape_ops
from ...ops.arrays.creation import zeros_like
from ...ops.arrays.where_ops import where
from ...ops.linalg import einsum as einstein
from ...ops.linalg import tensordot as contractions
from ...ops.linalg.matrix_diag import diag, diag_part
from ...ops.math import elementwise
from ...ops.math.cast import cast
from ...ops.reduce.reductions import reduce_sum
from . import ufuncs
from .manipulation import expand_dims, moveaxis, ravel
from .registry import FUNCTIONS, as_floats, at_least, common, instead_of, rank_of


@instead_of(np.dot)
def dot(a: Any, b: Any) -> Any:
    x, y = common((a, b))
    if 0 in (x.shape.rank, y.shape.rank):
        return x * y
    return contractions.tensordot(x, y, [[-1], [0 if y.shape.rank == 1 else -2]])


@instead_of(np.inner)
def inner(a: Any, b: Any) -> Any:
    x, y = common((a, b))
    return x * y if 0 in (x.shape.rank, y.shape.rank) else contractions.tensordot(x, y, [[-1], [-1]])


@instead_of(np.outer)
def outer(a: Any, b: Any) -> Any:
    x, y = common((ravel(a), ravel(b)))
    return reshape.expand_dims(x, 1) * reshape.expand_dims(y, 0)


@instead_of(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    x, y = common((a, b))
    return contractions.tensordot(x, y, axes)


@instead_of(np.einsum)
def einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    return einstein.einsum(subscripts, *common(operands))


@instead_of(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    x, y = common((ravel(a), ravel(b)))
    return contractions.tensordot(elementwise.conj(x), y, 1)


@instead_of(np.kron)
def kron(a: Any, b: Any) -> Any:
    x, y = common((a, b))
    rank = max(rank_of(x, "np.kron"), rank_of(y, "np.kron"))
    x, y = (at_least(each, rank, front=True) for each in (x, y))
    sizes = shape_ops.shape(x) * shape_ops.shape(y)
    even, odd = (list(range(start, 2 * rank, 2)) for start in (0, 1))
    return reshape.reshape(expand_dims(x, odd) * expand_dims(y, even), sizes)


@instead_of(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = common((a, b))
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    x1, x2, x3 = _components(x)
    y1, y2, y3 = _components(y)
    if x3 is None and y3 is None:
        return x1 * y2 - x2 * y1
    zero = zeros_like(x1)
    x3, y3 = zero if x3 is None else x3, zeros_like(y1) if y3 is None else y3
    found = concat_split.stack([x2 * y3 - x3 * y2, x3 * y1 - x1 * y3, x1 * y2 - x2 * y1], -1)
    return moveaxis(found, -1, axisc)


def _components(x: Any) -> tuple[Any, Any, Any]:
    """Return the components of vectors; a vector of two has no third."""
    if x.shape[-1] not in (2, 3):
        raise ValueError("np.cross takes vectors with 2 or 3 components")
    return x[..., 0], x[..., 1], x[..., 2] if x.shape[-1] == 3 else None


@instead_of(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return diagonal_of(moveaxis(a, (axis1, axis2), (-2, -1)), offset)


def diagonal_of(x: Tensor, offset: int) -> Any:
    """Return a diagonal of matrices in the last two axes; an empty array if there is no such diagonal."""
    rows, columns = x.shape[-2:].sizes
    if offset and ((columns is not None and offset >= columns) or (rows is not None and -offset >= rows)):
        return reshape.reshape(x[..., :0, :0], [*shape_ops.shape(x)[:-2], 0])
    return diag_part(x, k=offset)


@instead_of(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    values = diagonal(a, offset, axis1, axis2)
    return reduce_sum(ufuncs.widened(values) if dtype is None else cast(values, dtype), axis=-1)


@instead_of(np.diag)
def diag_(v: Any, k: int = 0) -> Any:
    x = convert_to_tensor(v)
    return diag(x, k=k) if rank_of(x, "np.diag") == 1 else diagonal(x, k)


@instead_of(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    return diag(ravel(v), k=k)


@instead_of(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    return _triangle(m, lambda row, column: column <= row + k)


@instead_of(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    return _triangle(m, lambda row, column: column >= row + k)


def _triangle(m: Any, keeps: Callable[..., Any]) -> Any:
    x = convert_to_tensor(m)
    row, column = (ranges.range(shape_ops.shape(x)[axis]) for axis in (-2, -1))
    return where(keeps(reshape.expand_dims(row, 1), column), x, zeros_like(x))


@instead_of(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    values = as_floats(x)
    if axis is None and ord is not None:  # for a matrix; TensorFlow takes the norm of all elements
        axis = 0 if rank_of(values, "np.linalg.norm") == 1 else (0, 1)
    return tf_linalg.norm(values, "euclidean" if ord is None else ord, axis, keepdims)


def _of_matrices(name: str) -> Callable[..., Any]:
    def function(*matrices: Any) -> Any:
        return getattr(tf_linalg, name)(*map(as_floats, matrices))

    return function


FUNCTIONS.update({
    np.linalg.inv: _of_matrices("inv"),
    np.linalg.det: _of_matrices("det"),
    np.linalg.cholesky: _of_matrices("cholesky"),
    np.linalg.eigh: _of_matrices("eigh"),
    np.linalg.eigvalsh: _of_matrices("eigvalsh"),
})  # fmt: skip


@instead_of(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    x, y = common((as_floats(a), as_floats(b)))
    if y.shape.rank == 1:
        return reshape.squeeze(tf_linalg.solve(x, reshape.expand_dims(y, 1)), 1)
    return tf_linalg.solve(x, y)
