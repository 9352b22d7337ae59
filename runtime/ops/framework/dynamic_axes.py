"""Axes that are traced tensors: they are moved to the end and merged, so an operation along axis -1 applies.

    reduce_sum x, axis                  flat = axes_last x, axis            all these axes merged into the last one
                              ==>       reduce_sum flat [axis=-1]
    cumsum x, axis                      flat = axes_last x, axis
                                        sums = cumsum flat [axis=-1]
                                        axes_back sums, axis, shape of x    back to their positions

The rank of the result is static if the rank of `x` and the number of axes are. The sizes are not static.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core import shapes
from ...core.conversion import convert_to_tensor, holds_tensor
from ...ir.value_types import TensorType
from ..arrays.concat_split import join
from ..arrays.creation import ones_like
from ..arrays.gather_ops import gather
from ..arrays.ranges import range as numbers
from ..arrays.reshape import expand_dims, reshape, transpose
from ..arrays.shape_ops import rank as rank_of
from ..arrays.shape_ops import shape as shape_of
from ..arrays.where_ops import choose
from ..linalg.diagonals import band_part
from ..math.arithmetic import floormod
from ..math.cast import cast
from ..math.comparison import equal, greater
from ..reduce.reductions import reduce_any
from .op import Input, Ints, Name, Op, op
from .op_families import Array
from .static_values import checked_dims, dims, integers


@op
def axes_last(x: Input, axes: Ints, name: Name = None) -> TensorType:
    """Move `axes`, one or several, to the end of `x` and merge them into one axis.

    >>> axes_last([[1, 2, 3], [4, 5, 6]], 0).numpy().tolist()
    [[1, 4], [2, 5], [3, 6]]
    >>> axes_last([[1, 2, 3], [4, 5, 6]], [1, 0]).numpy().tolist()
    [1, 4, 2, 5, 3, 6]
    """
    if axes.shape is not None and len(axes.shape) > 1:
        raise ValueError(f"axes are a scalar or a vector, not {axes.spec}")
    known = integers(axes)
    if x.shape is None or known is None:
        return TensorType(x.dtype, None)
    if None in known:
        kept = len(x.shape) - len(known)
        if kept < 0:
            raise ValueError(f"{len(known)} axes are given of a tensor that has {len(x.shape)}")
        return TensorType(x.dtype, (*[None] * kept, None if kept else shapes.num_elements(x.shape)))
    gone = [x.shape[dim] for dim in _normalized_axes(known, len(x.shape))]
    return TensorType(x.dtype, (*shapes.reduced(x.shape, known, False), shapes.num_elements(tuple(gone))))  # type: ignore[misc, arg-type]


@axes_last.kernel
def _(x: Array, axes: Array) -> Array:
    reduced = _normalized_axes(np.ravel(axes).tolist(), x.ndim)
    kept = [dim for dim in range(x.ndim) if dim not in reduced]
    count = math.prod(x.shape[dim] for dim in reduced)
    return x.transpose(*kept, *reduced).reshape(*[x.shape[dim] for dim in kept], count)


@axes_last.gradient
def _(dy: Any, y: Any, x: Any, axes: Any) -> Any:
    return axes_back(dy, axes, shape_of(x)), None


@op
def axes_back(flat: Input, axes: Ints, shape: Ints, name: Name = None) -> TensorType:
    """Undo `axes_last`: return `flat` as a tensor of this shape, with the axes at their positions.

    >>> axes_back([[1, 4], [2, 5], [3, 6]], 0, [2, 3]).numpy().tolist()
    [[1, 2, 3], [4, 5, 6]]
    """
    return TensorType(flat.dtype, dims(shape))


@axes_back.kernel
def _(flat: Array, axes: Array, shape: Array) -> Array:
    sizes = checked_dims(shape)
    reduced = _normalized_axes(np.ravel(axes).tolist(), len(sizes))
    order = [*[dim for dim in range(len(sizes)) if dim not in reduced], *reduced]
    return flat.reshape([sizes[dim] for dim in order]).transpose(np.argsort(order))


axes_back.gradient(lambda dy, y, flat, axes, shape: (axes_last(dy, axes), None, None))


def _normalized_axes(axes: Any, rank: int) -> list[int]:
    """Return the axes as non-negative numbers; ValueError for an axis out of range or a duplicate."""
    reduced = [shapes.normal_axis(axis, rank) for axis in axes]
    if len({*reduced}) < len(reduced):
        raise ValueError(f"Invalid reduction arguments: Axes contains duplicate dimension: {(*axes,)}")
    return reduced


def _reduced(operation: Op, x: Any, axes: Any, given: Mapping[str, Any]) -> Any:
    result = operation(axes_last(x, axes), **{**given, "axis": -1, "keepdims": False})
    if not given["keepdims"]:
        return result
    sizes, rank = shape_of(x), rank_of(x)
    gone = floormod(cast(reshape(axes, [-1]), rank.dtype), rank)
    is_gone = reduce_any(equal(reshape(numbers(rank), [-1, 1]), gone), 1)
    return axes_back(expand_dims(result, -1), axes, choose(is_gone, ones_like(sizes), sizes))


def _found(operation: Op, x: Any, axis: Any, given: Mapping[str, Any]) -> Any:
    return operation(axes_last(x, axis), **{**given, "axis": -1})


def _scanned(operation: Op, x: Any, axis: Any, given: Mapping[str, Any]) -> Any:
    return axes_back(operation(axes_last(x, axis), **{**given, "axis": -1}), axis, shape_of(x))


def _expanded(operation: Op, x: Any, axis: Any, given: Mapping[str, Any]) -> Any:
    rank = rank_of(x)
    numbers_, new = numbers(rank + 1), floormod(cast(axis, rank.dtype), rank + 1)
    before = gather(join([shape_of(x), [1]], 0), choose(greater(numbers_, new), numbers_ - 1, numbers_))
    sizes = choose(equal(numbers_, new), ones_like(numbers_), before)
    return axes_back(operation(x, -1), axis, sizes)


def _joined(operation: Op, parts: Any, axis: Any, given: Mapping[str, Any]) -> Any:
    first = convert_to_tensor(parts[0])
    flat = operation([axes_last(part, axis) for part in parts], -1)
    rank = rank_of(first)
    is_joined = equal(numbers(rank), floormod(cast(axis, rank.dtype), rank))
    return axes_back(flat, axis, choose(is_joined, shape_of(flat)[-1], shape_of(first)))


def _gathered(operation: Op, x: Any, axis: Any, given: Mapping[str, Any]) -> Any:
    flat, indices = axes_last(x, axis), convert_to_tensor(given["indices"])
    return _moved_back(operation(flat, indices, -1), rank_of(x), axis, rank_of(indices))


def _split(operation: Op, x: Any, axis: Any, given: Mapping[str, Any]) -> Any:
    parts = operation(axes_last(x, axis), **{**given, "axis": -1})
    return [_moved_back(part, rank_of(x), axis, 1) for part in parts]


def _moved_back(result: Any, rank: Any, axis: Any, count: Any) -> Any:
    """Move the last `count` axes of a result, which replace one of `rank` axes, back to its position."""
    before = floormod(cast(axis, rank.dtype), rank)
    perm = join([numbers(before), numbers(rank - 1, rank - 1 + count), numbers(before, rank - 1)], 0)
    return transpose(result, perm)


@op
def band_within(input: Input, num_lower: Ints, num_upper: Ints, name: Name = None) -> TensorType:
    """Return `linalg.band_part` for traced bounds.

    >>> band_within([[1, 2], [3, 4]], 0, -1).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    return band_part.infer([input], {"num_lower": -1, "num_upper": -1})  # type: ignore[no-any-return]


