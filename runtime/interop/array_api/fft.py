"""The extension `fft` of the array API: Fourier transforms along any axis, of any length.

>>> fft([1.0, 2.0]).numpy().tolist()
[(3+0j), (-1+0j)]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...dtypes import DType
from ...ops.arrays import reverse_and_roll, shape_ops
from ...ops.math.cast import cast
from ...ops.math.elementwise import conj
from ...ops.signal import fft_primitive
from .data_types import FLOATING, REAL_FLOATING, axis_of, named, rank_of, read_dtype, refuse_device, tensor_of
from .manipulation import axes_of

_NORMS = ("backward", "ortho", "forward")
_WHOLES = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def _along_one(name: str, manual: str) -> Callable[..., Tensor]:
    def function(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        return _along(name, x, _one(n), (axis,), norm)

    named(function, name, manual)
    return function


def _along_several(name: str, manual: str) -> Callable[..., Tensor]:
    def function(
        x: Any,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Tensor:
        return _along(name, x, s, axes, norm)

    named(function, name, manual)
    return function


fft = _along_one(
    "fft", "The Fourier transform along an axis, truncated or padded with zeros to the length `n`."
)
ifft = _along_one("ifft", "The inverse of `fft`.")
rfft = _along_one(
    "rfft", "The Fourier transform of real numbers, without its redundant negative frequencies."
)
irfft = _along_one("irfft", "The inverse of `rfft`: `n` real numbers.")
fftn = _along_several("fftn", "The Fourier transform along some axes: by default all, or the last `len(s)`.")
ifftn = _along_several("ifftn", "The inverse of `fftn`.")
rfftn = _along_several(
    "rfftn", "The transform of real numbers, without redundancy along the last of the axes."
)
irfftn = _along_several("irfftn", "The inverse of `rfftn`.")


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the Fourier transform, which is real, of a Hermitian-symmetric signal given by its first half."""
    return _along("irfft", conj(tensor_of(x, FLOATING, "hfft")), _one(n), (axis,), _opposite(norm))


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the inverse of `hfft`."""
    return conj(_along("rfft", tensor_of(x, REAL_FLOATING, "ihfft"), _one(n), (axis,), _opposite(norm)))


def _one(n: int | None) -> list[int] | None:
    return None if n is None else [n]


def _opposite(norm: str) -> str:
    """Return the norm with the same factor for the transform in the other direction."""
    return {"backward": "forward", "forward": "backward"}.get(norm, norm)


def _along(function: str, x: Any, sizes: Any, axes: Any, norm: str) -> Tensor:
    """Return the transform of these lengths along these axes, in a supported dtype."""
    if norm not in _NORMS:
        raise ValueError(f"{function}: norm is {', '.join(map(repr, _NORMS))}, not {norm!r}")
    of_reals, inverse = function.startswith("rfft"), function.startswith("i")
    tensor = tensor_of(x, REAL_FLOATING if of_reals else FLOATING, function)
    if not of_reals and tensor.dtype in _WHOLES:
        tensor = cast(tensor, _WHOLES[tensor.dtype])
    dims = _dims(tensor, sizes, axes, function)
    lengths = _lengths(tensor, sizes, dims, function)
    transform = {
        "fft": fft_primitive.complex_transform,
        "ifft": fft_primitive.complex_inverse,
        "rfft": fft_primitive.real_transform,
        "irfft": fft_primitive.real_inverse,
    }[function.rstrip("n")]
    found = transform(tensor, lengths, dims)
    return _scaled(found, lengths, norm, inverse)


def _dims(x: Tensor, sizes: Any, axes: Any, function: str) -> list[int]:
    rank = rank_of(x, function)
    if axes is None:
        first = 0 if sizes is None else rank - len(sizes)
        return list(range(first, rank))
    dims = [axis_of(axis, rank, function) for axis in axes]
    if sizes is not None and len(sizes) != len(dims):
        raise ValueError(f"{function}: {len(sizes)} lengths for {len(dims)} axes")
    return dims


def _lengths(x: Tensor, sizes: Any, dims: list[int], function: str) -> list[Any]:
    """Return the length of the transform along each axis: an int where it is known."""
    if sizes is not None:
        return list(sizes)
    given = shape_ops.shape(x)
    known = [given[dim] if x.shape[dim] is None else x.shape[dim] for dim in dims]
    if function.startswith("irfft"):
        known[-1] = 2 * (known[-1] - 1)
    return known


def _scaled(x: Tensor, lengths: list[Any], norm: str, inverse: bool) -> Tensor:
    """Return a transform scaled for `norm`; the kernels' scaling is "backward"."""
    if norm == "backward":
        return x
    number: Any = math.prod(lengths) if all(isinstance(each, int) for each in lengths) else 1.0
    if not isinstance(number, int):
        for each in lengths:
            number = number * cast(each, dtypes.float64)
    factor = cast(number, dtypes.float64) ** (0.5 if norm == "ortho" else 1.0)
    factor = cast(factor, x.dtype)
    return x * factor if inverse else x / factor


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the frequencies of a transform of `n` elements with the spacing `d`."""
    refuse_device(device)
    return convert_to_tensor(np.fft.fftfreq(n, d).astype(_frequencies(dtype).numpy_dtype))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """Return the frequencies of the elements of `rfft`."""
    refuse_device(device)
    return convert_to_tensor(np.fft.rfftfreq(n, d).astype(_frequencies(dtype).numpy_dtype))


def _frequencies(dtype: Any) -> DType:
    wanted = dtypes.float32 if dtype is None else read_dtype(dtype)
    if wanted not in REAL_FLOATING:
        raise TypeError(f"frequencies are float32 or float64, not {wanted.name}")
    return wanted


def fftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Return the elements with frequency 0 moved to the middle."""
    return _shifted(tensor_of(x, FLOATING, "fftshift"), axes, lambda size: size // 2)


def ifftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Return the inverse of `fftshift`."""
    return _shifted(tensor_of(x, FLOATING, "ifftshift"), axes, lambda size: -(size // 2))


def _shifted(x: Tensor, axes: Any, shift: Any) -> Tensor:
    dims, sizes = axes_of(axes, x, "fftshift"), shape_ops.shape(x)
    return reverse_and_roll.roll(x, [shift(sizes[dim]) for dim in dims], dims) if dims else x


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip
