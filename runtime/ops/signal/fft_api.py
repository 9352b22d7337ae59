"""The Fourier transforms of `tf.signal`: fft, rfft and related ones, along the last axes or along any.

>>> fft([1.0, 0.0]).numpy().tolist(), rfft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
([(1+0j), (1+0j)], [(10+0j), (-2+2j), (-2+0j)])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export
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
    """Return the tensor; ValueError for another dtype, before an operation is created."""
    if x.dtype not in allowed:
        names = " or ".join(dtype.name for dtype in allowed)
        raise ValueError(f"{what} requires {names} inputs, got {x.dtype.name}")
    return x


def _halved(x: TensorLike) -> Tensor:
    """Convert the input of `rfft` and related transforms to a real tensor."""
    return _of_dtype(_as_real(x), "RFFT", dtypes.float32, dtypes.float64)


def _half(x: TensorLike) -> Tensor:
    """Convert the input of `irfft` and related transforms to a complex tensor."""
    return _of_dtype(_as_complex(x), "IRFFT", dtypes.complex64, dtypes.complex128)


@export("signal.fft")
def fft(input: TensorLike, name: Name = None) -> Tensor:
    """Return the Fourier transform of complex numbers along the last axis.

    >>> fft([1.0, 2.0]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    is_complex = isinstance(input, np.ndarray) and input.dtype.kind == "c"
    # Only in `fft`, arrays keep their dtype.
    x = convert_to_tensor(input) if is_complex else _as_complex(input)
    return complex_transform(x, [], (-1,), name)  # type: ignore[no-any-return]


@export("signal.ifft")
def ifft(input: TensorLike, name: Name = None) -> Tensor:
    """Return the inverse Fourier transform along the last axis: the inverse of `fft`.

    >>> ifft([3.0, -1.0]).numpy().tolist()
    [(1+0j), (2+0j)]
    """
    return complex_inverse(_as_complex(input), [], (-1,), name)  # type: ignore[no-any-return]


@export("signal.fft2d")
def fft2d(input: TensorLike, name: Name = None) -> Tensor:
    """Return the Fourier transform of complex numbers along the last two axes.

    >>> fft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """
    return complex_transform(_as_complex(input), [], (-2, -1), name)  # type: ignore[no-any-return]


@export("signal.ifft2d")
def ifft2d(input: TensorLike, name: Name = None) -> Tensor:
    """Return the inverse Fourier transform along the last two axes: the inverse of `fft2d`.

    >>> ifft2d([[3.0, -1.0]]).numpy().tolist()
    [[(1+0j), (2+0j)]]
    """
    return complex_inverse(_as_complex(input), [], (-2, -1), name)  # type: ignore[no-any-return]


@export("signal.fft3d")
def fft3d(input: TensorLike, name: Name = None) -> Tensor:
    """Return the Fourier transform of complex numbers along the last three axes.

    >>> fft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """
    return complex_transform(_as_complex(input), [], (-3, -2, -1), name)  # type: ignore[no-any-return]


@export("signal.ifft3d")
def ifft3d(input: TensorLike, name: Name = None) -> Tensor:
    """Return the inverse Fourier transform along the last three axes: the inverse of `fft3d`.

    >>> ifft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[(1+0j), (2+0j)]]]
    """
    return complex_inverse(_as_complex(input), [], (-3, -2, -1), name)  # type: ignore[no-any-return]


def _length(fft_length: Any) -> Any:
    return [] if fft_length is None else fft_length


@export("signal.rfft")
def rfft(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """Return the Fourier transform of real numbers along the last axis.

    The result has `n // 2 + 1` numbers for an input of size `n`.

    Args:
        fft_length: a vector of one number: truncate the input to this length, or pad it with zeros.

    >>> rfft([1.0, 2.0], [4]).numpy().tolist()
    [(3+0j), (1-2j), (-1+0j)]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-1,), name)  # type: ignore[no-any-return]


@export("signal.irfft")
def irfft(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """Invert `rfft`: return `2 * (n - 1)` numbers for an input of size `n`, or `fft_length` numbers.

    >>> irfft([3.0, -1.0]).numpy().tolist()
    [1.0, 2.0]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-1,), name)  # type: ignore[no-any-return]


