"""The Fourier transforms of `tf.signal`: fft, rfft and related ones, along the last axes or along any.

>>> fft([1.0, 0.0]).numpy().tolist(), rfft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
([(1+0j), (1+0j)], [(10+0j), (-2+2j), (-2+0j)])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export, export_member
from ...core.tensor import Tensor
from ..arrays.ranges import range as count_up
from ..arrays.reverse_and_roll import roll
from ..arrays.shape_ops import shape as shape_of
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name, Op
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
@cached_dispatch
def fft(input: TensorLike, name: Name = None) -> Tensor:
    """Return the Fourier transform of complex numbers along the last axis.

    >>> fft([1.0, 2.0]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    is_complex = isinstance(input, np.ndarray) and input.dtype.kind == "c"
    # Only in `fft`, arrays keep their dtype.
    x = convert_to_tensor(input) if is_complex else _as_complex(input)
    return complex_transform(x, [], (-1,), name)  # type: ignore[no-any-return]


def _of_complex(name: str, transform: Op, axes: tuple[int, ...], manual: str) -> Callable[..., Tensor]:
    """Declare a transform of complex numbers along the last axes."""

    @cached_dispatch
    def transformed(input: TensorLike, name: Name = None) -> Tensor:
        return transform(_as_complex(input), [], axes, name)  # type: ignore[no-any-return]

    return export_member(transformed, manual, export=(f"signal.{name}",))


ifft = _of_complex("ifft", complex_inverse, (-1,), """Return the inverse of `fft`.

    >>> ifft([3.0, -1.0]).numpy().tolist()
    [(1+0j), (2+0j)]
    """)  # fmt: skip
fft2d = _of_complex("fft2d", complex_transform, (-2, -1), """Return the Fourier transform along the last two axes.

    >>> fft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """)  # fmt: skip
ifft2d = _of_complex("ifft2d", complex_inverse, (-2, -1), """Return the inverse of `fft2d`.

    >>> ifft2d([[3.0, -1.0]]).numpy().tolist()
    [[(1+0j), (2+0j)]]
    """)  # fmt: skip
fft3d = _of_complex("fft3d", complex_transform, (-3, -2, -1), """Return the Fourier transform along the last three axes.

    >>> fft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """)  # fmt: skip
ifft3d = _of_complex("ifft3d", complex_inverse, (-3, -2, -1), """Return the inverse of `fft3d`.

    >>> ifft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[(1+0j), (2+0j)]]]
    """)  # fmt: skip


def _length(fft_length: Any) -> Any:
    return [] if fft_length is None else fft_length


def _of_real(
    name: str, transform: Op, read: Callable[[TensorLike], Tensor], axes: tuple[int, ...], manual: str
) -> Callable[..., Tensor]:
    """Declare a transform of real numbers along the last axes, or its inverse."""

    @cached_dispatch
    def transformed(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
        return transform(read(input_tensor), _length(fft_length), axes, name)  # type: ignore[no-any-return]

    return export_member(transformed, manual, export=(f"signal.{name}",))


rfft = _of_real("rfft", real_transform, _halved, (-1,), """Return the Fourier transform of real numbers.

    It is along the last axis, and has `n // 2 + 1` numbers for an input of size `n`.

    Args:
        fft_length: a vector of one number: truncate the input to this length, or pad it with zeros.

    >>> rfft([1.0, 2.0], [4]).numpy().tolist()
    [(3+0j), (1-2j), (-1+0j)]
    """)  # fmt: skip
irfft = _of_real("irfft", real_inverse, _half, (-1,), """Invert `rfft`.

    The result has `2 * (n - 1)` numbers for an input of size `n`, or `fft_length` numbers.

    >>> irfft([3.0, -1.0]).numpy().tolist()
    [1.0, 2.0]
    """)  # fmt: skip
rfft2d = _of_real("rfft2d", real_transform, _halved, (-2, -1), """Compute `rfft` along the last two axes.

    >>> rfft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """)  # fmt: skip
irfft2d = _of_real("irfft2d", real_inverse, _half, (-2, -1), """Invert `rfft2d`.

    >>> irfft2d([[3.0, -1.0]]).numpy().tolist()
    [[1.0, 2.0]]
    """)  # fmt: skip
rfft3d = _of_real("rfft3d", real_transform, _halved, (-3, -2, -1), """Compute `rfft` along the last three axes.

    >>> rfft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """)  # fmt: skip
irfft3d = _of_real("irfft3d", real_inverse, _half, (-3, -2, -1), """Invert `rfft3d`.

    >>> irfft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[1.0, 2.0]]]
    """)  # fmt: skip


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


def _along_any(
    name: str, transform: Op, read: Callable[[TensorLike], Tensor], manual: str
) -> Callable[..., Tensor]:
    """Declare a transform along any axes; only a transform of real numbers is smaller than its input."""

    def transformed(
        input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None,
        name: Name = None,
    ) -> Tensor:  # fmt: skip
        x = read(input_tensor)
        axes = _named_axes(x, fft_length, axes)
        result = whole = transform(x, _length(fft_length), axes, name)
        if transform is real_transform and norm not in (None, "backward"):
            whole = x
            for position, axis in enumerate(axes if fft_length is not None else ()):
                whole = resized(whole, convert_to_tensor(fft_length, dtypes.int32)[position], axis)
        return _scaled(result, whole, axes, norm, inverse=transform in (complex_inverse, real_inverse))

    return export_member(transformed, manual, export=(f"signal.{name}",))


fftnd = _along_any("fftnd", complex_transform, _as_complex, """Return the Fourier transform along `axes`.

    Args:
        fft_length: the length for each axis, to which the input is truncated or padded with zeros.
        axes: by default all, or the last ones by `fft_length`.
        norm: "backward" (or None) to scale the inverse by 1/n, "forward" to scale this transform, "ortho" to
            scale both by the root.

    >>> fftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """)  # fmt: skip
ifftnd = _along_any("ifftnd", complex_inverse, _as_complex, """Invert `fftnd`.

    >>> ifftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """)  # fmt: skip
rfftnd = _along_any("rfftnd", real_transform, _as_real, """Compute `fftnd` of real numbers.

    The last of `axes` keeps its first half and the middle.

    >>> rfftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """)  # fmt: skip
irfftnd = _along_any("irfftnd", real_inverse, _as_complex, """Invert `rfftnd`.

    >>> irfftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """)  # fmt: skip


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
