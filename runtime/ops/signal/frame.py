"""Split signals into overlapping frames, and reconstruct signals by overlap-add.

    1 2 3 4 5      frames of 3, 2 apart:     1 2 3        overlap_and_add, 2 apart:   1 2 6 4 5
                                                 3 4 5

>>> frame([1, 2, 3, 4, 5], 3, 2).numpy().tolist()
[[1, 2, 3], [3, 4, 5]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ..arrays.creation import zeros
from ..arrays.reshape import transpose
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axis
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..framework.static_values import integer
from ..reduce.reductions import reduce_sum
from .fft_primitive import fitted_to


@export("signal.frame")
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: Name = None,
) -> Tensor:
    """Split `signal` along `axis`, which becomes two axes: the frames, and the elements of each.

    Args:
        frame_length: the number of elements of a frame.
        frame_step: the distance between the starts of adjacent frames.
        pad_end: also return the frames that begin in the signal and end after it, padded with `pad_value`.

    >>> frame([1, 2, 3, 4], 3, 2, pad_end=True, pad_value=9).numpy().tolist()
    [[1, 2, 3], [3, 4, 9]]
    """
    signal = convert_to_tensor(signal)
    padding = pad_value if pad_end else zeros([], signal.dtype)
    return framed(signal, frame_length, frame_step, padding, bool(pad_end), axis, name)  # type: ignore[no-any-return]


@op(name="frame")
def framed(
    signal: Same,
    frame_length: Ints,
    frame_step: Ints,
    pad_value: Same,
    pad_end: bool = False,
    axis: Axis = -1,
    name: Name = None,
) -> TensorType:
    """Compute `frame`.

    >>> framed([1, 2, 3, 4, 5], 3, 2, 0).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    length, step = integer(frame_length), integer(frame_step)
    _check_steps(length, step)
    if pad_value.shape not in (None, ()):
        raise ValueError(f"pad_value must be a scalar, not of shape {shapes.show(pad_value.shape)}")
    if signal.shape is None:
        return TensorType(signal.dtype, None)
    if not signal.shape:
        raise ValueError("Shape () must have rank at least 1")
    dim = shapes.normal_axis(axis, len(signal.shape))
    size = signal.shape[dim]
    count = None if size is None or length is None or step is None else _count(size, length, step, pad_end)
    return TensorType(signal.dtype, (*signal.shape[:dim], count, length, *signal.shape[dim + 1 :]))


def _check_steps(length: int | None, step: int | None) -> None:
    if step is not None and step < 1:
        raise ValueError(f"frame_step must be positive, not {step}")
    if length is not None and length < 0:
        raise ValueError(f"frame_length must not be negative, but is {length}")


def _count(size: int, length: int, step: int, pad_end: bool) -> int:
    return -(-size // step) if pad_end else max(0, (size - length + step) // step)


@framed.kernel
def _(
    signal: Array, frame_length: Array, frame_step: Array, pad_value: Array, pad_end: bool, axis: int
) -> Array:
    length, step = int(frame_length), int(frame_step)
    _check_steps(length, step)
    dim = axis % signal.ndim
    rows = np.moveaxis(signal, dim, -1)
    count = _count(rows.shape[-1], length, step, pad_end)
    if not count or not length:
        return np.zeros((*signal.shape[:dim], count, length, *signal.shape[dim + 1 :]), signal.dtype)
    missing = max((count - 1) * step + length - rows.shape[-1], 0)
    filled = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)], constant_values=pad_value)
    windows = np.lib.stride_tricks.sliding_window_view(filled, length, axis=-1)[..., : count * step : step, :]
    return np.moveaxis(windows[..., :count, :], (-2, -1), (dim, dim + 1)).copy()


@framed.gradient
def _(
    dy: Any, y: Any, signal: Any, frame_length: Any, frame_step: Any, pad_value: Any, pad_end: bool, axis: int
) -> Any:
    inside = _laid_back(dy, signal, frame_step, axis)
    return inside, None, None, reduce_sum(dy) - reduce_sum(inside)


def _laid_back(dy: Any, signal: Any, frame_step: Any, axis: int) -> Any:
    """Sum the cotangents of each element of the signal over all frames."""
    rank = signal.shape.rank
    if axis == -1 or axis + 1 == rank:
        return fitted_to(overlap_and_add(dy, frame_step), signal, [-1])
    if rank is None:
        raise LookupError(
            "the gradient of frame along another axis than the last needs a signal of known rank"
        )
    dim = axis % rank
    order = [*range(dim), *range(dim + 2, rank + 1), dim, dim + 1]
    last = [*range(dim), *range(dim + 1, rank), dim]
    rows = fitted_to(overlap_and_add(transpose(dy, order), frame_step), transpose(signal, last), [-1])
    return transpose(rows, [*range(dim), rank - 1, *range(dim, rank - 1)])


@export("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: Name = None) -> Tensor:
    """Add the frames in the last two axes of `signal`, with a distance of `frame_step` between their starts.

    >>> overlap_and_add([[1., 2., 3.], [4., 5., 6.]], 2).numpy().tolist()
    [1.0, 2.0, 7.0, 5.0, 6.0]
    """
    step = convert_to_tensor(frame_step)
    if not step.dtype.is_integer:
        raise ValueError(f"frame_step must be an integer. Got {step.dtype!r}")
    return overlapped(signal, step, name)  # type: ignore[no-any-return]


@op(name="overlap_and_add")
def overlapped(signal: Input, frame_step: Ints, name: Name = None) -> TensorType:
    """Compute `overlap_and_add`.

    >>> overlapped([[1, 2], [3, 4]], 1).numpy().tolist()
    [1, 5, 4]
    """
    require_dtype(signal, NUMERIC, "overlap_and_add")
    if frame_step.shape not in (None, ()):
        raise ValueError(f"Shape {shapes.show(frame_step.shape)} must have rank 0")
    step = integer(frame_step)
    _check_steps(None, step)
    if signal.shape is None:
        return TensorType(signal.dtype, None)
    if len(signal.shape) < 2:
        raise ValueError(f"Shape {shapes.show(signal.shape)} must have rank at least 2")
    *outer, count, length = signal.shape
    whole = None if count is None or length is None or step is None else _signal_length(count, length, step)
    return TensorType(signal.dtype, (*outer, whole))


def _signal_length(count: int, length: int, step: int) -> int:
    return length + step * (count - 1) if count else 0


@overlapped.kernel
def _(signal: Array, frame_step: Array) -> Array:
    step = int(frame_step)
    if step < 1:
        raise errors.InvalidArgumentError(f"frame_step must be positive, not {step}")
    *outer, count, length = signal.shape
    parts = -(-length // step)
    total = np.zeros((*outer, count + parts, step), signal.dtype)  # rows of the size of a step
    for part in range(parts):
        piece = signal[..., part * step : (part + 1) * step]
        total[..., part : part + count, : piece.shape[-1]] += piece
    return total.reshape(*outer, -1)[..., : _signal_length(count, length, step)]


overlapped.gradient(lambda dy, y, signal, frame_step: (frame(dy, shape_of(signal)[-1], frame_step), None))
