"""The gradient of a convolution's input as convolutions of the gradient of its result.

    stride 1      dx = conv(dy, the filter backwards, with its input and output channels exchanged)

    stride 2      y[i] = x[2i] w[0] + x[2i + 1] w[1] + x[2i + 2] w[2]
                  dx[0], dx[2], … = conv(dy, [w[2], w[0]])         each phase has its own part of the filter
                  dx[1], dx[3], … = conv(dy, [w[1]])

No product has a zero between the elements of `dy` as a factor, and no two threads add to the same element.
The zeros around `dy` are factors. With strides or filters for each channel, a filter that is not finite is multiplied
offset by offset instead. As in native code and TensorFlow, NaN reaches only the elements that are multiplied by it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..framework.op_families import Array
from .conv_kernel import convolved
from .window_geometry import Sliding, is_by_channel


class _Phase(NamedTuple):
    """Along one axis, every `stride`-th element of the input, and the part of the filter that reaches it."""

    elements: slice
    taps: slice
    sizes: slice
    """The outputs that its windows reach."""
    dilation: int
    before: int
    after: int
    outputs: int


def input_gradient(dy: Array, filter: Array, slide: Sliding, groups: int) -> Array:
    """Return the gradient of the input of a convolution with these windows."""
    taken, given = filter.shape[-2:]
    inner = given // groups
    is_single = math.prod(slide.strides) == 1
    is_by_offset = not is_single or is_by_channel(slide.window, taken, groups, given)
    if is_by_offset and not np.isfinite(filter).all():
        return _by_offset(dy, filter, slide, groups)
    dx = (np.empty if is_single and dy.size else np.zeros)((len(dy), *slide.sizes, taken * groups), dy.dtype)
    if taken > 1 or groups == 1:
        split = filter.reshape((*filter.shape[:-1], groups, inner))
        turned = np.moveaxis(split, -1, -3).swapaxes(-1, -2).reshape((*slide.window, inner, groups * taken))
    else:  # each output channel has a group of its own
        turned, groups = filter, given
    for phases in itertools.product(*(_phases(slide, axis) for axis in range(len(slide.sizes)))):
        elements, taps, sizes, dilations, before, after, outputs = zip(*phases, strict=True)
        reached = dy[(slice(None), *sizes)]
        part = turned[taps]
        if groups > 1 or math.prod(part.shape[:-2]) > 1:  # else it is a transposed matrix
            part = np.ascontiguousarray(part)
        strides = (1,) * len(outputs)
        inside = Sliding(reached.shape[1:-1], part.shape[:-2], strides, dilations, before, after, outputs)
        found = convolved(reached, part, inside, groups)
        if found.shape[-1] != dx.shape[-1]:
            found = functools.reduce(np.add, (found[..., i::inner] for i in range(inner)))
        if is_single:
            return found
        dx[(slice(None), *elements)] = found
    return dx


def _by_offset(dy: Array, filter: Array, slide: Sliding, groups: int) -> Array:
    """Return the sums of gradients of windows times the filter, added at one offset in the window after the other."""
    taken, given = filter.shape[-2:]
    dx = np.zeros((len(dy), *slide.sizes, groups, taken), dy.dtype)
    split = dy.reshape((*dy.shape[:-1], groups, given // groups))
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        weights = filter[offset].reshape(taken, groups, given // groups)
        dx[(slice(None), *elements)] += np.einsum("...go,tgo->...gt", split[(slice(None), *windows)], weights)
    return dx.reshape((*dx.shape[:-2], groups * taken))


def _phases(slide: Sliding, axis: int) -> Iterator[_Phase]:
    """Yield the phases along an axis that the filter reaches.

    Element `phase + stride * j` of the input is in window `j + shift` at tap `k`, and earlier at the taps after it.
    """
    size, window, stride, dilation, before, _, count = (each[axis] for each in slide)
    step = stride // math.gcd(stride, dilation)
    for phase in range(min(stride, size)):
        first = next(
            (k for k in range(min(step, window)) if (phase + before - k * dilation) % stride == 0), None
        )
        if first is None:
            continue
        taps = range(first, window, step)
        apart = step * dilation // stride
        outputs = -(-(size - phase) // stride)
        # The first window of the first element, and the window after the last one of the last element
        low = (phase + before - taps[-1] * dilation) // stride
        high = (phase + before - first * dilation) // stride + outputs
        inside = slice(min(max(low, 0), count), max(min(high, count), 0))
        if inside.start < inside.stop:
            yield _Phase(
                slice(phase, None, stride), slice(taps[-1], first - 1 if first else None, -step), inside, apart,
                inside.start - low, high - inside.stop, outputs,
            )  # fmt: skip