@band_within.kernel
def _(input: Array, num_lower: Array, num_upper: Array) -> Array:
    return band_part.compute(input, int(num_lower), int(num_upper))


@band_within.gradient
def _(dy: Any, y: Any, input: Any, num_lower: Any, num_upper: Any) -> Any:
    return band_within(dy, num_lower, num_upper), None, None


_REDUCTIONS = (
    "reduce_sum", "reduce_prod", "reduce_mean", "reduce_max", "reduce_min", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_euclidean_norm", "reduce_variance", "reduce_std", "count_nonzero",
)  # fmt: skip

_WAYS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_REDUCTIONS, _reduced),
    **dict.fromkeys(("argmax", "argmin"), _found),
    "expand_dims": _expanded,
    "concat": _joined,
    "gather": _gathered,
    **dict.fromkeys(("split", "split_sizes"), _split),
    **dict.fromkeys(("cumsum", "cumprod", "cumulative_logsumexp"), _scanned),
}


def takes(operation: Op, given: Mapping[str, Any]) -> bool:
    """Return whether the operation is called with a traced axis and supports that."""
    if operation.name == "band_part":
        return holds_tensor([given["num_lower"], given["num_upper"]])
    return operation.name in _WAYS and holds_tensor(given["axis"]) and not given.get("batch_dims")


def along(operation: Op, given: Mapping[str, Any]) -> Any:
    """Compute the operation along a traced axis, or within traced bounds."""
    if operation.name == "band_part":
        return band_within(**given)
    (x, *_), axes = given.values(), convert_to_tensor(given["axis"])
    rest = {name: value for name, value in given.items() if name not in (operation.parameters[0], "name")}
    return _WAYS[operation.name](operation, x, axes, rest)
