"""`tensor[key] = value` as an operation: it returns an updated copy of the tensor.

x = setitem(x, 1, 7)                        # x[1] = 7
x = setitem(x, x < 0, 0)                    # x[x < 0] = 0

A key may be anything that `tensor[key]` accepts. It is written in the graph as for `getitem`. Python values
adapt to the tensor's dtype; a tensor must have that dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...ir.traits import UPDATE
from ...ir.value_types import TensorType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Inputs, Name, Same, op
from ..framework.static_values import listed
from .getitem import HOLE, filled, is_mask, key_text, reason, result_sizes, select
from .reshape import fitted
from .where_ops import masked

Array = Any


@cached_dispatch
def setitem(tensor: Any, key: Any, value: Any) -> Any:
    """Return `tensor` with the elements that `key` selects replaced by `value`, which is broadcast.

    >>> from agc.runtime import constant
    >>> setitem(constant([[1, 2], [3, 4]]), (slice(None), 0), [7, 8])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[7, 2],
           [8, 4]], dtype=int32)>
    """
    if is_mask(key):
        return replace_masked(tensor, value, key)
    parts: list[Any] = []
    return replace(tensor, value, parts, key_text(key, parts))


@op(name="setitem", traits=UPDATE)
def replace(tensor: Same, value: Same, parts: Inputs, key: str, name: Name = None) -> TensorType:
    """Return `tensor` with `value` at `[key]`, where `parts` are the values of the `_` in the key.

    >>> replace([1, 2, 3, 4], 0, [1], "_::2")
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([1, 0, 3, 0], dtype=int32)>
    """
    for part in parts:
        if part.dtype.kind not in "iu":
            raise TypeError(f"an index is an integer, not {part.dtype.name}")
    values = [None if part.value is None else int(part.value) for part in parts]
    index = filled(key, [HOLE if value is None else value for value in values])
    if index.count(Ellipsis) > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    if tensor.shape is not None and value.shape is not None:
        _check_broadcast(value.shape, tuple(result_sizes(index, tensor.shape)))
    return TensorType(tensor.dtype, tensor.shape)


def _check_broadcast(value: tuple[int | None, ...], selected: tuple[int | None, ...]) -> None:
    try:
        fits = shapes.compatible(shapes.broadcast(value, selected), selected)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"a value of shape {listed(value)} does not fit into the selected places, of shape {listed(selected)}"
        )


@replace.kernel
def _(tensor: Array, value: Array, parts: list[Array], key: str) -> Array:
    index = filled(key, parts)
    result = np.array(tensor)
    try:
        selected = result[index]
    except IndexError as error:
        raise errors.InvalidArgumentError(reason(index, result.shape) or str(error)) from None
    _check_broadcast(np.shape(value), np.shape(selected))
    result[index] = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    return result


@replace.specialize
def _(inputs: list[Any], key: str) -> Any:
    """Return the kernel for numbers of static shapes at a constant key, which the rule has checked."""
    tensor, value, *parts = inputs
    if (
        parts
        or tensor.dtype.kind not in "biufc"
        or None in (*(tensor.shape or (None,)), *(value.shape or ()))
    ):
        return None
    index = filled(key, [])

    def replaced(tensor: Array, value: Array) -> Array:
        result = tensor.copy()
        result[index] = value
        return result

    return replaced


@replace.gradient
def _(dy: Any, y: Any, tensor: Any, value: Any, parts: list[Any], key: str) -> Any:
    return (lambda: replace(dy, 0, parts, key), lambda: fitted(select(dy, parts, key), value), None)


@op
def replace_masked(tensor: Same, value: Same, mask: Input, name: Name = None) -> TensorType:
    """Return `tensor` with `value` where `mask`, which covers its first axes, is true.

    The value is broadcast, or has one row for each true element.

    >>> replace_masked([1, -2, 3, -4], 0, [False, True, False, True])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([1, 0, 3, 0], dtype=int32)>
    """
    if not mask.dtype.is_bool:
        raise TypeError(f"a mask consists of booleans, not of {mask.dtype.name}")
    if tensor.shape is None or mask.shape is None:
        return TensorType(tensor.dtype, tensor.shape)
    covered = len(mask.shape)
    if covered == 0 or not shapes.compatible(mask.shape, tensor.shape[:covered]):
        raise ValueError(f"a mask of shape {listed(mask.shape)} for a tensor of shape {listed(tensor.shape)}")
    if value.shape is not None:
        _check_broadcast(value.shape, (None, *tensor.shape[covered:]))
    return TensorType(tensor.dtype, tensor.shape)


@replace_masked.kernel
def _(tensor: Array, value: Array, mask: Array) -> Array:
    result = np.array(tensor)
    chosen = np.asarray(mask)
    if not chosen.ndim or result.shape[: chosen.ndim] != chosen.shape:
        raise ValueError(
            f"a mask of shape {listed(chosen.shape)} for a tensor of shape {listed(result.shape)}"
        )
    _check_broadcast(np.shape(value), (int(np.count_nonzero(chosen)), *result.shape[chosen.ndim :]))
    result[chosen] = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    return result


@replace_masked.gradient
def _(dy: Any, y: Any, tensor: Any, value: Any, mask: Any) -> Any:
    return (lambda: replace_masked(dy, 0, mask), lambda: fitted(masked(dy, mask), value), None)
