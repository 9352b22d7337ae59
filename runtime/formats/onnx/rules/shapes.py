"""Shapes and the order of elements: reshape, transpose, broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import InexpressibleError
from ..registry import exports


def constant(ref: Any, what: str) -> np.ndarray[Any, Any]:
    """Return the value of a constant operand. Raises InexpressibleError if it is computed."""
    if ref.value is None:
        raise InexpressibleError(f"{what} is computed by the program; ONNX needs a constant")
    return np.asarray(ref.value)


@exports("reshape")
def _(e: Any, operation: Any, x: Any, shape: Any) -> Any:
    return e.reshape(x, shape)


@exports("expand_dims")
def _(e: Any, operation: Any, x: Any) -> Any:
    axis = operation.attrs["axis"]
    return e.unsqueeze(x, axis if axis >= 0 else axis + x.rank + 1)


@exports("squeeze")
def _(e: Any, operation: Any, x: Any) -> Any:
    axes = operation.attrs["axis"]
    if not axes:
        if x.shape is None or None in x.shape:
            raise InexpressibleError("which axes have the size 1 is not known: name them with `axis`")
        axes = [axis for axis, size in enumerate(x.shape) if size == 1]
    return e.squeeze(x, *axes) if axes else x


@exports("transpose")
def _(e: Any, operation: Any, x: Any, perm: Any) -> Any:
    rank = x.rank
    return e.transpose(x, [int(axis) % rank for axis in constant(perm, "the order of the axes")])


@exports("matrix_transpose")
def _(e: Any, operation: Any, x: Any) -> Any:
    return swapped(e, x)


def swapped(e: Any, x: Any) -> Any:
    """Transpose the last two axes."""
    order = list(range(x.rank))
    order[-2:] = order[:-3:-1]
    return e.transpose(x, order)


@exports("broadcast_to")
def _(e: Any, operation: Any, x: Any, shape: Any) -> Any:
    return e.expand(x, shape)


@exports("spread")
def _(e: Any, operation: Any, x: Any, shape: Any) -> Any:
    axes, rank = operation.attrs["axis"], (shape.shape or (None,))[0]
    if not operation.attrs["keepdims"]:
        if axes is None:
            return e.expand(e.reshape(x, [1] * rank) if rank else x, shape)
        x = e.unsqueeze(x, *[axis % rank for axis in axes]) if axes else x
    return e.expand(x, shape)


@exports("sum_to")
def _(e: Any, operation: Any, x: Any, shape: Any) -> Any:
    wanted = e.index(shape)
    extra = x.rank - shape.shape[0]
    if shape.value is not None and None not in x.shape:
        sizes = [1] * extra + shape.value.tolist()
        axes = [i for i, size in enumerate(sizes) if i < extra or (size == 1 and x.shape[i] != 1)]
        return e.reshape(e("ReduceSum", x, e.ints(*axes), keepdims=0), wanted) if axes else x
    full = e.concat([e.ints(*[1] * extra), wanted]) if extra else wanted
    chosen = e.squeeze(e("NonZero", full.equals(1), dtype=dtypes.int64, shape=(1, None)), 0)
    return e.reshape(e("ReduceSum", x, chosen, keepdims=1, noop_with_empty_axes=1), wanted)


@exports("shape")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.cast(e.shape_of(x), operation.outputs[0].dtype)


@exports("size")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.cast(e("Size", x, dtype=dtypes.int64), operation.outputs[0].dtype)


@exports("rank")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.const(x.rank, operation.outputs[0].dtype)


@exports("inverse_permutation", "invert_permutation")
def _(e: Any, operation: Any, perm: Any) -> Any:
    size = e.squeeze(e.size_of(perm, 0), 0)
    places = e("Range", e.const(0, dtypes.int64), size, e.const(1, dtypes.int64))
    order = e("Mod", e.index(perm), size)
    found = e("ScatterElements", places, order, places, axis=0)
    return e.cast(found, operation.outputs[0].dtype)


@exports("broadcast_dynamic_shape")
def _(e: Any, operation: Any, one: Any, other: Any) -> Any:
    size = max(one.shape[0] or 0, other.shape[0] or 0)
    if None in (one.shape[0], other.shape[0]):
        raise InexpressibleError("the ranks are not known")
    padded = [
        e.concat([e.const([1] * (size - x.shape[0]), x.dtype), x]) if x.shape[0] < size else x
        for x in (one, other)
    ]
    return e("Max", *padded)


@exports("axes_last")
def _(e: Any, operation: Any, x: Any, axes: Any) -> Any:
    chosen = [int(axis) % x.rank for axis in np.ravel(constant(axes, "the axes"))]
    order = [axis for axis in range(x.rank) if axis not in chosen] + chosen
    turned = e.transpose(x, order)
    kept = [e.size_of(x, axis) for axis in order[: x.rank - len(chosen)]]
    return e.reshape(turned, e.concat([*kept, e.ints(-1)]))


@exports("axes_back")
def _(e: Any, operation: Any, flat: Any, axes: Any, shape: Any) -> Any:
    rank = shape.shape[0]
    chosen = [int(axis) % rank for axis in np.ravel(constant(axes, "the axes"))]
    order = [axis for axis in range(rank) if axis not in chosen] + chosen
    sizes = e("Gather", e.index(shape), e.ints(*order))
    return e.transpose(e.reshape(flat, sizes), np.argsort(order).tolist())


@exports("tile")
def _(e: Any, operation: Any, x: Any, multiples: Any) -> Any:
    return e("Tile", x, e.index(multiples)) if x.rank else x


@exports("sum_tiles")
def _(e: Any, operation: Any, x: Any, multiples: Any) -> Any:
    parts = []
    for axis in range(x.rank):
        times = e("Gather", e.index(multiples), e.ints(axis))
        parts += [times, e.size_of(x, axis) / times]
    split = e.reshape(x, e.concat(parts))
    return e("ReduceSum", split, e.ints(*range(0, 2 * x.rank, 2)), keepdims=0)
