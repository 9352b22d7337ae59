"""Manipulation functions: join, reshape, transpose, repeat.

>>> permute_dims(reshape(asarray([1, 2, 3, 4, 5, 6]), (2, 3)), (1, 0)).shape
TensorShape([3, 2])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ops.arrays import concat_split, reverse_and_roll, tile_and_repeat
from ...ops.arrays import reshape as shaping
from ..numpy_dispatch import joining
from ..numpy_dispatch import manipulation as numpy_manipulation
from .creation import asarray
from .data_types import ANY, axis_of, rank_of, tensor_of
from .promotion import together


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes are broadcast to. Raise ValueError when there is none."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Any, /, shape: Any) -> Tensor:
    """Return `x` repeated along dimensions of size 1, and along new leading dimensions."""
    return shaping.broadcast_to(asarray(x), shape)


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    """Return the arrays, broadcast to one shape."""
    tensors = [tensor_of(each, ANY, "broadcast_arrays") for each in arrays]
    return joining.broadcast_arrays(*tensors) if tensors else []


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Tensor:
    """Return the concatenation of the arrays along an axis; of the flattened arrays when `axis` is None."""
    parts = _promoted(arrays, "concat")
    if axis is None:
        parts, axis = [flat(part) for part in parts], 0
    return concat_split.concat(parts, axis_of(axis, rank_of(parts[0], "concat"), "concat"))


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Tensor:
    """Return the arrays joined along a new axis."""
    parts = _promoted(arrays, "stack")
    return concat_split.stack(parts, axis_of(axis, rank_of(parts[0], "stack") + 1, "stack"))


def _promoted(arrays: Sequence[Any], function: str) -> list[Tensor]:
    if not len(arrays):
        raise ValueError(f"{function} needs at least one array")
    return together(tuple(map(asarray, arrays)), ANY, function)


def flat(x: Any) -> Tensor:
    """Return the flattened array."""
    return shaping.reshape(x, [-1])


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the parts along an axis, which must have a known size while tracing."""
    tensor = asarray(x)
    return tuple(concat_split.unstack(tensor, axis=axis_of(axis, rank_of(tensor, "unstack"), "unstack")))


def expand_dims(x: Any, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """Return `x` with a new dimension of size 1 at index `axis`, or with several. Raise IndexError out of bounds."""
    tensor = asarray(x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = rank_of(tensor, "expand_dims") + len(axes)
    dims = sorted(axis_of(each, rank, "expand_dims") for each in axes)
    if len(set(dims)) < len(dims):
        raise ValueError(f"expand_dims: an axis is repeated in {axis}")
    for each in dims:
        tensor = shaping.expand_dims(tensor, each)
    return tensor


def squeeze(x: Any, /, axis: int | tuple[int, ...]) -> Tensor:
    """Return `x` without these dimensions. Raise ValueError when one is not of size 1."""
    tensor = asarray(x)
    axes = axes_of(axis, tensor, "squeeze")
    for each in axes:
        if tensor.shape[each] not in (1, None):
            raise ValueError(f"squeeze: axis {each} is of size {tensor.shape[each]}, not 1")
    return shaping.squeeze(tensor, axes) if axes else tensor


def axes_of(axis: Any, x: Tensor, function: str) -> list[int]:
    """Return axes counted from the front; all axes when `axis` is None."""
    rank = rank_of(x, function)
    if axis is None:
        return list(range(rank))
    return [axis_of(each, rank, function) for each in ((axis,) if isinstance(axis, int) else axis)]


def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Return the elements in reverse order along some axes; along all when `axis` is None."""
    tensor = asarray(x)
    return reverse_and_roll.reverse(tensor, axes_of(axis, tensor, "flip"))


def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Tensor:
    """Return the array with some axes at other positions; the others keep their order."""
    tensor = asarray(x)
    sources, targets = axes_of(source, tensor, "moveaxis"), axes_of(destination, tensor, "moveaxis")
    if len(sources) != len(targets) or len({*sources}) < len(sources) or len({*targets}) < len(targets):
        raise ValueError(
            f"moveaxis: {source} and {destination} must have the same number of axes, without duplicates"
        )
    order = [each for each in range(rank_of(tensor, "moveaxis")) if each not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return shaping.transpose(tensor, order)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Tensor:
    """Return the array with permuted axes: dimension `i` of the result is dimension `axes[i]` of `x`."""
    tensor = asarray(x)
    return shaping.transpose(tensor, axes_of(tuple(axes), tensor, "permute_dims"))


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Return each element several times, along an axis or in the flattened array."""
    return tile_and_repeat.repeat(asarray(x), repeats, axis)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """Return the same elements in another shape, in which one -1 is inferred; `copy` has no effect."""
    return shaping.reshape(asarray(x), [shape] if isinstance(shape, int) else shape)


def roll(x: Any, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Return the elements shifted cyclically along an axis; in the flattened array when `axis` is None."""
    tensor = asarray(x)
    axes = None if axis is None else axes_of(axis, tensor, "roll")
    return numpy_manipulation.roll(tensor, shift, axes)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Tensor:
    """Return the array repeated along each axis; the shorter of shape and `repetitions` gets leading ones."""
    return numpy_manipulation.tile(asarray(x), repetitions)
