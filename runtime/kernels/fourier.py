"""Fourier transforms along several axes, one after the other; threads share the rows of large arrays.

    rfftn of [4, 6]: rfft along axis 1 ──► [4, 4] complex ──► fft along axis 0

The functions return what their namesakes of `np.fft` return. An optional extension transforms several rows at once if
their size is a product of 2, 3 and 5; NumPy transforms the others, one row at a time.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .thread_pool import run_all

try:
    from . import _native_transforms as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None

Array = Any
Sizes = Sequence[int] | None

_LARGE = 1 << 17
"""The least elements that threads share: one thread takes about 0.5 ms for them."""

_PARTS = 16

_REAL, _REAL_INVERSE = 2, 3

_KINDS = {np.fft.fft: 0, np.fft.ifft: 1, np.fft.rfft: _REAL, np.fft.irfft: _REAL_INVERSE}

_GROUP, _ROWS = 8, 4
"""The rows that the extension transforms at once (4 of float64), and the least that it takes."""

_LONGEST = 1 << 17
"""The longest rows that it transforms: a thread needs 128 times as many bytes of memory."""


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


@functools.lru_cache(64)
def _roots(size: int, dtype: np.dtype[Any]) -> Array | None:
    """Return exp(-2πi k / size) for all k; None if `size` has other prime factors than 2, 3 and 5.

    >>> _roots(4, np.dtype("c8")).tolist(), _roots(14, np.dtype("c8"))
    ([(1+0j), -1j, (-1+0j), 1j], None)
    """
    rest = size
    for factor in (2, 3, 5):
        while rest % factor == 0:
            rest //= factor
    if rest != 1:
        return None
    quarters, beyond = np.divmod(4 * np.arange(size) + size // 2, size)
    angles = (beyond - size // 2) * (np.pi / 2 / size)
    return (np.array([1, -1j, -1, 1j])[quarters % 4] * (np.cos(angles) - 1j * np.sin(angles))).astype(dtype)


class _Plan(NamedTuple):
    """Arrays of one shape for the extension: `given` has three axes; `shape` and `dtype` are those of the result."""

    kind: int
    roots: Array
    given: tuple[int, int, int]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@functools.lru_cache(256)
def _plan(
    kind: int, dtype: np.dtype[Any], shape: tuple[int, ...], size: int | None, axis: int
) -> _Plan | None:
    """Return None for arrays that are left to NumPy."""
    axis %= len(shape)
    given, before, after = shape[axis], shape[:axis], shape[axis + 1 :]
    count = size if size is not None else 2 * (given - 1) if kind == _REAL_INVERSE else given
    rows, is_real = math.prod(before) * math.prod(after), kind >= _REAL
    if rows < _ROWS or not (given and 1 < count <= _LONGEST) or (is_real and count % 2):
        return None
    if dtype not in ((np.float32, np.float64) if kind == _REAL else (np.complex64, np.complex128)):
        return None
    whole = np.result_type(dtype, np.complex64)
    roots = _roots(count, whole)
    if roots is None:
        return None
    made = (*before, count // 2 + 1 if kind == _REAL else count, *after)
    three = (math.prod(before), given, math.prod(after))
    return _Plan(kind, roots, three, made, roots.real.dtype if kind == _REAL_INVERSE else whole)


def _by_plan(plan: _Plan, x: Array) -> Array:
    """Transform groups of rows in the extension."""
    kind, roots, (outer, size, inner), shape, dtype = plan
    result = np.empty(shape, dtype)
    given = np.ascontiguousarray(x).reshape(outer, size, inner)
    out = result.reshape(outer, -1, inner)
    rows = outer * inner
    if x.size < _LARGE:
        native.transform(given, out, roots, kind, 0, rows)
        return result
    ends = [number * rows // _PARTS // _GROUP * _GROUP for number in range(_PARTS)] + [rows]
    part = functools.partial(native.transform, given, out, roots, kind)
    run_all(*(functools.partial(part, first, end) for first, end in itertools.pairwise(ends)))
    return result


def _shared(transform: Callable[..., Array], x: Array, size: int | None, axis: int) -> Array:
    """Transform along one axis; threads share the longest other axis of a large array."""
    plan = native and _plan(_KINDS[transform], x.dtype, x.shape, size, axis)
    if plan:
        return _by_plan(plan, x)
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
