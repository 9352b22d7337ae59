"""Convolution kernels as matrix products of windows (im2col).

    convolved          windows times a filter
    filter_gradient    transposed windows times a gradient (conv_filter_gradient.py)

A grouped filter is one matrix for each group. If each channel is a group (depthwise), the matrices would be thin:
windows slide in C, or in a loop over the offsets in a window. The gradient of the input consists of convolutions of the
gradient of the result (conv_phases.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core import shapes
from ...kernels.blas_limit import run_parts
from ..framework.op_families import Array
from .window_geometry import Sliding
from .windows import fits, slid

_ELEMENTS = 1 << 19
"""The window elements in a part of a batch, for threads and their caches."""

_PARTS = 4
"""The parts of a product that is too small for parts of that size."""

_MULTIPLICATIONS = 1 << 22
"""The multiplications of a part that is worth a thread."""


def joined(batch: Any, sizes: Any, channels: Any, data_format: str) -> Any:
    """Return the shape with these batch, spatial and channel sizes."""
    first = data_format.startswith("NC")
    return (*batch, channels, *sizes) if first else (*batch, *sizes, channels)


def parts(full: Any, n: int, data_format: str) -> tuple[Any, Any, Any]:
    """Split a shape into batch axes, sizes of the spatial axes, and channels."""
    if len(full) < n + 2:
        raise ValueError(
            f"conv: the input must have at least rank {n + 2}, not the shape {shapes.show(full)}"
        )
    if data_format.startswith("NC"):
        return full[: -n - 1], full[-n:], full[-n - 1]
    return full[: -n - 1], full[-n - 1 : -1], full[-1]


def check_channels(channels: int | None, taken: int | None, given: int | None) -> None:
    """Raise ValueError for a filter that does not match the number of channels."""
    if channels is None or taken is None:
        return
    if taken == 0 or channels % taken:
        raise ValueError(
            f"input depth must be evenly divisible by filter depth: {channels} vs {taken}, so that each group "
            "of channels has filters"
        )
    groups = channels // taken
    if given is not None and groups and given % groups:
        raise ValueError(f"output depth must be evenly divisible by number of groups: {given} vs {groups}")


def channels_last(x: Array, n: int, data_format: str) -> Array:
    """Merge the batch axes into one, and move the channels to the last axis."""
    if data_format.startswith("NC"):
        x = np.moveaxis(x, -n - 1, -1)
    return x.reshape((math.prod(x.shape[: -n - 1]), *x.shape[-n - 1 :]))


def as_given(y: Array, batch: Any, n: int, data_format: str) -> Array:
    """Undo `channels_last`: return `y` in the user's format with its batch axes."""
    y = y.reshape((*batch, *y.shape[1:]))
    return np.moveaxis(y, -1, -n - 1) if data_format.startswith("NC") else y


def accurate(dtype: Any) -> Any:
    """Return the dtype in which sums of this dtype are accumulated."""
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


class Strip(NamedTuple):
    """Windows of some rows of images: the rows of `y` and of `x`."""

    outputs: slice
    inputs: slice
    slide: Sliding


