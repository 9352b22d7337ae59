"""Fourier transforms along several axes, by those of `np.fft` along one; threads share the rows of large arrays.

    rfftn of [4, 6]: rfft along axis 1 ──► [4, 4] complex ──► fft along axis 0

The functions return what their namesakes of `np.fft` return.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .thread_pool import run_all

Array = Any
Sizes = Sequence[int] | None

_LARGE = 1 << 17
"""The least elements that threads share: one thread takes about 0.5 ms for them."""

_PARTS = 16


def fftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Transform complex numbers, cut or padded to `sizes` along `axes`.

    >>> fftn(np.array([1, 2j]), None, [0]).tolist()
    [(1+2j), (1-2j)]
    """
    return _each(np.fft.fft, x, _known(sizes, axes), axes)


def ifftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Invert `fftn`.

    >>> ifftn(np.array([1 + 2j, 1 - 2j]), None, [0]).tolist()
    [(1+0j), 2j]
    """
    return _each(np.fft.ifft, x, _known(sizes, axes), axes)


def rfftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Transform real numbers; the last of `axes` keeps its first half and the middle.

    >>> rfftn(np.array([1.0, 2.0]), None, [0]).tolist()
    [(3+0j), (-1+0j)]
    """
    known = _known(sizes, axes)
    half = _shared(np.fft.rfft, x, known[-1], axes[-1])
    return _each(np.fft.fft, half, known[:-1], axes[:-1])


def irfftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Invert `rfftn`.

    >>> irfftn(np.array([3 + 0j, -1 + 0j]), None, [0]).tolist()
    [1.0, 2.0]
    """
    known = _known(sizes, axes)
    half = _each(np.fft.ifft, x, known[:-1][::-1], axes[:-1][::-1])
    return _shared(np.fft.irfft, half, known[-1], axes[-1])


def _known(sizes: Sizes, axes: Sequence[int]) -> Sequence[int | None]:
    return [None] * len(axes) if sizes is None else sizes


def _each(
    transform: Callable[..., Array], x: Array, sizes: Sequence[int | None], axes: Sequence[int]
) -> Array:
    """Transform along one axis after the other, from the last to the first."""
    for size, axis in zip(reversed(sizes), reversed(axes), strict=True):
        x = _shared(transform, x, size, axis)
    return x


def _shared(transform: Callable[..., Array], x: Array, size: int | None, axis: int) -> Array:
    """Transform along one axis; threads share the longest other axis of a large array."""
    others = [other for other in range(x.ndim) if other != axis % x.ndim]
    if x.size < _LARGE or not others:
        return transform(x, size, axis)
    longest = max(others, key=x.shape.__getitem__)
    count = x.shape[longest]
    before = (slice(None),) * longest
    one = transform(x[(*before, slice(1))], size, axis)
    result = np.empty((*one.shape[:longest], count, *one.shape[longest + 1 :]), one.dtype)

    def part(number: int) -> Callable[[], object]:
        rows = (*before, slice(number * count // _PARTS, (number + 1) * count // _PARTS))
        return lambda: transform(x[rows], size, axis, out=result[rows])

    run_all(*map(part, range(_PARTS)))
    return result
