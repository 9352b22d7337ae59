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
    return taken_along(x, where_ops.where(chosen < 0, chosen + size, chosen), dim)


def taken_along(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Return elements of `x` along an axis; the other axes of both tensors are broadcast."""
    if rank_of(x, "take_along_axis") != rank_of(indices, "take_along_axis"):
        raise ValueError("take_along_axis: the indices must have as many dimensions as the array")
    rows, chosen = (
        list(each.shape) if each.shape.is_fully_defined() else list(shape_ops.shape(each))
        for each in (x, indices)
    )
    shared = [_shared_size(a, b) for a, b in zip(rows, chosen, strict=True)]
    whole = (
        shaping.broadcast_to(each, [*shared[:axis], own[axis], *shared[axis + 1 :]])
        for each, own in ((x, rows), (indices, chosen))
    )
    return gather_ops.take_along(*whole, axis)  # type: ignore[no-any-return]


def _shared_size(a: Any, b: Any) -> Any:
    """Return the size that two dimensions are broadcast to."""
    if isinstance(a, int):
        return b if a == 1 else a
    return where_ops.where(a == 1, b, a)


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
