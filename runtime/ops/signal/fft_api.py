"""Fourier transforms by their names: fft, rfft and their kin, along the last axes or along any.

>>> fft([1.0, 0.0]).numpy().tolist(), rfft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
([(1+0j), (1+0j)], [(10+0j), (-2+2j), (-2+0j)])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.tensor import Tensor
from ..arrays.ranges import range as count_up
from ..arrays.shape_ops import shape as shape_of
from ..arrays.tile_and_pad import roll
from ..framework.op import Name
from .fft_primitive import (
    complex_inverse,
    complex_transform,
    number_of,
    real_inverse,
    real_transform,
    resized,
)


def _as_complex(x: TensorLike) -> Tensor:
    return convert_to_tensor(x, None if is_tensor_like(x) else dtypes.complex64)


def _as_real(x: TensorLike) -> Tensor:
    return convert_to_tensor(x, None if is_tensor_like(x) else dtypes.float32)


def _of_dtype(x: Tensor, what: str, *allowed: dtypes.DType) -> Tensor:
    """The tensor; ValueError for another dtype, which is checked before there is an operation."""
    if x.dtype not in allowed:
        names = " or ".join(dtype.name for dtype in allowed)
        raise ValueError(f"{what} requires {names} inputs, got {x.dtype.name}")
    return x


def _halved(x: TensorLike) -> Tensor:
    """The numbers that the transforms of real numbers take."""
    return _of_dtype(_as_real(x), "RFFT", dtypes.float32, dtypes.float64)


def _half(x: TensorLike) -> Tensor:
    """The numbers that go back to real ones."""
    return _of_dtype(_as_complex(x), "IRFFT", dtypes.complex64, dtypes.complex128)


def fft(input: TensorLike, name: Name = None) -> Tensor:
    """The Fourier transform along the last axis, of complex numbers.

    >>> fft([1.0, 2.0]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    is_complex = isinstance(input, np.ndarray) and input.dtype.kind == "c"
    # In `fft` alone, arrays keep their dtype.
    x = convert_to_tensor(input) if is_complex else _as_complex(input)
    return complex_transform(x, [], (-1,), name)  # type: ignore[no-any-return]


def ifft(input: TensorLike, name: Name = None) -> Tensor:
    """What takes `fft` back.

    >>> ifft([3.0, -1.0]).numpy().tolist()
    [(1+0j), (2+0j)]
    """
    return complex_inverse(_as_complex(input), [], (-1,), name)  # type: ignore[no-any-return]


def fft2d(input: TensorLike, name: Name = None) -> Tensor:
    """The Fourier transform along the last two axes, of complex numbers.

    >>> fft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """
    return complex_transform(_as_complex(input), [], (-2, -1), name)  # type: ignore[no-any-return]


def ifft2d(input: TensorLike, name: Name = None) -> Tensor:
    """What takes `fft2d` back.

    >>> ifft2d([[3.0, -1.0]]).numpy().tolist()
    [[(1+0j), (2+0j)]]
    """
    return complex_inverse(_as_complex(input), [], (-2, -1), name)  # type: ignore[no-any-return]


def fft3d(input: TensorLike, name: Name = None) -> Tensor:
    """The Fourier transform along the last three axes, of complex numbers.

    >>> fft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """
    return complex_transform(_as_complex(input), [], (-3, -2, -1), name)  # type: ignore[no-any-return]


def ifft3d(input: TensorLike, name: Name = None) -> Tensor:
    """What takes `fft3d` back.

    >>> ifft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[(1+0j), (2+0j)]]]
    """
    return complex_inverse(_as_complex(input), [], (-3, -2, -1), name)  # type: ignore[no-any-return]


def _length(fft_length: Any) -> Any:
    return [] if fft_length is None else fft_length


def rfft(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """The Fourier transform along the last axis, of real numbers: `n // 2 + 1` numbers of `n`.

    Args:
        fft_length: a vector of one number: cut the input to this length, or add zeros.

    >>> rfft([1.0, 2.0], [4]).numpy().tolist()
    [(3+0j), (1-2j), (-1+0j)]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-1,), name)  # type: ignore[no-any-return]


def irfft(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """What takes `rfft` back: `2 * (n - 1)` numbers of `n`, or as many as `fft_length` says.

    >>> irfft([3.0, -1.0]).numpy().tolist()
    [1.0, 2.0]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-1,), name)  # type: ignore[no-any-return]


