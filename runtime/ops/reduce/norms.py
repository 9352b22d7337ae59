"""Norms of vectors and of matrices.

>>> norm([3., 4.]).numpy().tolist(), l2_normalize([3., 4.]).numpy().round(3).tolist()
(5.0, [0.6000000238418579, 0.800000011920929])
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ... import errors
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.reshape import expand_dims, permute_axes
from ..framework.attribute_parsers import read_axes
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name
from ..framework.op_families import wrong
from ..math.arithmetic import maximum, multiply, pow
from ..math.cast import cast
from ..math.elementwise import abs, conj, rsqrt, sqrt, square
from .reductions import reduce_max, reduce_sum

_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]


@export("linalg.norm", "norm")
@cached_dispatch
def norm(
    tensor: TensorLike, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: Name = None
) -> Tensor:
    """Return the norm of vectors along `axis` (of all elements if None), or of the matrices in two axes.

    `ord` is "euclidean" (also "fro" for matrices), 1, 2, infinity, or for vectors any positive number.

    >>> norm([3., 4.]).numpy().tolist(), norm([3., -4.], ord=1).numpy().tolist()
    (5.0, 7.0)
    >>> norm([[1., -2.], [3., 4.]], ord=1, axis=(0, 1)).numpy().tolist()
    6.0
    """
    x, keep = convert_to_tensor(tensor), bool(keepdims)
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    axes = read_axes(axis)
    _check_order(ord, is_matrix)
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        return sqrt(reduce_sum(multiply(x, conj(x)), axes, keep), name)  # type: ignore[no-any-return]
    if is_matrix:
        assert axes is not None
        return _matrix_norm(x, ord, axes, keep)
    if ord == np.inf:
        return reduce_max(abs(x), axes, keep, name)  # type: ignore[no-any-return]
    if ord == 1:
        return reduce_sum(abs(x), axes, keep, name)  # type: ignore[no-any-return]
    return pow(reduce_sum(pow(abs(x), ord), axes, keep), 1 / ord, name)  # type: ignore[no-any-return]


def _check_order(ord: Any, is_matrix: bool) -> None:
    if is_matrix and ord not in _MATRIX_NORMS:
        raise ValueError(f"'ord' must be a supported matrix norm in {_MATRIX_NORMS}, got {ord}")
    if not is_matrix and ord != "euclidean" and not (isinstance(ord, (int, float)) and ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keep: bool) -> Tensor:
    if ord == 2:
        return _spectral_norm(x, axes, keep)
    added, compared = axes if ord == 1 else reversed(axes)
    largest = reduce_max(reduce_sum(abs(x), added, True), compared, True)
    return largest if keep else reduce_sum(largest, axes)  # type: ignore[no-any-return]


def _spectral_norm(x: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    """Return the largest singular values of the matrices in two axes."""
    from ..linalg.decompositions import svd  # a late import: loaded only if it is used

    rank = x.shape.rank
    if rank is None:
        raise errors.UnimplementedError("the spectral norm of matrices in two axes needs a known rank")
    if not all(-rank <= axis < rank for axis in axes):
        raise wrong(f"norm: the axes {list(axes)} are out of range for a tensor of rank {rank}")
    last = [axis % rank for axis in axes]
    matrices = permute_axes(x, [*(i for i in range(rank) if i not in last), *last])
    largest: Tensor = reduce_max(svd(matrices, compute_uv=False), -1)
    return functools.reduce(expand_dims, sorted(last), largest) if keep else largest


@export("linalg.l2_normalize", "math.l2_normalize", "nn.l2_normalize")
@cached_dispatch
def l2_normalize(x: TensorLike, axis: Any = None, epsilon: float = 1e-12, name: Name = None) -> Tensor:
    """Divide `x` by its Euclidean norm along `axis`; zeros remain zeros.

    >>> l2_normalize([[0., 2.], [0., 0.]], axis=1).numpy().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    x = convert_to_tensor(x)
    size = reduce_sum(square(abs(x) if x.dtype.is_complex else x), axis, True)
    return multiply(x, cast(rsqrt(maximum(size, epsilon)), x.dtype), name)  # type: ignore[no-any-return]
