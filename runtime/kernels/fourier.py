"""Fourier transforms along several axes, one after the other; threads share the lines of large arrays.

    rfftn of [4, 6]: rfft along axis 1 ──► [4, 4] complex ──► fft along axis 0

An optional extension transforms several lines at once (native_fourier.c), `np.fft` the rest. The functions return what
their namesakes of `np.fft` return, except for rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import native_pool
from .matrix_products import threads
from .thread_pool import run_all

try:
    from . import _native_fourier as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None

Array = Any
Sizes = Sequence[int] | None

_LARGE = 1 << 17
"""The least elements that threads share: one thread of `np.fft` takes about 0.5 ms for them."""

_PARTS = 16

_SHARED = 1 << 14
"""The least elements that threads of the extension share: one takes about 0.05 ms for them."""

_FEW = 16
"""The least lines that the extension transforms, since a line takes as long as all lanes of a vector."""

_LONG = 1 << 14
"""The longest lines that the extension transforms: a block of them fits into the cache."""


class _Kind(NamedTuple):
    """One of the transforms along one axis."""

    name: str
    is_inverse: bool = False
    takes_real: bool = False
    returns_real: bool = False


_FFT, _IFFT = _Kind("fft"), _Kind("ifft", is_inverse=True)
_RFFT, _IRFFT = _Kind("rfft", takes_real=True), _Kind("irfft", is_inverse=True, returns_real=True)


def fftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Transform complex numbers, cut or padded to `sizes` along `axes`.

    >>> fftn(np.array([1, 2j]), None, [0]).tolist()
    [(1+2j), (1-2j)]
    """
    return _each(_FFT, x, _known(sizes, axes), axes)


def ifftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Invert `fftn`.

    >>> ifftn(np.array([1 + 2j, 1 - 2j]), None, [0]).tolist()
    [(1+0j), 2j]
    """
    return _each(_IFFT, x, _known(sizes, axes), axes)


def rfftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Transform real numbers; the last of `axes` keeps its first half and the middle.

    >>> rfftn(np.array([1.0, 2.0]), None, [0]).tolist()
    [(3+0j), (-1+0j)]
    """
    known = _known(sizes, axes)
    half = _along(_RFFT, x, known[-1], axes[-1])
    return _each(_FFT, half, known[:-1], axes[:-1], may_overwrite=True)


def irfftn(x: Array, sizes: Sizes, axes: Sequence[int]) -> Array:
    """Invert `rfftn`.

    >>> irfftn(np.array([3 + 0j, -1 + 0j]), None, [0]).tolist()
    [1.0, 2.0]
    """
    known = _known(sizes, axes)
    half = _each(_IFFT, x, known[:-1][::-1], axes[:-1][::-1])
    return _along(_IRFFT, half, known[-1], axes[-1])


def _known(sizes: Sizes, axes: Sequence[int]) -> Sequence[int | None]:
    return [None] * len(axes) if sizes is None else sizes


def _each(
    kind: _Kind, x: Array, sizes: Sequence[int | None], axes: Sequence[int], may_overwrite: bool = False
) -> Array:
    """Transform complex numbers along one axis after the other, from the last to the first."""
    given = x
    for size, axis in zip(reversed(sizes), reversed(axes), strict=True):
        x = _along(kind, x, size, axis, may_overwrite or x is not given)
    return x


def _along(kind: _Kind, x: Array, size: int | None, axis: int, may_overwrite: bool = False) -> Array:
    """Transform along one axis, into the memory of `x` if `may_overwrite`."""
    axis %= x.ndim
    length = x.shape[axis]
    n = size or (2 * (length - 1) if kind.returns_real else length)
    if not _has_extension() or x.size < _FEW * length or not _is_fit(n, kind):
        return _shared(getattr(np.fft, kind.name), x, size, axis)
    roots = _roots(n, np.result_type(x, np.complex64))
    x = np.ascontiguousarray(x)
    if may_overwrite and n == length:
        result = x
    else:
        dtype = roots.real.dtype if kind.returns_real else roots.dtype
        count = n // 2 + 1 if kind.takes_real else n
        result = np.empty((*x.shape[:axis], count, *x.shape[axis + 1 :]), dtype)
    crew = threads() if x.size >= _SHARED else 1
    native.transform(x, result, axis, roots, kind.is_inverse, native_pool.addresses()["run_parts"], crew)
    return result


def _has_extension() -> bool:
    return native is not None and native_pool.extension() is not None


def _is_fit(n: int, kind: _Kind) -> bool:
    """Return whether the extension transforms lines of `n` numbers; two real ones count as a complex one."""
    count, rest = divmod(n, 2 if kind.takes_real or kind.returns_real else 1)
    if rest or not 1 <= count <= _LONG:
        return False
    for prime in (2, 3, 5, 7):
        while count % prime == 0:
            count //= prime
    return count == 1


@functools.lru_cache(32)
def _roots(n: int, dtype: np.dtype[Any]) -> Array:
    """Return the powers of the first root of unity."""
    return np.exp(-2j * math.pi / n * np.arange(n)).astype(dtype)


def _shared(transform: Any, x: Array, size: int | None, axis: int) -> Array:
    """Transform along one axis; threads share the longest other axis of a large array."""
    others = [other for other in range(x.ndim) if other != axis]
    if x.size < _LARGE or not others:
        return transform(x, size, axis)
    longest = max(others, key=x.shape.__getitem__)
    count = x.shape[longest]
    before = (slice(None),) * longest
    one = transform(x[(*before, slice(1))], size, axis)
    result = np.empty((*one.shape[:longest], count, *one.shape[longest + 1 :]), one.dtype)

    def part(number: int) -> Any:
        rows = (*before, slice(number * count // _PARTS, (number + 1) * count // _PARTS))
        return lambda: transform(x[rows], size, axis, out=result[rows])

    run_all(*map(part, range(_PARTS)))
    return result
