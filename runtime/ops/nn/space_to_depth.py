"""Move blocks of adjacent elements to the channel or batch axis, and back.

    1 2  space_to_depth, blocks of 2 by 2     [1 2 3 4]      one pixel with four channels
    3 4  space_to_batch, blocks of 2 by 2     [1] [2] [3] [4]   four batches of one pixel

>>> space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
[[[[1, 2, 3, 4]]]]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array
from ..framework.static_values import integers


@export("nn.space_to_depth")
@op
def space_to_depth(input: Input, block_size: int, data_format: str = "NHWC", name: Name = None) -> TensorType:
    """Move blocks of `block_size` by `block_size` pixels to the channels of one pixel.

    >>> space_to_depth([[[[1], [2], [3], [4]], [[5], [6], [7], [8]]]], 2).numpy().tolist()
    [[[[1, 2, 5, 6], [3, 4, 7, 8]]]]
    """
    _check_block("space_to_depth", input.shape, block_size, data_format)
    batch, height, width, channels = _nhwc(input.shape, data_format)
    for size in (height, width):
        if size is not None and size % block_size:
            raise ValueError(
                f"space_to_depth: height and width must be divisible by {block_size}, not {size}"
            )
    return TensorType(
        input.dtype,
        _as_format(
            (
                batch,
                _times(height, 1, block_size),
                _times(width, 1, block_size),
                _times(channels, block_size**2),
            ),
            data_format,
        ),
    )


@export("nn.depth_to_space")
@op
def depth_to_space(input: Input, block_size: int, data_format: str = "NHWC", name: Name = None) -> TensorType:
    """Undo `space_to_depth`: move the channels of a pixel to a block of pixels.

    >>> depth_to_space([[[[1, 2, 5, 6], [3, 4, 7, 8]]]], 2).numpy()[0, :, :, 0].tolist()
    [[1, 2, 3, 4], [5, 6, 7, 8]]
    """
    _check_block("depth_to_space", input.shape, block_size, data_format)
    batch, height, width, channels = _nhwc(input.shape, data_format)
    if channels is not None and channels % block_size**2:
        raise ValueError(
            f"depth_to_space: the number of channels must be divisible by {block_size**2}, not {channels}"
        )
    return TensorType(
        input.dtype,
        _as_format(
            (
                batch,
                _times(height, block_size),
                _times(width, block_size),
                _times(channels, 1, block_size**2),
            ),
            data_format,
        ),
    )


def _check_block(what: str, shape: shapes.Dims, block_size: int, data_format: str) -> None:
    if block_size < 2:
        raise ValueError(f"{what}: `block_size` must be greater than 1, not {block_size}")
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"{what}: `data_format` must be 'NHWC' or 'NCHW', not {data_format!r}")
    if shape is not None and len(shape) != 4:
        raise ValueError(f"{what}: the input must have rank 4, not the shape {shapes.show(shape)}")


def _nhwc(shape: shapes.Dims, data_format: str) -> tuple[int | None, ...]:
    sizes = (None,) * 4 if shape is None else shape
    return sizes if data_format == "NHWC" else (sizes[0], sizes[2], sizes[3], sizes[1])


def _as_format(sizes: tuple[int | None, ...], data_format: str) -> tuple[int | None, ...]:
    return sizes if data_format == "NHWC" else (sizes[0], sizes[3], sizes[1], sizes[2])


def _times(size: int | None, factor: int, divisor: int = 1) -> int | None:
    return None if size is None else size * factor // divisor


@space_to_depth.kernel
def _(input: Array, block_size: int, data_format: str) -> Array:
    x = input if data_format == "NHWC" else np.moveaxis(input, 1, -1)
    batch, height, width, channels = x.shape
    if height % block_size or width % block_size:
        raise errors.InvalidArgumentError(
            f"space_to_depth: height and width must be divisible by {block_size}, not {height} and {width}"
        )
    rows, columns = height // block_size, width // block_size
    split = x.reshape(batch, rows, block_size, columns, block_size, channels).transpose(0, 1, 3, 2, 4, 5)
    y = split.reshape(batch, rows, columns, block_size * block_size * channels)
    return y if data_format == "NHWC" else np.moveaxis(y, -1, 1)


@depth_to_space.kernel
def _(input: Array, block_size: int, data_format: str) -> Array:
    x = input if data_format == "NHWC" else np.moveaxis(input, 1, -1)
    batch, height, width, channels = x.shape
    if channels % block_size**2:
        raise errors.InvalidArgumentError(
            f"depth_to_space: the number of channels must be divisible by {block_size**2}, not {channels}"
        )
    depth = channels // block_size**2
    split = x.reshape(batch, height, width, block_size, block_size, depth).transpose(0, 1, 3, 2, 4, 5)
    y = split.reshape(batch, height * block_size, width * block_size, depth)
    return y if data_format == "NHWC" else np.moveaxis(y, -1, 1)


@space_to_depth.gradient
def _(dy: Any, y: Any, input: Any, block_size: int, data_format: str) -> Any:
    return depth_to_space(dy, block_size, data_format)


@depth_to_space.gradient
def _(dy: Any, y: Any, input: Any, block_size: int, data_format: str) -> Any:
    return space_to_depth(dy, block_size, data_format)


def _blocks(operand: Any, what: str) -> tuple[int | None, ...] | None:
    if operand.shape is not None and len(operand.shape) != 1:
        raise ValueError(
            f"{what}: `block_shape` must be a vector, not of the shape {shapes.show(operand.shape)}"
        )
    return integers(operand)


def _margins(operand: Any, count: int | None, what: str) -> tuple[Any, ...] | None:
    """Return the sum of both numbers for each axis; None if they are not static."""
    if operand.shape is not None and (len(operand.shape) != 2 or operand.shape[1] not in (2, None)):
        raise ValueError(f"{what} must have the shape [blocks, 2], not {shapes.show(operand.shape)}")
    if operand.value is None:
        return None
    if count not in (None, len(operand.value)):
        raise ValueError(f"{what} must have one row for each of the {count} blocks, not {len(operand.value)}")
    if operand.value.size and operand.value.min() < 0:
        raise ValueError(f"{what} must not be negative: {operand.value.tolist()}")
    return tuple(operand.value.sum(axis=1).tolist())


def _moved(input: Any, block_shape: Any, margins: Any, names: tuple[str, str], back: bool) -> TensorType:
    blocks = _blocks(block_shape, names[0])
    sums = _margins(margins, None if blocks is None else len(blocks), f"{names[0]}: `{names[1]}`")
    if input.shape is None or blocks is None:
        return TensorType(input.dtype, None if input.shape is None else (None,) * len(input.shape))
    if len(input.shape) < len(blocks) + 1:
        raise ValueError(
            f"{names[0]}: the input must have at least rank {len(blocks) + 1}, not the shape "
            f"{shapes.show(input.shape)}"
        )
    whole = None if None in blocks else math.prod(block for block in blocks if block is not None)
    if whole is not None and whole < 1:
        raise ValueError(f"{names[0]}: `block_shape` must be positive, not {list(blocks)}")
    batch = input.shape[0]
    if back and None not in (batch, whole) and batch % whole:
        raise ValueError(f"{names[0]}: the batch, {batch}, must be divisible by the size of a block, {whole}")
    first = None if batch is None or whole is None else (batch // whole if back else batch * whole)
    sizes = [
        _moved_size(size, block, None if sums is None else sums[axis], names[0], back)
        for axis, (size, block) in enumerate(zip(input.shape[1 : len(blocks) + 1], blocks, strict=True))
    ]
    return TensorType(input.dtype, (first, *sizes, *input.shape[len(blocks) + 1 :]))


def _moved_size(size: int | None, block: int | None, margin: int | None, what: str, back: bool) -> int | None:
    if size is None or block is None or margin is None:
        return None
    if back:
        if size * block < margin:
            raise ValueError(f"{what}: cannot crop {margin} of {size * block} elements")
        return size * block - margin
    if (size + margin) % block:
        raise ValueError(f"{what}: a padded size, {size + margin}, is not divisible by its block, {block}")
    return (size + margin) // block


@export("space_to_batch_nd")
@op
def space_to_batch_nd(input: Input, block_shape: Ints, paddings: Ints, name: Name = None) -> TensorType:
    """Move the elements of blocks, after padding with zeros, to separate batches.

    >>> space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    return _moved(input, block_shape, paddings, ("space_to_batch", "paddings"), False)


