"""Grayscale dilation and erosion: the largest sum of a window and a filter, or the smallest difference.

    y[b, i, j, c] = max over k, l of x[b, i * stride + k * rate, j * stride + l * rate, c] + filter[k, l, c]

Elements beyond the edge are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ...kernels.extremes import lowest
from ..arrays.reverse_and_roll import reverse
from ..framework.attribute_parsers import Axes
from ..framework.op import Name, Same, op
from ..framework.op_families import REAL, Array, require_dtype, wrong
from .window_geometry import Sliding, output_size, per_axis, sliding


@export("nn.dilation2d")
def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: Name = None,
) -> Tensor:
    """Return the largest sums of windows of `input` and `filters`.

    Args:
        input: [batch, height, width, channels].
        filters: [height, width, channels].
        strides, dilations: lists of four, 1 for batch and channels.
        data_format: "NHWC".

    >>> ones = [1, 1, 1, 1]
    >>> dilation2d([[[[1.], [5.], [2.]]]], [[[0.], [1.]]], ones, "VALID", "NHWC", ones).numpy().ravel().tolist()
    [6.0, 5.0]
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than NHWC are not supported. Received: data_format={data_format}"
        )
    if padding not in ("SAME", "VALID"):
        raise wrong(f"dilation2d: `padding` must be 'SAME' or 'VALID', not {padding!r}")
    steps = per_axis(strides, 2, False, "dilation2d: strides")
    rates = per_axis(dilations, 2, False, "dilation2d: dilations")
    return dilated(input, filters, steps, rates, padding, name)  # type: ignore[no-any-return]


@export("nn.erosion2d")
def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: Name = None,
) -> Tensor:
    """Return the smallest differences of windows of `value` and `filters`: the negated dilation of the negative.

    >>> ones = [1, 1, 1, 1]
    >>> erosion2d([[[[1.], [5.], [2.]]]], [[[0.]]], ones, "VALID", "NHWC", ones).numpy().ravel().tolist()
    [1.0, 5.0, 2.0]
    """
    turned = reverse(convert_to_tensor(filters), [0, 1])
    return -dilation2d(-convert_to_tensor(value), turned, strides, padding, data_format, dilations, name)


def _result(x: shapes.Dims, w: shapes.Dims, strides: Any, rates: Any, padding: str) -> shapes.Dims:
    for shape, rank, what in ((x, 4, "input"), (w, 3, "filter")):
        if shape is not None and len(shape) != rank:
            raise ValueError(f"dilation2d: {what} must have rank {rank}, not the shape {shapes.show(shape)}")
    for pair, what in ((strides, "strides"), (rates, "rates")):
        if pair is None or len(pair) != 2:
            raise ValueError(f"dilation2d: {what} must be a pair of numbers, not {pair}")
    batch, height, width, channels = x or (None,) * 4
    window = w or (None,) * 3
    if channels != window[2] and None not in (channels, window[2]):
        raise ValueError(f"depth of input {channels} is not that of filter {window[2]}")
    sizes = [
        output_size(size, window[i], strides[i], rates[i], padding) for i, size in enumerate((height, width))
    ]
    return (batch, *sizes, channels if channels is not None else window[2])


@op(name="dilation2d")
def dilated(
    input: Same, filter: Same, strides: Axes, rates: Axes, padding: str, name: Name = None
) -> TensorType:
    """Compute `dilation2d` with pairs of strides and rates.

    >>> dilated([[[[1.], [5.], [2.]]]], [[[0.]]], [1, 1], [1, 1], "VALID").numpy().ravel().tolist()
    [1.0, 5.0, 2.0]
    """
    require_dtype(input, REAL, "dilation2d")
    return TensorType(input.dtype, _result(input.shape, filter.shape, strides, rates, padding))


def _slide(input: Array, filter: Array, strides: Any, rates: Any, padding: str) -> Sliding:
    if input.ndim != 4 or filter.ndim != 3 or input.shape[3] != filter.shape[2]:
        raise errors.InvalidArgumentError(
            f"dilation2d: a filter of the shape {list(filter.shape)} does not fit {list(input.shape)}"
        )
    return sliding(input.shape[1:3], filter.shape[:2], strides, rates, padding)


