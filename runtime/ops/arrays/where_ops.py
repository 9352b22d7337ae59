"""Select elements by tensors of booleans: where, boolean_mask.

mask = [True, False]     where(mask, x, y)             row 0 of x, row 1 of y
mask = [True, False]     boolean_mask(x, mask)         row 0 of x
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...ir.traits import CHEAP, ELEMENTWISE, TOTAL
from ...ir.value_types import TensorType
from ..framework import intervals
from ..framework.attribute_parsers import Axis
from ..framework.cached_dispatch import cached_dispatch, dispatch_with_operands
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.static_values import checked_dims, dims
from .creation import zeros_like
from .reshape import fitted
from .select_kernel import selected
from .shape_ops import shape as shape_of

Array = Any

_FEW = 1 << 12
"""The elements for which NumPy's indexing takes less time than `compress`."""


@export("where")
@dispatch_with_operands("x", "y")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Select elements of `x` where `condition` is true, else of `y`; without `x` and `y`, return the true indices.

    >>> where([True, False, True], [1, 2, 3], 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 0, 3], dtype=int32)>
    >>> where([True, False, True])
    <tf.Tensor: shape=(2, 1), dtype=int64, numpy=
    array([[0],
           [2]])>
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        return true_indices(condition, name)
    return choose(condition, x, y, name)


@op(
    name="where",
    traits=ELEMENTWISE | TOTAL | CHEAP,
    scalar={"b": "{1} if {0} else {2}"},
    numpy_scalar={"b": "{1} if {0} else {2}"},
    interval=intervals.choose,
    element_operands=3,
)
def choose(condition: Input, x: Same, y: Same, name: Name = None) -> TensorType:
    """Select elements of `x` where `condition` is true, else of `y`.

    >>> choose(False, 1, 2)
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    if not condition.dtype.is_bool:
        raise TypeError(f"where() needs a condition of dtype bool, not {condition.dtype.name}")
    return TensorType(x.dtype, shapes.broadcast(condition.shape, shapes.broadcast(x.shape, y.shape)))


choose.kernel(selected)


@choose.gradient
def _(dy: Any, z: Any, condition: Any, x: Any, y: Any) -> Any:
    zero = zeros_like(dy)
    return (
        None,
        lambda: fitted(choose(condition, dy, zero), x),
        lambda: fitted(choose(condition, zero, dy), y),
    )


@op
def true_indices(condition: Input, name: Name = None) -> TensorType:
    """Return the coordinates of the elements that are true (not zero), one in each row.

    >>> true_indices([[False, True]])
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[0, 1]])>
    """
    return TensorType(dtypes.int64, (None, None if condition.shape is None else len(condition.shape)))


true_indices.kernel(lambda condition: np.argwhere(condition).astype(np.int64, copy=False))


@export("boolean_mask")
@cached_dispatch
@dispatching_composites("boolean_mask")
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the slices of `tensor` where `mask` is true; the mask covers one or more axes from `axis` on.

    >>> boolean_mask([1, 2, 3], [True, False, True])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 3], dtype=int32)>
    """
    whole, chosen = convert_to_tensor(tensor), convert_to_tensor(mask)
    first, rank = 0 if axis is None else operator.index(axis), chosen.shape.rank
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if rank is None:
        raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.")
    if whole.shape.rank is not None:
        first = shapes.normal_axis(first, whole.shape.rank)
        whole.shape[first : first + rank].assert_is_compatible_with(chosen.shape)
    return masked(whole, chosen, first, name)


@op(name="boolean_mask")
def masked(tensor: Input, mask: Input, axis: Axis = 0, name: Name = None) -> TensorType:
    """Return the slices of `tensor` where `mask` is true.

    >>> masked([[1, 2], [3, 4]], [True, False], axis=1)
    <tf.Tensor: shape=(2, 1), dtype=int32, numpy=
    array([[1],
           [3]], dtype=int32)>
    """
    if not (mask.dtype.is_bool or mask.dtype.is_numeric):
        raise TypeError(f"boolean_mask() needs a mask of booleans or numbers, not {mask.dtype.name}")
    if tensor.shape is None or mask.shape is None:
        return TensorType(tensor.dtype, None)
    return TensorType(tensor.dtype, (*tensor.shape[:axis], None, *tensor.shape[axis + len(mask.shape) :]))


@masked.kernel
def _(tensor: Array, mask: Array, axis: int) -> Array:
    end = axis + mask.ndim
    if tensor.shape[axis:end] != mask.shape:
        raise ValueError(
            f"Shapes {shapes.show(tensor.shape[axis:end])} and {shapes.show(mask.shape)} are incompatible"
        )
    rows = tensor.reshape(*tensor.shape[:axis], math.prod(mask.shape), *tensor.shape[end:])
    return rows.compress(mask.reshape(-1), axis)


@masked.specialize
def _(specs: list[TensorType], axis: int) -> Any:
    """Return NumPy's indexing for few elements, which a mask of booleans selects along the first axes."""
    tensor, mask = (spec.shape for spec in specs)
    if tensor is None or mask is None or axis != 0 or not specs[1].dtype.is_bool:
        return None
    count = shapes.num_elements(tensor)
    is_fit = count is not None and count < _FEW and mask == tensor[: len(mask)]
    return operator.getitem if is_fit else None


@masked.gradient
def _(dy: Any, y: Any, tensor: Any, mask: Any, axis: int) -> Any:
    return put_back_masked(dy, mask, shape_of(tensor), axis), None


@op
def put_back_masked(rows: Input, mask: Input, shape: Ints, axis: Axis, name: Name = None) -> TensorType:
    """Scatter slices into zeros of this shape, where the mask is true: the transpose of `boolean_mask`.

    >>> put_back_masked([5, 7], [True, False, True], [3], 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([5, 0, 7], dtype=int32)>
    """
    if not (mask.dtype.is_bool or mask.dtype.is_numeric):
        raise TypeError(f"a mask consists of booleans or numbers, not of {mask.dtype.name}")
    return TensorType(rows.dtype, dims(shape))


@put_back_masked.kernel
def _(rows: Array, mask: Array, shape: Array, axis: int) -> Array:
    result = np.zeros(checked_dims(shape), rows.dtype)
    flat = result.reshape(*result.shape[:axis], math.prod(mask.shape), *result.shape[axis + mask.ndim :])
    np.moveaxis(flat, axis, 0)[mask.reshape(-1).astype(bool)] = np.moveaxis(rows, axis, 0)
    return result


put_back_masked.gradient(lambda dy, y, rows, mask, shape, axis: (masked(dy, mask, axis), None, None))
