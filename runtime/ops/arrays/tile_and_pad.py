"""Repeat, pad and reorder elements: tile, repeat, pad, reverse, roll, meshgrid.

x = [1 2 3]     tile(x, [2])           1 2 3 1 2 3
                repeat(x, 2)           1 1 2 2 3 3
                pad(x, [[1, 2]])       0 1 2 3 0 0
                reverse(x, [0])        3 2 1
                roll(x, 1, 0)          3 1 2
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import EagerTensor
from ...ir import batching
from ...ir.batching import Batch
from ...ir.graph import Constant
from ...ir.traits import CHEAP
from ...ir.value_types import TensorType
from ...kernels.rows import combine_along
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Inputs, Ints, Name, Same, op
from ..framework.static_values import (
    as_tuple,
    checked_dims,
    dims,
    integers,
    listed,
    unread_integers,
    with_axis,
)
from .reshape import reshape, sum_to
from .shape_ops import shape as shape_of
from .strided_slice import part

Array = Any


@export("tile")
@op(traits=CHEAP)
def tile(input: Input, multiples: Ints, name: Name = None) -> TensorType:
    """Repeat `input` as a whole `multiples[i]` times along each axis i.

    >>> tile([1, 2], [2])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([1, 2, 1, 2], dtype=int32)>
    """
    times = integers(multiples)
    if input.shape is None or times is None:
        return TensorType(input.dtype, None if times is None else (None,) * len(times))
    if len(times) != len(input.shape):
        raise ValueError(
            f"Expected multiples argument to be a vector of length {len(input.shape)} "
            f"but got length {len(times)}"
        )
    pairs = zip(input.shape, times, strict=True)
    return TensorType(
        input.dtype, tuple(None if size is None or n is None else size * n for size, n in pairs)
    )


tile.kernel(lambda input, multiples: np.tile(input, as_tuple(multiples)))


@tile.gradient
def _(dy: Any, y: Any, input: Any, multiples: Any) -> Any:
    return sum_tiles(dy, multiples), None


@tile.batching
def _(batch: Batch) -> Any:
    tensor, multiples = batch.arguments
    return None if multiples.has_rows else batch.call(tensor.tensor, batch.prepend(1, multiples.tensor))


@op
def sum_tiles(input: Input, multiples: Ints, name: Name = None) -> TensorType:
    """Return the sum of the tiles: the transpose of `tile`.

    >>> sum_tiles([1, 2, 10, 20], [2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([11, 22], dtype=int32)>
    """
    if input.dtype in (dtypes.string, dtypes.bool_):
        raise TypeError(f"sum_tiles adds numbers, not {input.dtype.name}")
    times = integers(multiples)
    if input.shape is None or times is None:
        return TensorType(input.dtype, None if times is None else (None,) * len(times))
    pairs = zip(input.shape, times, strict=True)
    return TensorType(input.dtype, tuple(None if size is None or not n else size // n for size, n in pairs))


@sum_tiles.kernel
def _(input: Array, multiples: Array) -> Array:
    times = as_tuple(multiples)
    split = [part for size, n in zip(input.shape, times, strict=True) for part in (n, size // n if n else 0)]
    return np.sum(input.reshape(split), tuple(range(0, 2 * len(times), 2)), input.dtype)


sum_tiles.gradient(lambda dy, y, input, multiples: (tile(dy, multiples), None))


@export("repeat")
@cached_dispatch
def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Repeat every element (slice along `axis`) `repeats` times: one number for all or one for each.

    >>> repeat([1, 2], [2, 3])
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([1, 1, 2, 2, 2], dtype=int32)>
    """
    return repeat_elements(input, repeats, axis, name)


@op(name="repeat")
def repeat_elements(input: Input, repeats: Ints, axis: int | None = None, name: Name = None) -> TensorType:
    """Repeat every element, or slice along `axis`.

    >>> repeat_elements([[1, 2]], 2, axis=1)
    <tf.Tensor: shape=(1, 4), dtype=int32, numpy=array([[1, 1, 2, 2]], dtype=int32)>
    """
    old: shapes.Dims = (shapes.num_elements(input.shape),) if axis is None else input.shape
    if old == ():  # a scalar is repeated as a vector of one element
        old = (1,)
    if old is None:
        return TensorType(input.dtype, None)
    dim = shapes.normal_axis(axis or 0, len(old))
    return TensorType(input.dtype, with_axis(old, dim, _repeated_size(old[dim], integers(repeats))))


def _repeated_size(size: int | None, times: Sequence[int | None] | None) -> int | None:
    if times is None or None in times:
        return None
    known = [n for n in times if n is not None]
    if len(known) > 1:
        return sum(known)
    return None if size is None or not known else size * known[0]


repeat_elements.kernel(
    lambda input, repeats, axis: (input if input.ndim else input.reshape(1)).repeat(repeats, axis)
)


@repeat_elements.gradient
def _(dy: Any, y: Any, input: Any, repeats: Any, axis: int | None) -> Any:
    return sum_repeated(dy, repeats, shape_of(input), axis), None


@op
def sum_repeated(
    input: Input, repeats: Ints, shape: Ints, axis: int | None = None, name: Name = None
) -> TensorType:
    """Sum the repeated elements, into a tensor of this shape: the transpose of `repeat`.

    >>> sum_repeated([1, 10, 2], [2, 1], [2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([11,  2], dtype=int32)>
    """
    if input.dtype in (dtypes.string, dtypes.bool_):
        raise TypeError(f"sum_repeated adds numbers, not {input.dtype.name}")
    return TensorType(input.dtype, dims(shape))


@sum_repeated.kernel
def _(input: Array, repeats: Array, shape: Array, axis: int | None) -> Array:
    sizes = checked_dims(shape)
    result = np.zeros(sizes if axis is not None and sizes else math.prod(sizes), input.dtype)
    dim = axis or 0
    numbers = np.repeat(np.arange(result.shape[dim]), repeats)
    combine_along(np.add, result, dim, numbers, input)
    return result.reshape(sizes)


@sum_repeated.gradient
def _(dy: Any, y: Any, input: Any, repeats: Any, shape: Any, axis: int | None) -> Any:
    return repeat_elements(dy, repeats, axis), None, None


@export("pad")
@cached_dispatch
def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Any:
    """Pad `tensor` with `paddings[i] = [before, after]` elements along each axis i.

    The modes: "CONSTANT" adds `constant_values`, "REFLECT" mirrors without repeating the edge, "SYMMETRIC"
    mirrors with it.

    >>> pad([1, 2, 3], [[2, 0]], "REFLECT")
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([3, 2, 1, 2, 3], dtype=int32)>
    >>> pad([True], [[1, 0]]).numpy().tolist()
    [False, True]
    """
    kind = mode.upper()
    if kind not in _NUMPY_MODES:
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {kind}"
        )
    whole = convert_to_tensor(tensor)
    if type(constant_values) is int and constant_values == 0 and whole.dtype.kind in "Sb":
        constant_values = "" if whole.dtype.kind == "S" else False
    return surround(whole, paddings, constant_values, kind, name)


_NUMPY_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


@op(name="pad")
def surround(
    tensor: Same, paddings: Ints, constant_values: Same, mode: str = "CONSTANT", name: Name = None
) -> TensorType:
    """Pad `tensor` on both sides along each axis.

    >>> surround([1, 2], [[1, 1]], 0)
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 1, 2, 0], dtype=int32)>
    """
    _check_mode(mode)
    sizes, old = paddings.shape, tensor.shape
    if sizes is not None and (len(sizes) != 2 or sizes[1] not in (2, None)):
        raise ValueError(f"paddings must be a matrix with 2 columns: {listed(sizes)}")
    if old is not None and sizes is not None and sizes[0] not in (len(old), None):
        raise ValueError(
            f"The first dimension of paddings must be the rank of inputs{listed(sizes)} {listed(old)}"
        )
    if old is None:
        return TensorType(tensor.dtype, None if sizes is None or sizes[0] is None else (None,) * sizes[0])
    known: Iterator[int | None]
    if paddings.value is not None:
        known = itertools.chain.from_iterable(_pairs(paddings.value))
    else:
        known = iter(paddings.elements or (None,) * (2 * len(old)))
    return TensorType(tensor.dtype, tuple(_known_sum(size, next(known), next(known)) for size in old))


def _known_sum(*sizes: int | None) -> int | None:
    """Return a static sum, None if a size is unknown, or negative: then only the kernel raises."""
    known = [size for size in sizes if size is not None and size >= 0]
    return sum(known) if len(known) == len(sizes) else None


def _check_mode(mode: str) -> None:
    if mode not in _NUMPY_MODES:
        raise ValueError(f"Argument `mode` = {mode!r} is not one of {', '.join(_NUMPY_MODES)}")


def _pairs(paddings: Array) -> list[tuple[int, int]]:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise ValueError(f"paddings must be a matrix with 2 columns: {listed(paddings.shape)}")
    pairs: list[tuple[int, int]] = paddings.tolist()
    for before, after in pairs:
        if before < 0 or after < 0:
            raise ValueError(f"Paddings must be non-negative: {before} {after}")
    return pairs


def _check_mirrored(pairs: list[tuple[int, int]], shape: tuple[int, ...], mode: str) -> None:
    """Check that the padding is not larger than the mirrored elements."""
    for (before, after), size in zip(pairs, shape, strict=True):
        if max(before, after) > size - (mode == "REFLECT"):
            relation = "less than" if mode == "REFLECT" else "no greater than"
            raise ValueError(
                f"paddings must be {relation} the dimension size: {before}, {after} not {relation} {size}"
            )


@surround.kernel
def _(tensor: Array, paddings: Array, constant_values: Array, mode: str) -> Array:
    pairs = _pairs(paddings)
    grown = [size + before + after for size, (before, after) in zip(tensor.shape, pairs, strict=True)]
    padded = np.empty(grown, tensor.dtype)
    if mode == "CONSTANT":
        padded[...] = constant_values
    else:
        _check_mirrored(pairs, tensor.shape, mode)
    inner = [slice(before, before + size) for size, (before, _) in zip(tensor.shape, pairs, strict=True)]
    padded[tuple(inner)] = tensor
    if mode != "CONSTANT":
        for axis, pair in enumerate(pairs):
            _mirror(padded.swapaxes(0, axis), *pair, 1 if mode == "REFLECT" else 0)
    return padded


def _mirror(rows: Array, before: int, after: int, offset: int) -> None:
    """Copy mirrored rows into the padding.

    `offset` is 1 if the mirror is on a row, and 0 if it is between rows.
    """
    end = len(rows) - after
    if before:
        rows[:before] = rows[before + offset : 2 * before + offset][::-1]
    if after:
        rows[end:] = rows[end - offset - after : end - offset][::-1]


@surround.gradient
def _(dy: Any, y: Any, tensor: Any, paddings: Any, constant_values: Any, mode: str) -> Any:
    if mode != "CONSTANT":
        return sum_mirrored(dy, paddings, shape_of(tensor), mode), None, None
    inner = part(dy, paddings[:, 0], shape_of(tensor))
    return inner, None, lambda: sum_to(dy, ()) - sum_to(inner, ())


@surround.batching
def _(batch: Batch) -> Any:
    tensor, paddings, value = batch.arguments
    if paddings.has_rows or value.has_rows:
        return None
    return batch.call(tensor.tensor, batch.prepend([0, 0], paddings.tensor), value.tensor)


@op
def sum_mirrored(tensor: Input, paddings: Ints, shape: Ints, mode: str, name: Name = None) -> TensorType:
    """Add mirror images to each element, for a tensor of this shape: the transpose of `pad` with a mirror.

    >>> sum_mirrored([1, 10, 100], [[1, 0]], [2], "SYMMETRIC")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 11, 100], dtype=int32)>
    """
    if tensor.dtype in (dtypes.string, dtypes.bool_):
        raise TypeError(f"sum_mirrored adds numbers, not {tensor.dtype.name}")
    _check_mode(mode)
    return TensorType(tensor.dtype, dims(shape))


@sum_mirrored.kernel
def _(tensor: Array, paddings: Array, shape: Array, mode: str) -> Array:
    for axis, (pair, size) in enumerate(zip(_pairs(paddings), checked_dims(shape), strict=True)):
        positions = np.pad(np.arange(size), pair, _NUMPY_MODES[mode])  # type: ignore[call-overload]
        sizes = (*tensor.shape[:axis], size, *tensor.shape[axis + 1 :])
        folded = np.zeros(sizes, tensor.dtype)
        combine_along(np.add, folded, axis, positions, tensor)
        tensor = folded
    return tensor


@sum_mirrored.gradient
def _(dy: Any, y: Any, tensor: Any, paddings: Any, shape: Any, mode: str) -> Any:
    return surround(dy, paddings, 0, mode), None, None


@export("reverse")
@op(traits=CHEAP)
def reverse(tensor: Input, axis: Ints, name: Name = None) -> TensorType:
    """Reverse `tensor` along the axes in the vector `axis`.

    >>> reverse([1, 2, 3], [0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 2, 1], dtype=int32)>
    """
    reversed_dims = integers(axis)
    if tensor.shape and reversed_dims is not None:
        rank, seen = len(tensor.shape), set()
        for i, dim in enumerate(each for each in reversed_dims if each is not None):
            if not -rank <= dim < rank:
                raise ValueError(f"'axis'[{i}] = {dim} is out of valid range [0, {rank - 1}")
            if dim % rank in seen:
                raise ValueError(f"axis {dim % rank} specified more than once.")
            seen.add(dim % rank)
    return TensorType(tensor.dtype, tensor.shape)


reverse.kernel(lambda tensor, axis: np.flip(tensor, as_tuple(axis)) if tensor.ndim else tensor)


@reverse.specialize
def _(inputs: list[Any]) -> Any:
    """Return the index that reverses constant axes."""
    tensor, axis = inputs
    if type(axis) is not Constant or not tensor.shape:
        return None
    reversed_axes = {dim % len(tensor.shape) for dim in as_tuple(axis.value)}
    index = tuple(slice(None, None, -1 if dim in reversed_axes else None) for dim in range(len(tensor.shape)))
    return lambda tensor, axis: tensor[index]


reverse.gradient(lambda dy, y, tensor, axis: (reverse(dy, axis), None))


@reverse.batching
def _(batch: Batch) -> Any:
    tensor, axes = batch.arguments
    if not isinstance(axes.tensor, EagerTensor):
        return None
    return batch.call(
        tensor.tensor, [batching.next_axis(axis) for axis in axes.tensor.numpy().ravel().tolist()]
    )


@export("roll")
@op
def roll(input: Input, shift: Ints, axis: Ints, name: Name = None) -> TensorType:
    """Shift the elements of `input` by `shift` along `axis`, with wrap-around.

    >>> roll([1, 2, 3, 4], 1, 0)
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([4, 1, 2, 3], dtype=int32)>
    """
    unread_integers(shift)  # raises unless it is a vector of integers
    unread_integers(axis)
    if not shapes.compatible(shift.shape, axis.shape):
        raise ValueError(
            f"shift and axis must have the same size: {shapes.show(shift.shape)}, {shapes.show(axis.shape)}"
        )
    return TensorType(input.dtype, input.shape)


@roll.kernel
def _(input: Array, shift: Array, axis: Array) -> Array:
    axes = as_tuple(axis)
    for dim in axes:
        if not -input.ndim <= dim < input.ndim:
            raise ValueError(f"axis {dim} is out of range")
    if shift.shape != axis.shape:
        raise ValueError(f"shift and axis must have the same size: {shift.shape}, {axis.shape}")
    return np.roll(input, as_tuple(shift), axes)


roll.gradient(lambda dy, y, input, shift, axis: (roll(dy, -shift, axis), None, None))


@export("meshgrid")
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> Any:
    """Return the coordinates of the points of a grid: one tensor for each of the vectors `args`.

    With indexing "xy" the first two axes are exchanged (Cartesian); with "ij" they are not (matrix indexing).

    >>> x, y = meshgrid([1, 2], [3, 4])
    >>> x
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [1, 2]], dtype=int32)>
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    return grid(args, indexing, name) if args else []


@op(name="meshgrid")
def grid(args: Inputs, indexing: str = "xy", name: Name = None) -> tuple[TensorType, ...]:
    """Return the coordinates of the points of a grid.

    >>> grid([[1, 2]])
    [<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>]
    """
    sizes = [shapes.num_elements(arg.shape) for arg in args]
    if indexing == "xy":
        sizes[:2] = reversed(sizes[:2])
    return tuple(TensorType(arg.dtype, tuple(sizes)) for arg in args)


@grid.kernel
def _(args: list[Array], indexing: str) -> list[Array]:
    return list(np.meshgrid(*args, indexing=indexing, copy=False))  # type: ignore[call-overload]


@grid.gradient
def _(dy: list[Any], y: list[Any], args: list[Any], indexing: str) -> Any:
    """Sum the cotangent of each coordinate over all axes but its own."""
    order = list(range(len(args)))
    if indexing == "xy":
        order[:2] = reversed(order[:2])
    found = []
    for grad, arg, axis in zip(dy, args, order, strict=True):
        kept = [-1 if i == axis else 1 for i in range(len(args))]
        column = None if grad is None else sum_to(grad, shape_of(reshape(arg, kept)))
        found.append(None if column is None else reshape(column, shape_of(arg)))
    return found
