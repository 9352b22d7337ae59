"""Repeat tensors, and their elements: tile, repeat, meshgrid.

x = [1 2 3]     tile(x, [2])           1 2 3 1 2 3
                repeat(x, 2)           1 1 2 2 3 3
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.export import export
from ...ir.batching import Batch
from ...ir.graph import Constant
from ...ir.traits import CHEAP
from ...ir.value_types import TensorType
from ...kernels.joins import joining
from ...kernels.rows import combine_along
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Inputs, Ints, Name, op
from ..framework.static_values import (
    as_tuple,
    checked_dims,
    dims,
    integers,
    of_tensor,
    with_axis,
)
from ..math.arithmetic import subtract
from .concat_split import stack
from .creation import zeros_like
from .pad_ops import pad
from .reshape import reshape, sum_to
from .shape_ops import shape as shape_of

Array = Any

_FEW = 64
"""The most tiles that are joined one by one."""


@export("tile")
@op(traits=CHEAP)
def tile(input: Input, multiples: Ints, name: Name = None) -> TensorType:
    """Repeat `input` as a whole `multiples[i]` times along each axis i.

    >>> tile([1, 2], [2])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([1, 2, 1, 2], dtype=int32)>
    """
    times = dims(multiples)
    if input.shape is None or times is None:
        return TensorType(input.dtype, None if times is None else (None,) * len(times))
    _check_multiples(len(times), len(input.shape))
    pairs = zip(input.shape, times, strict=True)
    return TensorType(
        input.dtype, tuple(None if size is None or n is None else size * n for size, n in pairs)
    )


def _check_multiples(count: int, rank: int) -> None:
    if count != rank:
        raise ValueError(
            f"Expected multiples argument to be a vector of length {rank} but got length {count}"
        )


@tile.kernel
def _(input: Array, multiples: Array) -> Array:
    _check_multiples(len(multiples), input.ndim)
    return np.tile(input, checked_dims(multiples))


@tile.specialize
def _(inputs: list[Any]) -> Any:
    """Return the kernel for few tiles of an array: they are joined along one axis after the other."""
    input, multiples = inputs
    times = as_tuple(multiples.value) if type(multiples) is Constant else ()
    if input.shape is None or not 0 < math.prod(times) <= _FEW:
        return None
    steps = [(joining(axis), count) for axis, count in enumerate(times) if count > 1]

    def kernel(input: Array, multiples: Array) -> Array:
        for join, count in steps:
            input = join(*[input] * count)
        return input

    return kernel if steps else None


@tile.gradient
def _(dy: Any, y: Any, input: Any, multiples: Any) -> Any:
    times = of_tensor(multiples)
    if times is not None and None not in times and 0 not in times:
        return sum_tiles(dy, multiples), None
    # No tile, as for a multiple of 0, tells the size of `input`.
    found, shape = sum_tiles(dy, multiples), shape_of(input)
    lacking = subtract(shape, shape_of(found))
    return reshape(pad(found, stack([zeros_like(lacking), lacking], 1)), shape), None


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
    return TensorType(input.dtype, with_axis(old, dim, _repeated_size(old[dim], dims(repeats))))


def _repeated_size(size: int | None, times: Sequence[int | None] | None) -> int | None:
    if times is None or None in times:
        return None
    known = [n for n in times if n is not None]
    if len(known) > 1:
        return sum(known)
    return None if size is None or not known else size * known[0]


@repeat_elements.kernel
def _(input: Array, repeats: Array, axis: int | None) -> Array:
    if repeats.size == 1:
        checked_dims(repeats)  # NumPy does not check one number for all elements if there are none
    return (input if input.ndim else input.reshape(1)).repeat(repeats, axis)


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
