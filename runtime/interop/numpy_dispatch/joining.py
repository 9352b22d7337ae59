"""NumPy's functions that raise the rank of arrays, join them, split and turn them, with NumPy's parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...ops.arrays import gather_ops, shape_ops, where_ops
from ...ops.arrays import reshape as shaping
from ...ops.arrays.shape_arithmetic import broadcast_dynamic_shape
from ...ops.math.cast import cast
from .manipulation import concatenate, flip, ravel, split, swapaxes
from .registry import at_least, common, flat_without_axis, instead_of, rank_of


def _raised(convert: Callable[[Tensor], Any]) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:
        found = [convert(convert_to_tensor(each)) for each in arys]
        return found[0] if len(found) == 1 else found

    return function


def _volume(x: Tensor) -> Any:
    """Return an array of rank 3 or more: a vector lies along the middle axis."""
    return at_least(at_least(x, 2, front=True), 3, front=False)


atleast_1d = instead_of(np.atleast_1d)(_raised(lambda x: at_least(x, 1, front=True)))
atleast_2d = instead_of(np.atleast_2d)(_raised(lambda x: at_least(x, 2, front=True)))
atleast_3d = instead_of(np.atleast_3d)(_raised(_volume))


@instead_of(np.dstack)
def dstack(tup: Sequence[Any]) -> Any:
    return concatenate([_volume(convert_to_tensor(each)) for each in tup], 2)


@instead_of(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    return concatenate(common((arr, values)), axis)


@instead_of(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0)


@instead_of(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    x = convert_to_tensor(ary)
    return split(x, indices_or_sections, 0 if rank_of(x, "np.hsplit") == 1 else 1)


@instead_of(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 2)


@instead_of(np.flipud)
def flipud(m: Any) -> Any:
    return flip(m, 0)


@instead_of(np.fliplr)
def fliplr(m: Any) -> Any:
    return flip(m, 1)


@instead_of(np.rot90)
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    x, (first, second) = convert_to_tensor(m), axes
    turns = (
        lambda: x,
        lambda: swapaxes(flip(x, second), first, second),
        lambda: flip(flip(x, first), second),
        lambda: flip(swapaxes(x, first, second), second),
    )
    return turns[k % 4]()


@instead_of(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> list[Any]:
    tensors = [convert_to_tensor(each) for each in args]
    shape = functools.reduce(broadcast_dynamic_shape, map(shape_ops.shape, tensors))
    return [shaping.broadcast_to(each, shape) for each in tensors]


@instead_of(np.ix_)
def ix_(*args: Any) -> list[Any]:
    return open_mesh(
        [nonzero(each)[0] if each.dtype.is_bool else each for each in map(convert_to_tensor, args)]
    )


def open_mesh(vectors: Sequence[Any]) -> list[Any]:
    """Return each vector along an axis of its own."""
    shapes = np.where(np.eye(len(vectors), dtype=bool), -1, 1).tolist()
    return [shaping.reshape(each, shape) for each, shape in zip(vectors, shapes, strict=True)]


@instead_of(np.nonzero)
def nonzero(a: Any) -> Any:
    x = convert_to_tensor(a)
    places = where_ops.where(at_least(x, 1, front=True))
    return tuple(places[:, axis] for axis in range(max(1, rank_of(x, "np.nonzero"))))


@instead_of(np.compress)
def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    x, dim = flat_without_axis(a, axis)
    chosen = where_ops.where(ravel(cast(condition, dtypes.bool_)))[:, 0]
    return gather_ops.gather(x, chosen, axis=dim)


@instead_of(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Any:
    x, dim = flat_without_axis(arr, axis)
    chosen = convert_to_tensor(indices)
    dim %= rank_of(x, "np.take_along_axis")
    size = shape_ops.shape(x, chosen.dtype)[dim]
    chosen = where_ops.where(chosen < 0, chosen + size, chosen)
    shape = broadcast_dynamic_shape(_one_at(x, dim), _one_at(chosen, dim))
    whole = (_with_size_of(each, shape, dim) for each in (x, chosen))
    return gather_ops.take_along(*whole, dim)


def _one_at(x: Tensor, axis: int) -> Any:
    sizes = shaping.reshape(shape_ops.shape(x), [-1])
    return concatenate([sizes[:axis], [1], sizes[axis + 1 :]]) if x.shape.rank else sizes


def _with_size_of(x: Tensor, shape: Any, axis: int) -> Any:
    """Broadcast `x` to `shape` along all axes but one."""
    return shaping.broadcast_to(
        x, concatenate([shape[:axis], shape_ops.shape(x)[axis : axis + 1], shape[axis + 1 :]])
    )


@instead_of(np.select)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"np.select needs as many choices as conditions, not {len(choicelist)} for {len(condlist)}"
        )
    *choices, found = common((*choicelist, default), weak=True)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        found = where_ops.where(cast(condition, dtypes.bool_), choice, found)
    return found