@space_to_batch_nd.kernel
def _(input: Array, block_shape: Array, paddings: Array) -> Array:
    blocks = block_shape.tolist()
    _check_moved(input, blocks, paddings, "space_to_batch")
    n = len(blocks)
    x = np.pad(input, [(0, 0), *paddings.tolist(), *[(0, 0)] * (input.ndim - n - 1)])
    split: list[int] = [x.shape[0]]
    for size, block in zip(x.shape[1 : n + 1], blocks, strict=True):
        if size % block:
            raise errors.InvalidArgumentError(
                f"space_to_batch: a padded size, {size}, is not divisible by its block, {block}"
            )
        split += [size // block, block]
    inner, outer = list(range(2, 2 * n + 1, 2)), list(range(1, 2 * n + 1, 2))
    rest = list(range(2 * n + 1, 2 * n + 1 + x.ndim - n - 1))
    y = x.reshape(*split, *x.shape[n + 1 :]).transpose(*inner, 0, *outer, *rest)
    return y.reshape(x.shape[0] * math.prod(blocks), *split[1::2], *x.shape[n + 1 :])


def _check_moved(input: Array, blocks: list[int], margins: Array, what: str) -> None:
    if input.ndim < len(blocks) + 1 or margins.shape != (len(blocks), 2):
        raise errors.InvalidArgumentError(
            f"{what}: {len(blocks)} blocks do not fit an input of the shape {list(input.shape)} and margins of "
            f"the shape {list(margins.shape)}"
        )
    if min(blocks, default=1) < 1 or margins.min(initial=0) < 0:
        raise errors.InvalidArgumentError(f"{what}: blocks must be positive, margins not negative")


@op
def batch_to_space_nd(input: Input, block_shape: Ints, crops: Ints, name: Name = None) -> TensorType:
    """Undo `space_to_batch`: move batches to the elements of blocks, then crop the margins.

    >>> batch_to_space_nd([[1, 3], [2, 4]], [2], [[1, 0]]).numpy().tolist()
    [[2, 3, 4]]
    """
    return _moved(input, block_shape, crops, ("batch_to_space", "crops"), True)


@batch_to_space_nd.kernel
def _(input: Array, block_shape: Array, crops: Array) -> Array:
    blocks = block_shape.tolist()
    _check_moved(input, blocks, crops, "batch_to_space")
    n, whole = len(blocks), math.prod(blocks)
    if input.shape[0] % whole:
        raise errors.InvalidArgumentError(
            f"batch_to_space: the batch, {input.shape[0]}, must be divisible by the size of a block, {whole}"
        )
    batch, sizes, rest = input.shape[0] // whole, input.shape[1 : n + 1], input.shape[n + 1 :]
    order = [n]
    for axis in range(n):
        order += [n + 1 + axis, axis]
    order += range(2 * n + 1, 2 * n + 1 + len(rest))
    y = input.reshape(*blocks, batch, *sizes, *rest).transpose(order)
    y = y.reshape(batch, *(size * block for size, block in zip(sizes, blocks, strict=True)), *rest)
    for axis, (before, after) in enumerate(crops.tolist(), 1):
        if before + after > y.shape[axis]:
            raise errors.InvalidArgumentError(
                f"batch_to_space: cannot crop {before + after} of {y.shape[axis]} elements"
            )
        y = y[(slice(None),) * axis + (slice(before, y.shape[axis] - after),)]
    return y


@space_to_batch_nd.gradient
def _(dy: Any, y: Any, input: Any, block_shape: Any, paddings: Any) -> Any:
    return batch_to_space_nd(dy, block_shape, paddings), None, None


@batch_to_space_nd.gradient
def _(dy: Any, y: Any, input: Any, block_shape: Any, crops: Any) -> Any:
    return space_to_batch_nd(dy, block_shape, crops), None, None


@export("nn.space_to_batch", "space_to_batch")
def space_to_batch(input: TensorLike, block_shape: Any, paddings: Any, name: Name = None) -> Tensor:
    """Move the elements of blocks, after padding with zeros, to separate batches.

    Args:
        block_shape: a size for each axis, after the first one, that is divided into blocks; or one number for
            two axes.
        paddings: `[before, after]` for each of these axes.

    >>> space_to_batch([[1, 2, 3]], [2], [[0, 1]]).numpy().tolist()
    [[1, 3], [2, 0]]
    """
    return space_to_batch_nd(input, _block_shape(block_shape), paddings, name)  # type: ignore[no-any-return]


@export("batch_to_space")
def batch_to_space(input: TensorLike, block_shape: Any, crops: Any, name: Name = None) -> Tensor:
    """Undo `space_to_batch`: move batches to the elements of blocks, then crop the margins.

    >>> batch_to_space([[1, 3], [2, 0]], [2], [[0, 1]]).numpy().tolist()
    [[1, 2, 3]]
    """
    return batch_to_space_nd(input, _block_shape(block_shape), crops, name)  # type: ignore[no-any-return]


def _block_shape(block_shape: Any) -> Any:
    return [block_shape, block_shape] if isinstance(block_shape, int) else block_shape