def chunks(count: int, slide: Sliding, channels: int, most: int) -> Iterator[tuple[slice, list[Strip]]]:
    """Yield slices of a batch, and strips of its images, with at most so many window elements."""
    row = max(1, math.prod(slide.outputs[1:]) * math.prod(slide.window) * channels)
    step = max(1, most // (row * max(1, slide.outputs[0])))
    is_whole = row * slide.outputs[0] <= most
    strips = (
        [Strip(slice(None), slice(None), slide)] if is_whole else list(_strips(slide, max(1, most // row)))
    )
    for start in range(0, count, step):
        yield slice(start, min(start + step, count)), strips


def _strips(slide: Sliding, height: int) -> Iterator[Strip]:
    reach = (slide.window[0] - 1) * slide.dilations[0] + 1
    for start in range(0, slide.outputs[0], height):
        count = min(height, slide.outputs[0] - start)
        first = start * slide.strides[0]
        last = first + (count - 1) * slide.strides[0] + reach
        low, high = (min(max(end - slide.before[0], 0), slide.sizes[0]) for end in (first, last))
        before = min(max(slide.before[0] - first, 0), last - first)
        part = slide._replace(
            sizes=(high - low, *slide.sizes[1:]),
            before=(before, *slide.before[1:]),
            after=(last - first - (high - low) - before, *slide.after[1:]),
            outputs=(count, *slide.outputs[1:]),
        )
        yield Strip(slice(start, start + count), slice(low, high), part)


def surrounded(x: Array, slide: Sliding) -> Array:
    if slide.padded == slide.sizes:
        return x
    wide = np.zeros((x.shape[0], *slide.padded, x.shape[-1]), x.dtype)
    extents = zip(slide.before, slide.sizes, strict=True)
    wide[(slice(None), *(slice(before, before + size) for before, size in extents))] = x
    return wide


def windows_of(x: Array, slide: Sliding, groups: int) -> Array:
    """Return the windows of `x` for matrix products: [groups, batch and outputs, window and channels]."""
    wide, taken = surrounded(x, slide), x.shape[-1] // groups
    split = wide.reshape((-1, groups, taken)).swapaxes(0, 1).reshape((groups, *wide.shape[:-1], taken))
    split = np.ascontiguousarray(split)
    group, first, *steps, last = split.strides
    view = np.ndarray(
        (groups, x.shape[0], *slide.outputs, *slide.window, taken),
        split.dtype,
        split,
        0,
        (
            group,
            first,
            *(step * stride for step, stride in zip(steps, slide.strides, strict=True)),
            *(step * dilation for step, dilation in zip(steps, slide.dilations, strict=True)),
            last,
        ),
    )
    return view.reshape(groups, x.shape[0] * math.prod(slide.outputs), math.prod(slide.window) * taken)


def _grouped_filter(filter: Array, groups: int) -> Array:
    """Return a filter for matrix products: [groups, window and channels, outputs of a group]."""
    taken, given = filter.shape[-2:]
    if groups == 1:  # also a view of a transposed filter for windows of one element
        return filter.reshape(1, -1, given)
    split = filter.reshape(-1, taken, groups, given // groups).transpose(2, 0, 1, 3)
    return split.reshape(groups, -1, given // groups)


def _by_output(filter: Array) -> Array:
    """Return a depthwise filter as [window, output channels]."""
    return np.ascontiguousarray(filter).reshape((*filter.shape[:-2], filter.shape[-1]))


def repeated(x: Array, channels: int) -> Array:
    """Return `x` with each channel repeated for each of its outputs."""
    return x if x.shape[-1] == channels else np.repeat(x, channels // x.shape[-1], -1)


def convolve(x: Array, filter: Array, slide: Sliding, groups: int, y: Array) -> None:
    """Write the products of windows of `x` and the filter to `y`."""
    if groups > 1 and filter.shape[-2] == 1:
        x, w = repeated(x, filter.shape[-1]), _by_output(filter)
        y[...] = 0
        if fits(slide, x, y, w):
            slid("convolve", x, y, w, None, slide)
            return
        wide, split = surrounded(x, slide), y
        for offset in slide.offsets():
            taken = wide[(slice(None), *slide.padded_slices(offset))]
            split += taken * w[offset]
        return
    windows, matrices = windows_of(x, slide, groups), _grouped_filter(filter, groups)
    rows = y.reshape(windows.shape[1], groups, -1)  # a view: `y` is contiguous
    if groups == 1:
        np.matmul(windows[0], matrices[0], out=rows[:, 0])
    else:
        rows[...] = (windows @ matrices).transpose(1, 0, 2)


def convolved(x: Array, filter: Array, slide: Sliding, groups: int) -> Array:
    """Return the products of windows of `x` and the filter; threads share the batch and its rows, or the filter."""
    new = np.empty if x.size and filter.size else np.zeros
    y = new((x.shape[0], *slide.outputs, filter.shape[-1]), x.dtype)
    if not (x.size and y.size and filter.size):
        return y
    count = window_elements(x, slide)
    number = fewest_parts(count, y.shape[-1])
    if groups == 1 and count < filter.size:
        windows, matrix = windows_of(x, slide, 1)[0], _grouped_filter(filter, 1)[0]
        rows = y.reshape(len(windows), -1)
        run_parts(
            *(
                functools.partial(np.matmul, windows, matrix[:, part], out=rows[:, part])
                for part in slices(y.shape[-1], number)
            )
        )
        return y
    most = min(most_elements(filter), -(-count // number))
    run_parts(
        *(
            functools.partial(
                convolve, x[part, strip.inputs], filter, strip.slide, groups, y[part, strip.outputs]
            )
            for part, strips in chunks(len(x), slide, x.shape[-1], most)
            for strip in strips
        )
    )
    return y


def fewest_parts(count: int, outputs: int) -> int:
    """Return the fewest parts of a product of so many window elements with each of `outputs` filters."""
    return min(_PARTS, 1 + count * outputs // _MULTIPLICATIONS)


def most_elements(other: Array) -> int:
    """Return the most window elements of a part that is multiplied by all of the array `other`."""
    return max(_ELEMENTS, int(other.size))  # BLAS copies the other array for each part


def window_elements(x: Array, slide: Sliding) -> int:
    """Return the number of elements of all windows."""
    return len(x) * math.prod(slide.outputs) * math.prod(slide.window) * int(x.shape[-1])


def slices(size: int, count: int) -> list[slice]:
    """Return at most `count` slices of an axis, of at least 32 elements each if it has as many."""
    step = max(32, -(-size // count))
    return [slice(start, start + step) for start in range(0, size, step)]
