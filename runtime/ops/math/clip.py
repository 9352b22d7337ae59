"""Clip tensors: elements to a range, or whole tensors to a maximal norm, individually or together.

>>> clip_by_value([3., 4.], 0., 3.5).numpy().tolist(), clip_by_norm([3., 4.], 1.).numpy().tolist()
([3.0, 3.5], [0.6000000238418579, 0.800000011920929])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import ELEMENTWISE
from ...ir.value_types import TensorType
from ..arrays.creation import constant, ones_like, zeros_like
from ..arrays.reshape import fitted
from ..arrays.where_ops import choose, where
from ..framework.cached_dispatch import cached_dispatch, dispatch_with_operands
from ..framework.composite_dispatch import dispatching_composites, meet_rows
from ..framework.op import Name, Same, op
from ..framework.op_families import REAL, Array, require_dtype
from ..reduce.reductions import reduce_sum
from .arithmetic import add_n, divide, maximum, minimum, multiply
from .cast import identity
from .comparison import greater, logical_or
from .elementwise import is_finite, sqrt, square


@export("clip_by_value")
@dispatch_with_operands("clip_value_min", "clip_value_max")
@dispatching_composites("clip_by_value", element_operands=3)
def clip_by_value(t: TensorLike, clip_value_min: Any, clip_value_max: Any, name: Name = None) -> Tensor:
    """Clip `t` to the range from `clip_value_min` to `clip_value_max`.

    >>> clip_by_value([1, 5, 9], 2, 7).numpy().tolist()
    [2, 5, 7]
    """
    meet_rows(t)
    t = convert_to_tensor(t)
    clipped = _clip(t, clip_value_min, clip_value_max, name)
    clipped.shape.assert_is_compatible_with(t.shape)
    return clipped  # type: ignore[no-any-return]


@op(traits=ELEMENTWISE, out={"f": ("np.minimum({0}, {2}, out={o})", "np.maximum({o}, {1}, out={o})")})
def _clip(t: Same, clip_value_min: Same, clip_value_max: Same, name: Name = None) -> TensorType:
    """Compute `clip_by_value` before the check that the bounds have not changed the shape.

    >>> _clip([1, 5, 9], 2, [7, 7, 7]).numpy().tolist()
    [2, 5, 7]
    """
    require_dtype(t, REAL, "clip_by_value")
    bounded = shapes.broadcast(t.shape, clip_value_max.shape)
    return TensorType(t.dtype, shapes.broadcast(bounded, clip_value_min.shape))


@_clip.kernel
def _(t: Array, clip_value_min: Array, clip_value_max: Array) -> Array:
    return np.maximum(np.minimum(t, clip_value_max), clip_value_min)


@_clip.gradient
def _(dy: Any, y: Any, t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    zero = zeros_like(dy)
    low, high = t < clip_value_min, t > clip_value_max
    return (
        lambda: fitted(choose(logical_or(low, high), zero, dy), t),
        lambda: fitted(choose(low, dy, zero), clip_value_min),
        lambda: fitted(choose(high, dy, zero), clip_value_max),
    )


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
