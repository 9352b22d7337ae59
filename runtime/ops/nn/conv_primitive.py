"""Convolutions over any number of axes, and their two transposes.

    y = conv(x, w)                       windows of x, flattened, times w flattened: one matrix product
    conv_backprop_input(shape, w, dy)    dy times w transposed, each product added at its window's position
    conv_backprop_filter(x, shape, dy)   transposed windows of x times dy

Each is linear in both of its tensors, so the gradients of all three consist of these three. The last axis of
`x` (the one before the spatial axes when `data_format` begins with "NC") is that of the channels. A filter
with fewer input channels than `x` applies to groups of channels: with 1, each channel has its own filters
(depthwise). The number of spatial axes is that of the strides; all axes before them are batch axes.
"""

from __future__ import annotations

import functools
from typing import Any

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import FRESH_RESULT
from ...ir.value_types import TensorType
from ..arrays.shape_ops import shape
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import FLOATS, Array, require_dtype
from ..framework.static_values import checked_dims, dims
from .conv_filter_gradient import filter_gradient
from .conv_kernel import (
    accurate,
    as_given,
    channels_last,
    check_channels,
    convolved,
    joined,
    parts,
)
from .conv_phases import input_gradient
from .window_geometry import Sliding, output_size, sliding

_TAKEN = FLOATS | {dtypes.int32}


@op(traits=FRESH_RESULT)
def conv(
    input: Same,
    filter: Same,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    dilations: Axes = (1,),
    data_format: str = "N...C",
    name: Name = None,
) -> TensorType:
    """Return the sums of products of `filter` with the windows of `input` (a cross-correlation).

    Args:
        input: [batch..., spatial..., channels].
        filter: [window..., input channels of a group, output channels].
        strides, dilations: one number for each spatial axis.
        padding: "SAME", "VALID" or "EXPLICIT", as in `agc.runtime.ops.nn.window_geometry`.

    >>> conv([[[1.], [2.], [3.]]], [[[1.]], [[10.]]], [1], "VALID", dilations=[1]).numpy().tolist()
    [[[21.0], [32.0]]]
    """
    require_dtype(input, _TAKEN, "conv")
    n = len(strides)  # type: ignore[arg-type]
    if filter.shape is not None and len(filter.shape) != n + 2:
        raise ValueError(
            f"conv: the filter must have rank {n + 2}, not the shape {shapes.show(filter.shape)}"
        )
    if input.shape is None:
        return TensorType(input.dtype, None)
    batch, sizes, channels = parts(input.shape, n, data_format)
    window = filter.shape or (None,) * (n + 2)
    check_channels(channels, window[-2], window[-1])
    settings = zip(sizes, window, strides, dilations, strict=False)  # type: ignore[arg-type]
    outputs = tuple(
        output_size(size, k, stride, dilation, padding, explicit_paddings[2 * i : 2 * i + 2])  # type: ignore[index]
        for i, (size, k, stride, dilation) in enumerate(settings)
    )
    return TensorType(input.dtype, joined(batch, outputs, window[-1], data_format))


@op(traits=FRESH_RESULT)
def conv_backprop_input(
    input_sizes: Ints,
    filter: Same,
    out_backprop: Same,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    dilations: Axes = (1,),
    data_format: str = "N...C",
    name: Name = None,
) -> TensorType:
    """Return the cotangent of the input of `conv`, which has the shape `input_sizes`.

    This is also the transposed convolution.

    >>> dy = [[[1.], [2.]]]
    >>> conv_backprop_input([1, 3, 1], [[[1.]], [[10.]]], dy, [1], "VALID", dilations=[1]).numpy().tolist()
    [[[1.0], [12.0], [20.0]]]
    """
    require_dtype(filter, _TAKEN, "conv_backprop_input")
    n = len(strides)  # type: ignore[arg-type]
    if filter.shape is not None and len(filter.shape) != n + 2:
        raise ValueError(f"conv_backprop_input: the filter must have rank {n + 2}, not {len(filter.shape)}")
    sizes = dims(input_sizes)
    if sizes is None:
        sizes = None if out_backprop.shape is None else (None,) * len(out_backprop.shape)
    if sizes is not None:
        channels = parts(sizes, n, data_format)[-1]
        if filter.shape is not None:
            check_channels(channels, *filter.shape[-2:])
        if out_backprop.shape is not None and len(out_backprop.shape) != len(sizes):
            raise ValueError(
                f"conv_backprop_input: a result of the rank {len(sizes)} has no gradient of the rank "
                f"{len(out_backprop.shape)}"
            )
    return TensorType(filter.dtype, sizes)


