"""Geometry of sliding windows: positions, number of outputs, and parsing of the user's arguments.

    size 5, window 3, stride 2, "VALID"      [0 1 2] 3 4       outputs 2
                                              0 1 [2 3 4]
    size 4, window 3, stride 2, "SAME"       [0 1 2] 3 +       outputs 2, one zero after the end
                                              0 1 [2 3 +]

An output's size is `ceil((size + padding - reach + 1) / stride)`, where a window's reach is `(window - 1) *
dilation + 1` elements. "SAME" adds as much padding as `ceil(size / stride)` outputs need, half of it before
the first element, rounded down.

>>> sliding((5,), (3,), (2,), (1,), "VALID").outputs, sliding((4,), (3,), (2,), (1,), "SAME").after
((2,), (1,))
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..framework.attribute_parsers import read_axes
from ..framework.op_families import wrong

Array = Any
Pairs = tuple[int, ...]
"""Explicit paddings, flat: before and after the first axis, before and after the second …"""

SMALL = 32
"""The elements of a window up to which loops over windows have code for each of them."""

_FILTERS = 8
"""The most large filters of a channel: more are a matrix that is wide enough for BLAS."""

_CHANNELS = 8
"""The fewest channels with large filters: loops over fewer take as long as the products of BLAS, or longer."""


class Sliding(NamedTuple):
    """Sliding windows over axes; every field has a number for each axis."""

    sizes: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def padded(self) -> tuple[int, ...]:
        """The sizes with padding."""
        return tuple(map(sum, zip(self.before, self.sizes, self.after, strict=True)))

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """Return the offsets inside a window, the last axis fastest."""
        return itertools.product(*map(range, self.window))

    def padded_slices(self, offset: tuple[int, ...]) -> tuple[slice, ...]:
        """Return the slices of the padded axes that the windows have at one offset."""
        return tuple(
            slice(at * d, at * d + (count - 1) * s + 1, s)
            for at, d, s, count in zip(offset, self.dilations, self.strides, self.outputs, strict=True)
        )

    def slices(self, offset: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return slices of the windows that have an element at one offset, and of those elements; skip padding."""
        pairs = [self.along(axis, at) for axis, at in enumerate(offset)]
        return tuple(windows for windows, _ in pairs), tuple(elements for _, elements in pairs)

    def along(self, axis: int, at: int) -> tuple[slice, slice]:
        """Return slices of the windows that have an element at one offset along one axis, and of those elements."""
        start = at * self.dilations[axis] - self.before[axis]
        stride, size = self.strides[axis], self.sizes[axis]
        first = max(0, -(start // stride))
        last = min(self.outputs[axis], -((start - size) // stride))
        if last <= first:
            return slice(0, 0), slice(0, 0)
        return slice(first, last), slice(start + first * stride, start + (last - 1) * stride + 1, stride)

    def counts(self) -> list[Array]:
        """Return for each axis the number of elements, without padding, of each window."""
        found = []
        for axis, count in enumerate(self.outputs):
            counted = np.zeros(count, np.int64)
            for at in range(self.window[axis]):
                counted[self.along(axis, at)[0]] += 1
            found.append(counted)
        return found


def sliding(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Pairs = (),
) -> Sliding:
    """Return the sliding windows on axes of these sizes; ValueError for a negative number of outputs."""
    for what, numbers in (("sizes", window), ("strides", strides), ("dilations", dilations)):
        if len(numbers) != len(sizes):
            raise ValueError(f"{what} {list(numbers)} of windows on {len(sizes)} axes: expected one for each")
    before, after, outputs = [], [], []
    for axis, size in enumerate(sizes):
        reach = (window[axis] - 1) * dilations[axis] + 1
        count = output_size(
            size, window[axis], strides[axis], dilations[axis], padding, explicit[2 * axis : 2 * axis + 2]
        )
        assert count is not None
        front, back = _pads(size, reach, strides[axis], count, padding, explicit[2 * axis : 2 * axis + 2])
        before.append(front)
        after.append(back)
        outputs.append(count)
    return Sliding(
        tuple(sizes),
        tuple(window),
        tuple(strides),
        tuple(dilations),
        tuple(before),
        tuple(after),
        tuple(outputs),
    )


def _pads(size: int, reach: int, stride: int, count: int, padding: str, explicit: Pairs) -> tuple[int, int]:
    if padding == "EXPLICIT":
        return explicit[0], explicit[1]
    if padding == "VALID":
        return 0, 0
    total = max((count - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def output_size(
    size: int | None, window: int | None, stride: int, dilation: int, padding: str, explicit: Pairs = ()
) -> int | None:
    """Return the number of windows that fit; None if it is unknown; ValueError if it would be negative.

    >>> output_size(5, 3, 2, 1, "VALID"), output_size(5, 3, 2, 1, "SAME"), output_size(None, 3, 1, 1, "SAME")
    (2, 3, None)
    """
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise ValueError(f"padding must be 'SAME' or 'VALID', or EXPLICIT with numbers, not {padding!r}")
    if len(explicit) != (2 if padding == "EXPLICIT" else 0) or min(explicit, default=0) < 0:
        raise ValueError(f"explicit_paddings of an axis with padding {padding} cannot be {list(explicit)}")
    if min(stride, dilation) < 1:
        raise ValueError(f"strides and dilations must be positive, not {stride} and {dilation}")
    if size is None:
        return None
    if padding == "SAME":
        return -(-size // stride)
    if window is None:
        return None
    reach = (window - 1) * dilation + 1
    count = (size + sum(explicit) - reach + stride) // stride
    if count < 0:
        raise ValueError(
            f"Computed output size would be negative: {count} [input_size: {size}, "
            f"effective_filter_size: {reach}, stride: {stride}]"
        )
    return count


def is_channels_first(data_format: str | None, spatial: int, what: str) -> bool:
    """Return whether a format such as "NHWC" or "NCHW" has its channels before the spatial axes.

    >>> is_channels_first("NCHW", 2, "conv2d"), is_channels_first(None, 2, "conv2d")
    (True, False)
    """
    axes = {1: "W", 2: "HW", 3: "DHW"}[spatial]
    if data_format is None or data_format == f"N{axes}C":
        return False
    if data_format == f"NC{axes}":
        return True
    raise ValueError(f"{what}: `data_format` must be 'N{axes}C' or 'NC{axes}'. Received: {data_format!r}")


def per_axis(value: Any, spatial: int, channels_first: bool, what: str) -> tuple[int, ...]:
    """Parse strides, dilations or window sizes to one integer for each spatial axis.

    >>> per_axis(2, 2, False, "strides"), per_axis([1, 2, 3, 1], 2, False, "strides")
    ((2, 2), (2, 3))
    """
    given = _integers(value, what)
    if len(given) == spatial + 2:
        batch, channels = given[0], given[1 if channels_first else -1]
        if (batch, channels) != (1, 1):
            raise ValueError(f"{what} in the batch and depth dimensions must be 1, not {list(given)}")
        given = given[2:] if channels_first else given[1:-1]
    if len(given) not in (1, spatial):
        lengths = ", ".join(map(str, sorted({1, spatial})))
        raise ValueError(f"{what} should be of length {lengths} or {spatial + 2} but was {len(given)}")
    if min(given) <= 0:
        raise wrong(f"{what} must be positive, not {list(given)}")
    return given if len(given) == spatial else given * spatial


def _integers(value: Any, what: str) -> tuple[int, ...]:
    try:
        return (1,) if value is None else read_axes(value) or ()
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None


def read_padding(padding: Any, spatial: int, channels_first: bool, what: str) -> tuple[str, Pairs]:
    """Return "SAME" or "VALID", or "EXPLICIT" and the numbers of the spatial axes.

    A list has `[before, after]` for every axis of the tensor, zeros for batch and channels.

    >>> read_padding([[0, 0], [1, 2], [3, 4], [0, 0]], 2, False, "conv2d")
    ('EXPLICIT', (1, 2, 3, 4))
    """
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise wrong(f"{what}: `padding` must be 'SAME', 'VALID' or a list. Received: {padding!r}")
        return padding, ()
    pairs = [tuple(int(number) for number in pair) for pair in padding]
    if len(pairs) != spatial + 2 or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{what}: `padding` must have {spatial + 2} pairs of numbers. Received: {padding!r}")
    others = pairs[:2] if channels_first else [pairs[0], pairs[-1]]
    if others != [(0, 0), (0, 0)]:
        raise ValueError(
            f"{what}: nonzero padding is not allowed in the batch and depth dimensions: {padding!r}"
        )
    flat = tuple(itertools.chain(*(pairs[2:] if channels_first else pairs[1:-1])))
    if min(flat) < 0:
        raise ValueError(f"{what}: all padding must be at least 0: {padding!r}")
    return "EXPLICIT", flat


def is_by_channel(window: Sequence[int], taken: int, groups: int, given: int) -> bool:
    """Return whether a convolution computes each channel by itself, with one filter or a few of them.

    All executors ask this function: gradients by channel do not multiply the zeros around the result's gradient, which
    shows where the filter is NaN.

    Args:
        window: the sizes of the window.
        taken: the input channels of a group.
        groups: the number of groups.
        given: the number of filters.
    """
    each = given // groups
    return taken == 1 and (math.prod(window) * each <= SMALL or (each <= _FILTERS and groups >= _CHANNELS))
