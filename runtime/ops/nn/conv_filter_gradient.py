"""The gradient of a convolution's filter: transposed windows of the input times the gradient of the result.

    filter smaller than dy     a sum for each thread over its parts of the batch, and the sum of these
    larger filter              a product for each part of the input channels, over the whole batch

Filters of groups are summed over the batch. The parts depend on the sizes alone, and so does the result.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ...kernels.blas_limit import run_parts
from ..framework.op_families import Array
from .conv_kernel import (
    Strip,
    chunks,
    fewest_parts,
    most_elements,
    repeated,
    slices,
    surrounded,
    window_elements,
    windows_of,
)
from .window_geometry import Sliding
from .windows import fits, slid

_SUMS = 8
"""The maximum number of sums of gradients that threads compute. They and their order do not depend on threads."""


def filter_gradient(x: Array, dy: Array, slide: Sliding, groups: int, shape: tuple[int, ...]) -> Array:
    """Return the gradient of a filter of this shape."""
    taken, given = shape[-2:]
    found = np.zeros((groups, math.prod(shape[:-1]), given // groups), dy.dtype)
    if x.size and dy.size and found.size:
        if groups > 1 or found.size <= dy.size:
            found = _by_batches(x, dy, slide, groups, found)
        elif math.prod(slide.window) == 1:
            _one_product(windows_of(x, slide, 1)[0].T, dy.reshape(-1, given), found[0])
        else:
            _by_channels(x, dy, slide, found)
    return found.reshape(groups, -1, taken, given // groups).transpose(1, 2, 0, 3).reshape(shape)


def _one_product(windows: Array, dy: Array, found: Array) -> None:
    """Write a matrix product; threads share the longer axis of the result."""
    axis = int(found.shape[1] > found.shape[0])
    number = fewest_parts(windows.size, dy.shape[1])
    run_parts(
        *(
            functools.partial(np.matmul, windows, dy[:, part], out=found[:, part])
            if axis
            else functools.partial(np.matmul, windows[part], dy, out=found[part])
            for part in slices(found.shape[axis], number)
        )
    )


def _by_channels(x: Array, dy: Array, slide: Sliding, found: Array) -> None:
    channels, outputs = x.shape[-1], dy.shape[-1]
    split = found.reshape(-1, channels, outputs)

    def compute(part: slice) -> None:
        product = _correlated(x[..., part], dy, slide, 1, found.shape)
        split[:, part] = product.reshape(len(split), -1, outputs)

    count = window_elements(x, slide)
    number = max(fewest_parts(count, outputs), -(-count // most_elements(dy)))
    run_parts(*(functools.partial(compute, part) for part in slices(channels, number)))


def _by_batches(x: Array, dy: Array, slide: Sliding, groups: int, found: Array) -> Array:
    most = most_elements(found)
    parts = [(part, strip) for part, strips in chunks(len(x), slide, x.shape[-1], most) for strip in strips]
    sums = np.zeros((min(_SUMS, len(parts)), *found.shape), dy.dtype)

    def add(sum: Array, own: list[tuple[slice, Strip]]) -> None:
        for part, strip in own:
            taken, given = x[part, strip.inputs], dy[part, strip.outputs]
            sum += _correlated(taken, given, strip.slide, groups, found.shape)

    run_parts(*(functools.partial(add, sum, parts[i :: len(sums)]) for i, sum in enumerate(sums)))
    return sums.sum(0)


def _correlated(x: Array, dy: Array, slide: Sliding, groups: int, shape: tuple[int, ...]) -> Array:
    """Return the products of windows of `x` and a gradient: [groups, window and channels, outputs]."""
    if groups > 1 and shape[1] == math.prod(slide.window):
        w = np.zeros((*slide.window, dy.shape[-1]), dy.dtype)
        x = repeated(x, dy.shape[-1])
        if fits(slide, x, dy, w):
            slid("correlate", x, dy, w, None, slide)
        else:
            wide = surrounded(x, slide)
            for offset in slide.offsets():
                taken = wide[(slice(None), *slide.padded_slices(offset))]
                w[offset] = np.add.reduce((taken * dy).reshape(-1, dy.shape[-1]), 0)
        return w.reshape(-1, groups, w.shape[-1] // groups).transpose(1, 0, 2)
    return windows_of(x, slide, groups).transpose(0, 2, 1) @ _by_groups(dy, groups)


def _by_groups(dy: Array, groups: int) -> Array:
    """Return rows of a result, or of its gradient, as [groups, rows, outputs of a group]."""
    return dy.reshape(math.prod(dy.shape[:-1]), groups, dy.shape[-1] // groups).transpose(1, 0, 2)
