"""NumPy's manipulation of arrays (join, reshape, transpose, repeat) as operations, with NumPy's parameters and
dtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...ops.arrays import concat_split, pad_ops, reverse_and_roll, tile_and_repeat
from ...ops.arrays import reshape as shaping
from ...ops.arrays.creation import fill, ones_like, zeros_like
from ...ops.arrays.gather_ops import gather
from ...ops.arrays.shape_ops import shape as shape_of
from ...ops.arrays.shape_ops import size as size_of
from ...ops.math.cast import cast, identity
from .registry import at_least, common, flat_without_axis, instead_of, rank_of


@instead_of(np.concatenate)
def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    parts = common(arrays)
    if axis is None:
        parts, axis = [shaping.reshape(part, [-1]) for part in parts], 0
    return concat_split.concat(parts, axis)


@instead_of(np.stack)
def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    return concat_split.stack(common(arrays), axis)


@instead_of(np.vstack)
def vstack(tup: Sequence[Any]) -> Any:
    return concatenate([at_least(a, 2, front=True) for a in tup])


@instead_of(np.hstack)
def hstack(tup: Sequence[Any]) -> Any:
    parts = [at_least(a, 1, front=True) for a in tup]
    return concatenate(parts, 0 if parts[0].shape.rank == 1 else 1)


@instead_of(np.column_stack)
def column_stack(tup: Sequence[Any]) -> Any:
    return concatenate([at_least(a, 2, front=False) for a in tup], 1)


@instead_of(np.reshape)
def reshape(a: Any, shape: Any, order: str = "C") -> Any:
    sizes = [shape] if isinstance(shape, int) else shape
    if order == "F":  # the first axis changes fastest
        return shaping.transpose(shaping.reshape(shaping.transpose(a), sizes[::-1]))
    return shaping.reshape(a, sizes)


@instead_of(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, [-1], order)


@instead_of(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    return shaping.transpose(a, axes)


@instead_of(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    x = convert_to_tensor(a)
    order = list(range(rank_of(x, "np.swapaxes")))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return shaping.transpose(x, order)


@instead_of(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    x = convert_to_tensor(a)
    return shaping.transpose(x, _moved(rank_of(x, "np.moveaxis"), source, destination))


def _moved(rank: int, source: Any, destination: Any) -> list[int]:
    permuted = np.moveaxis(np.empty(range(rank)), source, destination)
    return list(permuted.shape)


@instead_of(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    return shaping.squeeze(a, axis)


@instead_of(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    x = convert_to_tensor(a)
    if not isinstance(axis, (tuple, list)):
        return shaping.expand_dims(x, axis)
    for each in sorted(normalize_axis_tuple(axis, rank_of(x, "np.expand_dims") + len(axis))):
        x = shaping.expand_dims(x, each)
    return x


@instead_of(np.broadcast_to)
def broadcast_to(array: Any, shape: Any) -> Any:
    return shaping.broadcast_to(array, shape)


@instead_of(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    x = convert_to_tensor(m)
    if axis is None:
        axis = range(rank_of(x, "np.flip"))
    return reverse_and_roll.reverse(x, [axis] if isinstance(axis, int) else list(axis))


@instead_of(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    x = convert_to_tensor(a)
    if axis is None:
        return shaping.reshape(reverse_and_roll.roll(ravel(x), shift, 0), shape_of(x))
    if isinstance(shift, int) and not isinstance(axis, int):
        shift = [shift] * len(axis)
    return reverse_and_roll.roll(x, shift, axis)


@instead_of(np.repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    return tile_and_repeat.repeat(a, repeats, axis)


@instead_of(np.tile)
def tile(A: Any, reps: Any) -> Any:  # noqa: N803
    counts = [reps] if isinstance(reps, int) else list(reps)
    x = at_least(A, len(counts), front=True)
    return tile_and_repeat.tile(x, [1] * (rank_of(x, "np.tile") - len(counts)) + counts)


@instead_of(np.pad)
def pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    x = convert_to_tensor(array)
    widths = np.broadcast_to(pad_width, (rank_of(x, "np.pad"), 2)).tolist()
    modes = {"constant": "CONSTANT", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}
    if mode not in modes:
        raise ValueError(f"np.pad of a traced tensor has the modes {', '.join(modes)}, not {mode!r}")
    return pad_ops.pad(x, widths, modes[mode], constant_values)


@instead_of(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    x = convert_to_tensor(ary)
    if isinstance(indices_or_sections, int):
        return list(concat_split.split(x, indices_or_sections, axis))
    size = x.shape[axis]
    if size is None:
        raise ValueError("np.split at indices needs a known size: set it with tf.ensure_shape")
    edges = [0, *indices_or_sections, size]
    return list(concat_split.split(x, np.diff(edges).tolist(), axis))


@instead_of(np.take)
def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    return gather(x, indices, axis=dim)


@instead_of(np.zeros_like, np.empty_like)
def zeros_like_(a: Any, dtype: Any = None) -> Any:
    return zeros_like(a, dtype)


@instead_of(np.ones_like)
def ones_like_(a: Any, dtype: Any = None) -> Any:
    return ones_like(a, dtype)


@instead_of(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    x = convert_to_tensor(a)
    return fill(shape_of(x), cast(fill_value, x.dtype if dtype is None else dtype))


@instead_of(np.shape)
def shape(a: Any) -> Any:
    known = convert_to_tensor(a).shape
    if not known.is_fully_defined():
        raise ValueError(
            f"np.shape needs a tensor of known shape, not {known}: tf.shape(x) is known when the graph runs"
        )
    return known.sizes


@instead_of(np.ndim)
def ndim(a: Any) -> int:
    return rank_of(convert_to_tensor(a), "np.ndim")


@instead_of(np.size)
def size(a: Any, axis: int | None = None) -> Any:
    known = convert_to_tensor(a).shape
    if known.is_fully_defined():
        return known.num_elements() if axis is None else known[axis]
    return size_of(a, dtypes.int64) if axis is None else shape_of(a, dtypes.int64)[axis]


@instead_of(np.copy)
def copy(a: Any) -> Any:
    return identity(a)
