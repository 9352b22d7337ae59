"""Kernels of pooling, in C where windows cross neither batches nor channels, else in NumPy.

1 2 5      windows of 2 by 2       5 9      pooled along one axis after the other, since a rectangle's
3 4 9      ──────────────────→     7 9      largest element is the largest of its rows' largest ones
7 0 6
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ... import errors
from ...kernels.extremes import lowest
from ...kernels.thread_pool import run_all
from ..arrays.select_kernel import selected
from ..framework.op_families import Array
from .window_geometry import Pairs, Sliding, sliding
from .windows import fits, slid

Sizes = tuple[int, ...]
_ELEMENTS = 1 << 17
"""The number of elements in a part of a batch that one thread works on at a time."""


@lru_cache(256)
def slide_over(shape: Any, ksize: Sizes, strides: Sizes, padding: str, explicit: Pairs) -> Sliding:
    """Return the windows over a tensor of this shape, of which each axis has a window size and a stride."""
    if len(shape) != len(ksize):
        raise errors.InvalidArgumentError(
            f"windows over {len(ksize)} axes do not fit the shape {list(shape)}"
        )
    return sliding(shape, ksize, strides, (1,) * len(ksize), padding, explicit)


def _along_axes(x: Array, slide: Sliding, combine: Any, start: Any) -> Array:
    """Combine windows along one axis after the other."""
    for axis, size in enumerate(slide.window):
        if size == slide.strides[axis] == 1 and slide.outputs[axis] == x.shape[axis]:
            continue
        found = np.full((*x.shape[:axis], slide.outputs[axis], *x.shape[axis + 1 :]), start, x.dtype)
        before = (slice(None),) * axis
        for at in range(size):
            windows, elements = slide.along(axis, at)
            part = found[(*before, windows)]
            combine(part, x[(*before, elements)], out=part)
        x = found
    return x


def _slid(
    kind: str, x: Array, y: Array, slide: Sliding, w: Array | None = None, z: Array | None = None
) -> bool:
    """Slide over [batch, …, channels] in C, in parts that threads share; return False if NumPy has to."""
    arrays = [array for array in (x, y, w, z) if array is not None]
    inner = Sliding(*(field[1:-1] for field in slide))
    is_spatial = all(slide[i][0] == slide[i][-1] == 1 for i in (1, 2)) and slide.outputs[0] == slide.sizes[0]
    if not is_spatial or slide.outputs[-1] != slide.sizes[-1] or not fits(inner, *arrays):
        return False

    def run(part: slice) -> None:
        third, fourth = (array if array is None else array[part] for array in (w, z))
        slid(kind, x[part], y[part], third, fourth, inner)

    run_all(*(partial(run, part) for part in _parts(slide)))
    return True


def check_pooled(slide: Sliding, *pooled: Array) -> None:
    """Raise InvalidArgumentError unless arrays have an element for each window."""
    for array in pooled:
        if array.shape != slide.outputs:
            raise errors.InvalidArgumentError(
                f"Expected grad shape to be {list(slide.outputs)}, but got {list(array.shape)}"
            )


def largest(x: Array, slide: Sliding) -> Array:
    """Return the largest elements of windows."""
    found = np.full(slide.outputs, lowest(x.dtype), x.dtype)
    if _slid("largest", x, found, slide):
        return found
    found = _along_axes(x, slide, np.maximum, lowest(x.dtype))
    return found if found is not x else found.copy()


def scattered(x: Array, y: Array, dy: Array, slide: Sliding) -> Array:
    """Add the elements of `dy` at the first element of each window of `x` that equals that of `y`."""
    found = np.zeros(x.shape, x.dtype)
    if _slid("choose", x, y, slide, dy, found):
        return found

    def spread(part: slice) -> None:
        to = found[part]
        for windows, elements, here in _first_largest(x[part], y[part], slide):
            to[elements] += selected(here, dy[part][windows], dy.dtype.type(0))

    run_all(*[partial(spread, part) for part in _parts(slide)])
    return found


def gathered(x: Array, y: Array, values: Array, slide: Sliding) -> Array:
    """Return the elements of `values` at the first element of each window of `x` that equals that of `y`."""
    found = np.zeros(y.shape, values.dtype)
    for windows, elements, here in _first_largest(x, y, slide):
        found[windows] += selected(here, values[elements], values.dtype.type(0))
    return found


def _first_largest(x: Array, y: Array, slide: Sliding) -> Iterator[tuple[Any, Any, Array]]:
    """Yield for each offset the windows, their elements, and which of these are the first that equal `y`."""
    free = np.ones(y.shape, bool)
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        here = (x[elements] == y[windows]) & free[windows]
        free[windows] &= ~here
        yield windows, elements, here


def _parts(slide: Sliding) -> list[slice]:
    """Return parts of the first axis, for threads and their caches; the whole axis if windows cross it."""
    count, *rest = slide.sizes or (1,)
    if slide.window[:1] != (1,) or slide.outputs[0] != count:
        return [slice(None)]
    step = max(1, _ELEMENTS // max(1, math.prod(rest)))
    return [slice(start, start + step) for start in range(0, count, step)]


def mean(x: Array, slide: Sliding) -> Array:
    """Return the means of windows."""
    kind = np.result_type(x.dtype, np.float32)
    wide, sums = x.astype(kind, copy=False), np.zeros(slide.outputs, kind)
    if not _slid("sum", wide, sums, slide):
        sums = _along_axes(wide, slide, np.add, 0)
    return _divided(sums, slide).astype(x.dtype, copy=False)


def shared_out(dy: Array, slide: Sliding) -> Array:
    """Divide each element of `dy` among the elements of its window, and add these shares."""
    shares = _divided(dy.astype(np.result_type(dy.dtype, np.float32), copy=False), slide)
    found = np.zeros(slide.sizes, shares.dtype)
    if _slid("share", found, shares, slide):
        return found.astype(dy.dtype, copy=False)
    for axis, size in enumerate(slide.window):
        found = np.zeros((*shares.shape[:axis], slide.sizes[axis], *shares.shape[axis + 1 :]), shares.dtype)
        before = (slice(None),) * axis
        for at in range(size):
            windows, elements = slide.along(axis, at)
            found[(*before, elements)] += shares[(*before, windows)]
        shares = found
    return shares.astype(dy.dtype, copy=False)


def _divided(sums: Array, slide: Sliding) -> Array:
    """Divide the sums of windows by the numbers of their elements."""
    counts = np.ix_(*(count.astype(sums.dtype) for count in slide.counts()))
    kept = [count if size > 1 else count[:1] for count, size in zip(counts, slide.window, strict=True)]
    return sums / math.prod(kept, start=sums.dtype.type(1))
