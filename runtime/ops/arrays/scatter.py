"""Scatter values to indices: scatter_nd into zeros, tensor_scatter_nd_* into a copy of a tensor.

tensor_scatter_nd_update([0, 0, 0], indices=[[2], [0]], updates=[5, 7])     7 0 5
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...core import shapes
from ...core.export import export
from ...ir.graph import Constant
from ...ir.traits import UPDATE
from ...ir.value_types import TensorType
from ...kernels.rows import combine_rows, numbering, row_numbers
from ..framework.op import Input, Ints, Name, Op, Same, op
from ..framework.static_values import checked_dims, dims, listed
from ..math.cast import cast
from ..math.comparison import equal
from .creation import zeros_like
from .gather_ops import gather_nd

Array = Any
NUMBERS = frozenset("biufc")
"""The kinds of dtypes whose arrays begin as zeros."""


@export("scatter_nd")
@op
def scatter_nd(indices: Ints, updates: Input, shape: Ints, name: Name = None) -> TensorType:
    """Add the `updates` at the `indices` to zeros of this shape.

    >>> scatter_nd([[2], [0], [2]], [1, 2, 3], [4])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([2, 0, 4, 0], dtype=int32)>
    """
    sizes = dims(shape)
    check_updates(indices.shape, updates.shape, sizes)
    return TensorType(updates.dtype, sizes)


@scatter_nd.kernel
def _(indices: Array, updates: Array, shape: Array) -> Array:
    result = np.zeros(checked_dims(shape), updates.dtype)
    if updates.dtype == object:
        result.fill(b"")
    numbers, merged = numbered_rows(indices, updates, result.shape)
    combine_rows(np.add, result.reshape(merged), numbers, updates)
    return result


@scatter_nd.specialize
def _(inputs: list[Any]) -> Any:
    """Return the kernel for one shape of numbers, which the rule has checked."""
    indices, updates, shape = inputs
    if type(shape) is not Constant or not have_sizes(indices, updates) or updates.dtype.kind not in NUMBERS:
        return None
    sizes, dtype = checked_dims(shape.value), updates.dtype.numpy_dtype
    numbers, merged = numbering(sizes, indices.shape[-1])

    def kernel(indices: Array, updates: Array, shape: Array) -> Array:
        result = np.zeros(merged, dtype)
        combine_rows(np.add, result, numbers(indices), updates)
        return result.reshape(sizes)

    return kernel


scatter_nd.gradient(lambda dy, y, indices, updates, shape: (None, gather_nd(dy, indices), None))


def check_updates(indices: shapes.Dims, updates: shapes.Dims, shape: shapes.Dims) -> None:
    if indices == ():
        raise ValueError("indices must be at least a vector, not a scalar")
    if indices is None or updates is None or shape is None or indices[-1] is None:
        return
    outer, depth = len(indices) - 1, indices[-1]
    if depth > len(shape):
        raise ValueError(
            f"The innermost dimension of indices[shape={listed(indices)}] must be at most {len(shape)}, "
            f"the rank of output.shape={listed(shape)}"
        )
    if not shapes.compatible(indices[:-1], updates[:outer]):
        raise ValueError(
            f"Dimensions [0,{outer}) of indices[shape={listed(indices)}] must match "
            f"dimensions [0,{outer}) of updates[shape={listed(updates)}]"
        )
    if not shapes.compatible(shape[depth:], updates[outer:]):
        inner = len(shape) - depth
        raise ValueError(
            f"The inner {inner} dimensions of output.shape={listed(shape)} must match the inner "
            f"{len(updates) - outer} dimensions of updates.shape={listed(updates)}"
        )


def have_sizes(*specs: Any) -> bool:
    """Return whether operands of a scatter have shapes that the rule has checked completely."""
    return all(shapes.is_static(x.shape) for x in specs) and specs[0].shape[-1] > 0


def numbered_rows(indices: Array, updates: Array, shape: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """Return `row_numbers(indices, shape)`; raise as `check_updates` does for updates that do not fit."""
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 < depth <= len(shape) or updates.shape != (*indices.shape[:-1], *shape[depth:]):
        check_updates(indices.shape, updates.shape, shape)
    return row_numbers(indices, shape)


def _scatter_into(name: str, put: Callable[..., Any], manual: str) -> Op:
    """Declare one operation of the table below; `put(rows, numbers, updates)` writes to a copy of the tensor."""

    def rule(tensor: Same, indices: Ints, updates: Same, name: Name = None) -> TensorType:
        check_updates(indices.shape, updates.shape, tensor.shape)
        return TensorType(tensor.dtype, tensor.shape)

    def kernel(tensor: Array, indices: Array, updates: Array) -> Array:
        result = tensor.copy()
        numbers, merged = numbered_rows(indices, updates, result.shape)
        put(result.reshape(merged), numbers, updates)
        return result

    def specialized(inputs: list[Any]) -> Any:
        """Return the kernel for shapes that the rule has checked."""
        tensor, indices, updates = inputs
        if not have_sizes(indices, updates, tensor):
            return None
        numbers, merged = numbering(tensor.shape, indices.shape[-1])

        def changed(tensor: Array, indices: Array, updates: Array) -> Array:
            result = tensor.copy()
            put(result.reshape(merged), numbers(indices), updates)
            return result

        return changed

    rule.__name__, rule.__qualname__, rule.__doc__ = name, name, manual
    declared = Op(rule, export=(name,), traits=UPDATE)
    declared.kernel(kernel)
    declared.specialize(specialized)
    return declared


tensor_scatter_nd_update = _scatter_into(
    "tensor_scatter_nd_update",
    operator.setitem,
    """`tensor` with the elements or slices at `indices` replaced by `updates`.

    >>> tensor_scatter_nd_update([0, 0, 0], [[2], [0]], [5, 7])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([7, 0, 5], dtype=int32)>
    """,
)
tensor_scatter_nd_add = _scatter_into("tensor_scatter_nd_add", partial(combine_rows, np.add),
    """`tensor` with `updates` added to the elements or slices at `indices`.

    >>> tensor_scatter_nd_add([1, 1, 1], [[2], [2]], [5, 7])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([ 1,  1, 13], dtype=int32)>
    """)  # fmt: skip
tensor_scatter_nd_sub = _scatter_into("tensor_scatter_nd_sub", partial(combine_rows, np.subtract),
    """`tensor` with `updates` subtracted from the elements or slices at `indices`.

    >>> tensor_scatter_nd_sub([1, 1], [[0]], [5])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([-4,  1], dtype=int32)>
    """)  # fmt: skip
tensor_scatter_nd_max = _scatter_into("tensor_scatter_nd_max", partial(combine_rows, np.maximum),
    """`tensor` with the larger of the old value and the update at `indices`.

    >>> tensor_scatter_nd_max([1, 9], [[0], [1]], [5, 5])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([5, 9], dtype=int32)>
    """)  # fmt: skip
tensor_scatter_nd_min = _scatter_into("tensor_scatter_nd_min", partial(combine_rows, np.minimum),
    """`tensor` with the smaller of the old value and the update at `indices`.

    >>> tensor_scatter_nd_min([1, 9], [[0], [1]], [5, 5])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 5], dtype=int32)>
    """)  # fmt: skip


@tensor_scatter_nd_update.gradient
def _(dy: Any, y: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return (
        lambda: tensor_scatter_nd_update(dy, indices, zeros_like(updates)),
        None,
        lambda: gather_nd(dy, indices),
    )


@tensor_scatter_nd_add.gradient
def _(dy: Any, y: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return dy, None, lambda: gather_nd(dy, indices)


@tensor_scatter_nd_sub.gradient
def _(dy: Any, y: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return dy, None, lambda: -gather_nd(dy, indices)


@tensor_scatter_nd_max.gradient
@tensor_scatter_nd_min.gradient
def _(dy: Any, y: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    """Pass the cotangent to the operands that equal the result, in equal parts if there are several."""
    kept = cast(equal(tensor, y), dy.dtype)
    taken = cast(equal(updates, gather_nd(y, indices)), dy.dtype)
    share = dy / tensor_scatter_nd_add(kept, indices, taken)
    return kept * share, None, taken * gather_nd(share, indices)
