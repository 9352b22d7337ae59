"""Fourier transforms. In ONNX the last axis has the real and the imaginary part, or one real number."""

from __future__ import annotations

from typing import Any

from .....core.shapes import normal_axis
from .....ops.arrays.concat_split import stack
from .....ops.arrays.reshape import expand_dims
from .....ops.math.cast import cast
from .....ops.math.cast import complex as complex_of
from .....ops.math.elementwise import imag, real
from .....ops.signal.fft_api import fftnd, ifftnd, irfftnd, rfftnd
from .....ops.signal.frame import frame
from .registry import OperatorCall, numbers, operator, rank_of


@operator("DFT")
def _(call: OperatorCall, x: Any, length: Any = None, axis: Any = None) -> Any:
    number = call.get("axis", 1) if call.opset < 20 else -2
    number = number if axis is None else numbers(axis, "the axis")[0]
    place = normal_axis(number, rank_of(x))
    if place == rank_of(x) - 1:
        raise ValueError("axis is that of the real and imaginary parts")
    size = None if length is None else [numbers(length, "the length of a transform")[0]]
    values = _numbers(x)
    if not call.get("onesided", 0):
        return _parts((ifftnd if call.get("inverse", 0) else fftnd)(_as_complex(values), size, [place]))
    if call.get("inverse", 0):
        return expand_dims(irfftnd(_as_complex(values), size, [place]), -1)
    return _parts(rfftnd(_real(values), size, [place]))


@operator("STFT")
def _(call: OperatorCall, signal: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    (distance,) = numbers(step, "the distance of frames")
    size = numbers(length, "the length of a frame")[0] if length is not None else window.shape[0]
    values = signal if rank_of(signal) == 2 else _numbers(signal)
    frames = frame(values, size, distance)
    if window is not None:
        frames = frames * cast(window, frames.dtype)
    if call.get("onesided", 1):
        return _parts(rfftnd(_real(frames), axes=[-1]))
    return _parts(fftnd(_as_complex(frames), axes=[-1]))


def _numbers(x: Any) -> Any:
    """Return real or complex numbers for what the last axis has."""
    return x[..., 0] if x.shape[-1] == 1 else complex_of(x[..., 0], x[..., 1])


def _as_complex(x: Any) -> Any:
    return x if x.dtype.is_complex else complex_of(x, x * 0.0)


def _real(x: Any) -> Any:
    if x.dtype.is_complex:
        raise ValueError("onesided is 1 for complex numbers")
    return x


def _parts(x: Any) -> Any:
    return stack([real(x), imag(x)], -1)
