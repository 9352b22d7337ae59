"""Norms of vectors and of matrices.

>>> norm([3., 4.]).numpy().tolist(), l2_normalize([3., 4.]).numpy().round(3).tolist()
(5.0, [0.6000000238418579, 0.800000011920929])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ...kernels import blas_limit
from ..arrays.reshape import inverse_permutation, permute_axes
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes, read_axes
from ..framework.op import Input, Name, op
from ..framework.op_families import CURVED, Array, real_part, require_dtype
from ..math.arithmetic import maximum, multiply, pow
from ..math.cast import cast
from ..math.elementwise import abs, conj, rsqrt, sqrt, square
from .reductions import reduce_max, reduce_sum, spread

_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]


@export("linalg.norm", "norm")
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
        return spectral_norm(x, axes, keep)  # type: ignore[no-any-return]
    added, compared = axes if ord == 1 else reversed(axes)
    largest = reduce_max(reduce_sum(abs(x), added, True), compared, True)
    return largest if keep else reduce_sum(largest, axes)  # type: ignore[no-any-return]


@op
def spectral_norm(x: Input, axis: Axes, keepdims: bool = False, name: Name = None) -> TensorType:
    """Return the largest singular values of the matrices in two axes.

    >>> spectral_norm([[0., 2.], [1., 0.]], [0, 1]).numpy().tolist()
    2.0
    """
    require_dtype(x, CURVED, "spectral_norm")
    return TensorType(real_part(x.dtype), shapes.reduced(x.shape, axis, keepdims))


@spectral_norm.kernel
def _(x: Array, axis: tuple[int, int], keepdims: bool) -> Any:
    return blas_limit.run(np.linalg.norm, x, 2, axis, keepdims)


@spectral_norm.gradient
def _(dy: Any, y: Any, x: Any, axis: tuple[int, int], keepdims: bool) -> Any:
    """Differentiate the largest singular value: multiply by the outer product of its singular vectors."""
    from ..linalg.decompositions import svd  # a late import: loaded only if it is used
    from ..linalg.inverse_and_det import times

    rank = x.shape.rank
    if rank is None:
        raise errors.UnimplementedError("the gradient of a matrix norm needs a known rank")
    last = [dim % rank for dim in axis]
    order = [*(i for i in range(rank) if i not in last), *last]
    _, u, v = svd(permute_axes(x, order))
    outer = times(u[..., :1], v[..., :1], adjoint_b=True)
    return cast(spread(dy, shape_of(x), axis, keepdims), x.dtype) * permute_axes(
        outer, inverse_permutation(order)
    )


@export("linalg.l2_normalize", "math.l2_normalize", "nn.l2_normalize")
def l2_normalize(x: TensorLike, axis: Any = None, epsilon: float = 1e-12, name: Name = None) -> Tensor:
    """Divide `x` by its Euclidean norm along `axis`; zeros remain zeros.

    >>> l2_normalize([[0., 2.], [0., 0.]], axis=1).numpy().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    x = convert_to_tensor(x)
    size = reduce_sum(square(abs(x) if x.dtype.is_complex else x), axis, True)
    return multiply(x, cast(rsqrt(maximum(size, epsilon)), x.dtype), name)  # type: ignore[no-any-return]