@export("signal.rfft2d")
def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """Compute `rfft` along the last two axes.

    >>> rfft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-2, -1), name)  # type: ignore[no-any-return]


@export("signal.irfft2d")
def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """Invert `rfft2d`.

    >>> irfft2d([[3.0, -1.0]]).numpy().tolist()
    [[1.0, 2.0]]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-2, -1), name)  # type: ignore[no-any-return]


@export("signal.rfft3d")
def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """Compute `rfft` along the last three axes.

    >>> rfft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-3, -2, -1), name)  # type: ignore[no-any-return]


@export("signal.irfft3d")
def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """Invert `rfft3d`.

    >>> irfft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[1.0, 2.0]]]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-3, -2, -1), name)  # type: ignore[no-any-return]


def _named_axes(x: Tensor, fft_length: Any, axes: Any) -> tuple[int, ...]:
    """Return the axes of an n-dimensional transform as negative numbers: all axes, or the last few."""
    if axes is not None:
        rank = x.shape.rank
        chosen = [int(axis) for axis in np.ravel(axes)]
        if rank is None and min(chosen, default=-1) >= 0:
            raise ValueError(
                "an n-dimensional transform along axes counted from the front needs a known rank"
            )
        return tuple(axis if axis < 0 else axis - (rank or 0) for axis in chosen)
    count = x.shape.rank if fft_length is None else convert_to_tensor(fft_length, dtypes.int32).shape[0]
    if count is None:
        raise ValueError(
            "an n-dimensional transform needs `axes`, the rank of its input or the number of lengths"
        )
    return tuple(range(-count, 0))


def _scaled(result: Tensor, whole: Any, axes: tuple[int, ...], norm: str | None, inverse: bool) -> Tensor:
    """Scale the result to the normalization `norm`; `whole` has the transform's full size."""
    if norm in (None, "backward"):
        return result
    if norm not in ("ortho", "forward"):
        raise ValueError(f"norm must be None, 'backward', 'ortho' or 'forward', not {norm!r}")
    number = number_of(whole, axes, result.dtype)
    factor = number if norm == "forward" else number**0.5
    return result * factor if inverse else result / factor  # type: ignore[no-any-return]


@export("signal.fftnd")
def fftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Return the Fourier transform of complex numbers along `axes`: by default all, or the last ones by `fft_length`.

    Args:
        fft_length: the length for each axis, to which the input is truncated or padded with zeros.
        norm: "backward" (or None) to scale the inverse by 1/n, "forward" to scale this transform, "ortho" to
            scale both by the root.

    >>> fftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = complex_transform(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=False)


@export("signal.ifftnd")
def ifftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Invert `fftnd`.

    >>> ifftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = complex_inverse(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=True)


@export("signal.rfftnd")
def rfftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Compute `fftnd` of real numbers: the last of `axes` keeps its first half and the middle.

    >>> rfftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    x = _as_real(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = real_transform(x, _length(fft_length), axes, name)
    whole = x
    if fft_length is not None:
        for position, axis in enumerate(axes):
            whole = resized(whole, convert_to_tensor(fft_length, dtypes.int32)[position], axis)
    return _scaled(result, whole, axes, norm, inverse=False)


@export("signal.irfftnd")
def irfftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Invert `rfftnd`.

    >>> irfftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = real_inverse(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=True)


@export("signal.fftshift")
def fftshift(x: TensorLike, axes: Any = None, name: Name = None) -> Tensor:
    """Shift the element 0 of each axis (or of `axes`) of `x` to the middle.

    >>> fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(convert_to_tensor(x), axes, name, back=False)


@export("signal.ifftshift")
def ifftshift(x: TensorLike, axes: Any = None, name: Name = None) -> Tensor:
    """Invert `fftshift`.

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
