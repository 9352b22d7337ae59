"""Rows of different lengths: `sequence_mask` and `reverse_sequence`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.export import export
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Axis, DType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Ints, Name, op
from ..framework.static_values import integer, integers

Array = Any


@export("sequence_mask")
@cached_dispatch
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None
) -> Any:
    """Return a row for each length, true up to it; the rows have `maxlen` elements, or the greatest length.

    >>> sequence_mask([1, 3])
    <tf.Tensor: shape=(2, 3), dtype=bool, numpy=
    array([[ True, False, False],
           [ True,  True,  True]])>
    """
    return length_mask(lengths, -1 if maxlen is None else maxlen, dtype, name)


@op(name="sequence_mask")
def length_mask(lengths: Ints, maxlen: Ints, dtype: DType = dtypes.bool_, name: Name = None) -> TensorType:
    """Return rows that are true up to a length; `maxlen` -1 means the greatest length.

    >>> length_mask([1], 2, int)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 0]], dtype=int32)>
    """
    width = integer(maxlen)
    if width is not None:
        _check_width(width)
    if width == -1:
        width = None if lengths.value is None else int(lengths.value.max(initial=0))
    return TensorType(dtype, None if lengths.shape is None else (*lengths.shape, width))


def _check_width(maxlen: int) -> None:
    if maxlen < -1:
        raise ValueError(f"maxlen must be non-negative, got: {maxlen}")


@length_mask.kernel
def _(lengths: Array, maxlen: Array, dtype: dtypes.DType) -> Array:
    _check_width(int(maxlen))
    width = int(maxlen) if maxlen >= 0 else int(np.max(lengths, initial=0))
    return (np.arange(width) < np.asarray(lengths)[..., None]).astype(dtype.numpy_dtype)


@export("reverse_sequence")
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Any:
    """Reverse the first `seq_lengths[b]` elements along `seq_axis` in each row b of the batch.

    >>> reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)>
    """
    return reverse_rows(input, seq_lengths, seq_axis or 0, batch_axis or 0, name)


@op(name="reverse_sequence", traits=LENIENT)
def reverse_rows(
    input: Input, seq_lengths: Ints, seq_axis: Axis, batch_axis: Axis = 0, name: Name = None
) -> TensorType:
    """Reverse the first part of each row of `input`.

    >>> reverse_rows([[1, 2, 3]], [2], 1)
    <tf.Tensor: shape=(1, 3), dtype=int32, numpy=array([[2, 1, 3]], dtype=int32)>
    """
    integers(seq_lengths)  # raises unless it is a vector of integers
    if seq_lengths.shape == ():
        raise ValueError("seq_lengths must be a vector, not a scalar")
    if input.shape is not None:
        axes = [shapes.normal_axis(axis, len(input.shape)) for axis in (seq_axis, batch_axis)]
        if axes[0] == axes[1]:
            raise ValueError(f"batch_axis == seq_axis == {seq_axis}")
        if seq_lengths.shape is not None and not shapes.compatible(
            seq_lengths.shape, (input.shape[axes[1]],)
        ):
            raise ValueError(
                f"seq_lengths has the shape {shapes.show(seq_lengths.shape)}, but batch_axis {batch_axis} of the input "
                f"has the size {input.shape[axes[1]]}"
            )
    return TensorType(input.dtype, input.shape)


@reverse_rows.kernel
def _(input: Array, seq_lengths: Array, seq_axis: int, batch_axis: int) -> Array:
    rows = np.moveaxis(input, (batch_axis, seq_axis), (0, 1))
    size = rows.shape[1]
    if seq_lengths.min(initial=0) < 0:
        raise errors.InvalidArgumentError(
            f"seq_lens({seq_lengths.min()}) < 0: seq_lengths must not be negative"
        )
    if seq_lengths.max(initial=0) > size:
        raise errors.InvalidArgumentError(f"seq_lens({seq_lengths.max()}) > input.dims({seq_axis}) = {size}")
    steps, ends = np.arange(size), seq_lengths[:, None]
    positions = np.where(steps < ends, ends - 1 - steps, steps)
    turned = rows[np.arange(len(rows))[:, None], positions]
    return np.moveaxis(turned, (0, 1), (batch_axis, seq_axis))


@reverse_rows.gradient
def _(dy: Any, y: Any, input: Any, seq_lengths: Any, seq_axis: int, batch_axis: int) -> Any:
    return reverse_rows(dy, seq_lengths, seq_axis, batch_axis), None
