"""`unique`: the distinct elements of a vector."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ...kernels.orders import first_appearances
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Name, op

Array = Any


class Unique(NamedTuple):
    """The result of `unique`."""

    y: Tensor
    idx: Tensor


@export("unique")
def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """Return the distinct elements of a vector by first appearance, and the index of each element among them.

    >>> unique([7, 8, 7]).idx
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 0], dtype=int32)>
    """
    return Unique(*distinct(x, out_idx, name))


@op(name="unique")
def distinct(x: Input, out_idx: DType = dtypes.int32, name: Name = None) -> tuple[TensorType, TensorType]:
    """Return the distinct elements of a vector, and the index of each element among them.

    >>> distinct([7, 8, 7])[0]
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([7, 8], dtype=int32)>
    """
    return types_of_distinct(x, out_idx)


def types_of_distinct(x: Input, out_idx: dtypes.DType) -> tuple[TensorType, TensorType]:
    """Return the types of the distinct elements and of their indices. Raise TypeError for another dtype of indices."""
    if out_idx not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"out_idx must be int32 or int64, not {out_idx.name}")
    if x.shape is not None and len(x.shape) != 1:
        raise ValueError("unique expects a 1D vector.")
    return TensorType(x.dtype, (None,)), TensorType(out_idx, x.shape or (None,))


@distinct.kernel
def _(x: Array, out_idx: dtypes.DType) -> tuple[Array, Array]:
    values, positions = first_appearances(x)
    return values, positions.astype(out_idx.numpy_dtype)


distinct.no_gradient("TensorFlow has none: an element may be different from others, or not, by a little")
