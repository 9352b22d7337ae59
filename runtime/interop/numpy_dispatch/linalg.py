"""NumPy's linear algebra as operations, with NumPy's parameters and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg as tf_linalg
from ...core.conversion import convert_to_tensor
from ...ops.arrays import reshape
from ...ops.linalg import matmul
from ...ops.linalg.diagonals import diag, diag_part
from ...ops.reduce.reductions import (
    reduce_sum,
)
from . import ufuncs
from .manipulation import ravel
from .registry import FUNCTIONS, as_floats, common, instead_of, rank_of


@instead_of(np.dot)
def dot(a: Any, b: Any) -> Any:
    x, y = common((a, b))
    if 0 in (x.shape.rank, y.shape.rank):
        return x * y
    return matmul.tensordot(x, y, [[-1], [0 if y.shape.rank == 1 else -2]])


@instead_of(np.inner)
def inner(a: Any, b: Any) -> Any:
    x, y = common((a, b))
    return x * y if 0 in (x.shape.rank, y.shape.rank) else matmul.tensordot(x, y, [[-1], [-1]])


@instead_of(np.outer)
def outer(a: Any, b: Any) -> Any:
    x, y = common((ravel(a), ravel(b)))
    return reshape.expand_dims(x, 1) * reshape.expand_dims(y, 0)


@instead_of(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    x, y = common((a, b))
    return matmul.tensordot(x, y, axes)


@instead_of(np.einsum)
def einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    return matmul.einsum(subscripts, *common(operands))


@instead_of(np.trace)
def trace(a: Any) -> Any:
    return reduce_sum(ufuncs.widened(diag_part(convert_to_tensor(a))), axis=-1)


@instead_of(np.diag)
def diag_(v: Any) -> Any:
    x = convert_to_tensor(v)
    return diag(x) if rank_of(x, "np.diag") == 1 else diag_part(x)


@instead_of(np.tril)
def tril(m: Any) -> Any:
    return tf_linalg.band_part(m, -1, 0)


@instead_of(np.triu)
def triu(m: Any) -> Any:
    return tf_linalg.band_part(m, 0, -1)


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
