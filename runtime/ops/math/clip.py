"""Clip tensors to a maximal norm, individually or together.

>>> clip_by_norm([3., 4.], 1.).numpy().tolist()
[0.6000000238418579, 0.800000011920929]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.creation import constant, ones_like
from ..arrays.where_ops import where
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name
from ..reduce.reductions import reduce_sum
from .arithmetic import add_n, divide, maximum, minimum, multiply
from .cast import identity
from .comparison import greater
from .elementwise import is_finite, sqrt, square


@export("clip_by_norm")
@cached_dispatch
def clip_by_norm(t: Any, clip_norm: TensorLike, axes: Any = None, name: Name = None) -> Any:
    """Scale `t` down where its Euclidean norm along `axes` (of all elements if None) exceeds `clip_norm`.

    For IndexedSlices, it is the norm of the stored rows, and the result is IndexedSlices.

    >>> clip_by_norm([[3., 4.], [0., 0.]], 1., axes=[1]).numpy().round(3).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    values = _values(t)
    limit = convert_to_tensor(clip_norm, values.dtype)
    total = reduce_sum(multiply(values, values), axes, True)
    positive = greater(total, 0)
    norm = where(positive, sqrt(where(positive, total, ones_like(total))), total)
    clipped = identity(divide(multiply(values, limit), maximum(norm, limit)), name)
    return _like(t, clipped)


@export("linalg.global_norm")
@cached_dispatch
def global_norm(t_list: Sequence[Any], name: Name = None) -> Tensor:
    """Return the Euclidean norm of all elements of several tensors; entries that are None are ignored.

    >>> global_norm([[3.], None, [[4.]]]).numpy().tolist()
    5.0
    """
    _check_list(t_list)
    values = [_values(t) for t in t_list if t is not None]
    if not values:
        return constant(0.0, dtypes.float32)  # type: ignore[no-any-return]
    return sqrt(add_n([reduce_sum(square(value)) for value in values]), name)  # type: ignore[no-any-return]


@export("clip_by_global_norm")
@cached_dispatch
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: Name = None
) -> tuple[list[Any], Tensor]:
    """Scale tensors down together so that their `global_norm` is at most `clip_norm`; return them and that norm.

    Args:
        t_list: tensors; entries that are None are kept.
        use_norm: the norm, if it is already computed.

    All elements become NaN if the norm is infinite or NaN.

    >>> clipped, norm = clip_by_global_norm([[3.], [4.]], 1.)
    >>> norm.numpy().tolist(), [part.numpy().round(3).tolist() for part in clipped]
    (5.0, [[0.6000000238418579], [0.800000011920929]])
    """
    _check_list(t_list)
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    limit = convert_to_tensor(clip_norm, norm.dtype)
    factor = limit * minimum(1 / norm, 1 / limit)
    scale = where(is_finite(norm), factor, constant(float("nan"), norm.dtype))
    return [None if t is None else _like(t, multiply(_values(t), scale)) for t in t_list], norm


def _check_list(t_list: Any) -> None:
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


def _values(t: Any) -> Tensor:
    """Return the elements that may be nonzero: the stored values of IndexedSlices, or the whole tensor."""
    return t.values if _is_slices(t) else convert_to_tensor(t)


def _is_slices(t: Any) -> bool:
    return hasattr(t, "values") and hasattr(t, "indices")


def _like(t: Any, values: Tensor) -> Any:
    """Return `values` in the form of `t`: as IndexedSlices or as a tensor."""
    return type(t)(values, t.indices, t.dense_shape) if _is_slices(t) else values