@op(traits=FRESH_RESULT)
def conv_backprop_filter(
    input: Same,
    filter_sizes: Ints,
    out_backprop: Same,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    dilations: Axes = (1,),
    data_format: str = "N...C",
    name: Name = None,
) -> TensorType:
    """Return the cotangent of the filter of `conv`, which has the shape `filter_sizes`.

    >>> x, dy = [[[1.], [2.], [3.]]], [[[1.], [10.]]]
    >>> conv_backprop_filter(x, [2, 1, 1], dy, [1], "VALID", dilations=[1]).numpy().tolist()
    [[[21.0]], [[32.0]]]
    """
    require_dtype(input, _TAKEN, "conv_backprop_filter")
    n = len(strides)  # type: ignore[arg-type]
    sizes = dims(filter_sizes)
    if sizes is None:
        sizes = (None,) * (n + 2)
    if len(sizes) != n + 2:
        raise ValueError(
            f"conv_backprop_filter: a filter has rank {n + 2}, not the shape {shapes.show(sizes)}"
        )
    if input.shape is not None:
        check_channels(parts(input.shape, n, data_format)[-1], *sizes[-2:])
        if out_backprop.shape is not None and len(out_backprop.shape) != len(input.shape):
            raise ValueError(
                f"conv_backprop_filter: ranks of input and gradient, {len(input.shape)} and "
                f"{len(out_backprop.shape)}, must be equal"
            )
    return TensorType(input.dtype, sizes)


@functools.lru_cache(256)
def _setting(
    full: Any, window: Any, strides: Any, padding: str, explicit: Any, dilations: Any, data_format: str
) -> tuple[Any, Sliding, int]:
    """Return batch axes, windows and groups for an input of the shape `full`."""
    batch, sizes, channels = parts(full, len(strides), data_format)
    check_channels(channels, window[-2], window[-1])
    slide = sliding(sizes, window[:-2], strides, dilations, padding, explicit)
    return batch, slide, max(channels // max(window[-2], 1), 1)


def _check_gradient(dy: Array, batch: Any, slide: Sliding, outputs: int, data_format: str) -> None:
    expected = joined(batch, slide.outputs, outputs, data_format)
    if dy.shape != tuple(expected):
        raise errors.InvalidArgumentError(
            f"Size of out_backprop doesn't match computed: actual = {list(dy.shape)}, computed = {list(expected)}"
        )


@conv.kernel
def _(input: Array, filter: Array, strides: Any, padding: str, explicit_paddings: Any, dilations: Any,
      data_format: str) -> Array:  # fmt: skip
    batch, slide, groups = _setting(
        input.shape, filter.shape, strides, padding, explicit_paddings, dilations, data_format
    )
    n, kind = len(strides), accurate(input.dtype)
    x = channels_last(input, n, data_format).astype(kind, copy=False)
    y = convolved(x, filter.astype(kind, copy=False), slide, groups)
    return as_given(y.astype(input.dtype, copy=False), batch, n, data_format)


@conv_backprop_input.kernel
def _(input_sizes: Array, filter: Array, out_backprop: Array, strides: Any, padding: str,
      explicit_paddings: Any, dilations: Any, data_format: str) -> Array:  # fmt: skip
    batch, slide, groups = _setting(
        checked_dims(input_sizes), filter.shape, strides, padding, explicit_paddings, dilations, data_format
    )
    _check_gradient(out_backprop, batch, slide, filter.shape[-1], data_format)
    n, kind = len(strides), accurate(filter.dtype)
    dy = channels_last(out_backprop, n, data_format).astype(kind, copy=False)
    dx = input_gradient(dy, filter.astype(kind, copy=False), slide, groups)
    return as_given(dx.astype(filter.dtype, copy=False), batch, n, data_format)


@conv_backprop_filter.kernel
def _(input: Array, filter_sizes: Array, out_backprop: Array, strides: Any, padding: str,
      explicit_paddings: Any, dilations: Any, data_format: str) -> Array:  # fmt: skip
    window = checked_dims(filter_sizes)
    batch, slide, groups = _setting(
        input.shape, window, strides, padding, explicit_paddings, dilations, data_format
    )
    _check_gradient(out_backprop, batch, slide, window[-1], data_format)
    n, kind = len(strides), accurate(input.dtype)
    x = channels_last(input, n, data_format).astype(kind, copy=False)
    dy = channels_last(out_backprop, n, data_format).astype(kind, copy=False)
    return filter_gradient(x, dy, slide, groups, window).astype(input.dtype, copy=False)


@conv.gradient
def _(dy: Any, y: Any, input: Input, filter: Input, **setting: Any) -> Any:
    return (
        conv_backprop_input(shape(input), filter, dy, **setting),
        conv_backprop_filter(input, shape(filter), dy, **setting),
    )


@conv_backprop_input.gradient
def _(dy: Any, y: Any, input_sizes: Any, filter: Any, out_backprop: Any, **setting: Any) -> Any:
    return (
        None,
        conv_backprop_filter(dy, shape(filter), out_backprop, **setting),
        conv(dy, filter, **setting),
    )


@conv_backprop_filter.gradient
def _(dy: Any, y: Any, input: Any, filter_sizes: Any, out_backprop: Any, **setting: Any) -> Any:
    return (conv_backprop_input(shape(input), dy, out_backprop, **setting), None, conv(input, dy, **setting))