@dilated.kernel
def _(input: Array, filter: Array, strides: Any, rates: Any, padding: str) -> Array:
    slide = _slide(input, filter, strides, rates, padding)
    y = np.full((len(input), *slide.outputs, input.shape[3]), lowest(input.dtype), input.dtype)
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        part = y[(slice(None), *windows)]
        np.maximum(part, input[(slice(None), *elements)] + filter[offset], out=part)
    return y


@dilated.gradient
def _(dy: Any, y: Any, input: Any, filter: Any, **setting: Any) -> Any:
    return (
        dilation2d_backprop_input(input, filter, dy, **setting),
        dilation2d_backprop_filter(input, filter, dy, **setting),
    )


def _check_gradient(
    input: Any, filter: Any, out_backprop: Any, strides: Any, rates: Any, padding: str
) -> None:
    require_dtype(input, REAL, "dilation2d")
    shapes.merge(_result(input.shape, filter.shape, strides, rates, padding), out_backprop.shape)


@op
def dilation2d_backprop_input(
    input: Same, filter: Same, out_backprop: Same, strides: Axes, rates: Axes, padding: str, name: Name = None
) -> TensorType:
    """Return the gradient of `dilation2d` for its input: each window's goes to the first largest sum.

    >>> x, dy = [[[[1.], [5.], [2.]]]], [[[[10.], [20.], [30.]]]]
    >>> dilation2d_backprop_input(x, [[[0.]]], dy, [1, 1], [1, 1], "VALID").numpy().ravel().tolist()
    [10.0, 20.0, 30.0]
    """
    _check_gradient(input, filter, out_backprop, strides, rates, padding)
    return TensorType(input.dtype, input.shape)


@op
def dilation2d_backprop_filter(
    input: Same, filter: Same, out_backprop: Same, strides: Axes, rates: Axes, padding: str, name: Name = None
) -> TensorType:
    """Return the gradient of `dilation2d` with respect to its filter.

    >>> x, dy = [[[[1.], [5.], [2.]]]], [[[[10.], [20.], [30.]]]]
    >>> dilation2d_backprop_filter(x, [[[0.]]], dy, [1, 1], [1, 1], "VALID").numpy().ravel().tolist()
    [60.0]
    """
    _check_gradient(input, filter, out_backprop, strides, rates, padding)
    return TensorType(filter.dtype, filter.shape)


def _shares(
    input: Array, filter: Array, dy: Array, strides: Any, rates: Any, padding: str
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...], Array]]:
    """Yield for each filter offset the elements it is added to, and the gradient from each window."""
    slide = _slide(input, filter, strides, rates, padding)
    y = dilated.compute(input, filter, strides, rates, padding)
    if dy.shape != y.shape:
        raise errors.InvalidArgumentError(f"dilation2d: a gradient of {list(dy.shape)} for {list(y.shape)}")
    free = np.ones(y.shape, bool)
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        window = (slice(None), *windows)
        here = (input[(slice(None), *elements)] + filter[offset] == y[window]) & free[window]
        free[window] &= ~here
        yield offset, elements, np.where(here, dy[window], dy.dtype.type(0))


@dilation2d_backprop_input.kernel
def _(input: Array, filter: Array, out_backprop: Array, strides: Any, rates: Any, padding: str) -> Array:
    found = np.zeros_like(input)
    for _, elements, share in _shares(input, filter, out_backprop, strides, rates, padding):
        found[(slice(None), *elements)] += share
    return found


@dilation2d_backprop_filter.kernel
def _(input: Array, filter: Array, out_backprop: Array, strides: Any, rates: Any, padding: str) -> Array:
    found = np.zeros_like(filter)
    for offset, _, share in _shares(input, filter, out_backprop, strides, rates, padding):
        found[offset] = share.sum((0, 1, 2))
    return found