def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """`rfft` along the last two axes.

    >>> rfft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-2, -1), name)  # type: ignore[no-any-return]


def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """What takes `rfft2d` back.

    >>> irfft2d([[3.0, -1.0]]).numpy().tolist()
    [[1.0, 2.0]]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-2, -1), name)  # type: ignore[no-any-return]


def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """`rfft` along the last three axes.

    >>> rfft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-3, -2, -1), name)  # type: ignore[no-any-return]


def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """What takes `rfft3d` back.

    >>> irfft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[1.0, 2.0]]]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-3, -2, -1), name)  # type: ignore[no-any-return]


def _named_axes(x: Tensor, fft_length: Any, axes: Any) -> tuple[int, ...]:
    """The axes of an n-dimensional transform, counted from the end: all of them, or the last few."""
    if axes is not None:
        rank = x.shape.rank
        chosen = [int(axis) for axis in np.ravel(axes)]
        if rank is None and min(chosen, default=-1) >= 0:
            raise ValueError(
                "an n-dimensional transform along axes counted from the front needs to know the rank"
            )
        return tuple(axis if axis < 0 else axis - (rank or 0) for axis in chosen)
    count = x.shape.rank if fft_length is None else convert_to_tensor(fft_length, dtypes.int32).shape[0]
    if count is None:
        raise ValueError(
            "an n-dimensional transform needs `axes`, the rank of its input or the number of lengths"
        )
    return tuple(range(-count, 0))


def _scaled(result: Tensor, whole: Any, axes: tuple[int, ...], norm: str | None, inverse: bool) -> Tensor:
    """The result in another normalisation: of `whole`, which is as long as the real or complex side."""
    if norm in (None, "backward"):
        return result
    if norm not in ("ortho", "forward"):
        raise ValueError(f"norm must be None, 'backward', 'ortho' or 'forward', not {norm!r}")
    number = number_of(whole, axes, result.dtype)
    factor = number if norm == "forward" else number**0.5
    return result * factor if inverse else result / factor  # type: ignore[no-any-return]


def fftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """The Fourier transform along `axes` (all, or as many of the last as there are lengths), of complex numbers.

    Args:
        fft_length: for each axis the length to cut the input to, or to fill up with zeros.
        norm: "backward" (or None) to divide in the inverse, "forward" to divide here, "ortho" for the root in both.

    >>> fftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = complex_transform(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=False)


def ifftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """What takes `fftnd` back.

    >>> ifftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = complex_inverse(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=True)


def rfftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """`fftnd` of real numbers: of the last of `axes`, the first half and the middle.

    >>> rfftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    x = _as_real(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = real_transform(x, _length(fft_length), axes, name)
    whole = x
    if fft_length is not None:
        for place, axis in enumerate(axes):
            whole = resized(whole, convert_to_tensor(fft_length, dtypes.int32)[place], axis)
    return _scaled(result, whole, axes, norm, inverse=False)


def irfftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """What takes `rfftnd` back.

    >>> irfftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = real_inverse(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=True)


def fftshift(x: TensorLike, axes: Any = None, name: Name = None) -> Tensor:
    """`x` with the element 0 of each axis (or of `axes`) moved to the middle.

    >>> fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(convert_to_tensor(x), axes, name, back=False)


def ifftshift(x: TensorLike, axes: Any = None, name: Name = None) -> Tensor:
    """What takes `fftshift` back.

    >>> ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted(convert_to_tensor(x), axes, name, back=True)


def _shifted(x: Tensor, axes: Any, name: Name, back: bool) -> Tensor:
    sizes = shape_of(x)
    if axes is None:
        middles = sizes // 2
        return roll(x, -middles if back else middles, count_up(shape_of(sizes)[0]), name)  # type: ignore[no-any-return]
    chosen = [int(axis) for axis in np.ravel(axes)]
    middles = [sizes[axis] // 2 for axis in chosen]
    return roll(x, [-middle if back else middle for middle in middles], chosen, name)  # type: ignore[no-any-return]
