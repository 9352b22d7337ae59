"""Short-time Fourier transforms and modified cosine transforms of signals, and their inverses.

>>> stft([0., 1., 2., 3., 4., 5.], frame_length=4, frame_step=2).numpy().shape
(2, 3)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ..arrays.concat_split import concat, split
from ..arrays.reshape import reshape
from ..arrays.reverse_and_roll import reverse
from ..arrays.shape_ops import shape as shape_of
from ..arrays.tile_and_repeat import tile
from ..framework.op import Name
from ..math.cast import cast
from ..math.elementwise import ceil, log, square
from ..reduce.reductions import reduce_sum
from .dct import dct, idct
from .fft_api import irfft, rfft
from .fft_primitive import resized
from .frame import frame, overlap_and_add
from .window_functions import hann_window, vorbis_window

WindowFn = Callable[..., Tensor]


def _scalar(value: Any, what: str) -> Tensor:
    number = convert_to_tensor(value)
    if number.shape.rank not in (None, 0):
        raise ValueError(f"{what} must be a scalar: shape {number.shape} must have rank 0")
    return cast(number, dtypes.int32)


def _sizes(size: int | Tensor) -> Any:
    """Return a vector of one size; a known one as a number, so that a trace has the static shape of the result."""
    return [int(size)] if isinstance(size, (int, EagerTensor)) else reshape(size, [1])


def _enclosing_power_of_two(size: Any) -> Any:
    """Return the smallest power of two that is at least `size`."""
    if isinstance(size, int):
        return 1 << max(size - 1, 0).bit_length()
    number = convert_to_tensor(size)
    root = ceil(log(cast(number, dtypes.float32)) / math.log(2))
    return cast(2.0**root, dtypes.int32)


@export("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: WindowFn | None = hann_window,
    pad_end: bool = False,
    name: Name = None,
) -> Tensor:
    """Return the short-time Fourier transform: `rfft` of the frames of signals, weighted by a window.

    Args:
        signals: real numbers, the samples in the last axis.
        frame_length, frame_step: the size and distance of frames, as in `frame`.
        fft_length: the size of the transforms; by default the smallest power of two that holds a frame.
        window_fn: a function of a length and `dtype` that returns a window; None for no window.
        pad_end: also use the last frames, which end after the signal.

    >>> stft([1., 1., 1., 1.], 4, 2, window_fn=None).numpy().tolist()
    [[(4+0j), 0j, 0j]]
    """
    signals = convert_to_tensor(signals)
    length, step = _scalar(frame_length, "frame_length"), _scalar(frame_step, "frame_step")
    size = _enclosing_power_of_two(frame_length) if fft_length is None else _scalar(fft_length, "fft_length")
    frames = frame(signals, length, step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=signals.dtype)
    return rfft(frames, _sizes(size))


@export("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: WindowFn | None = hann_window,
    name: Name = None,
) -> Tensor:
    """Reconstruct signals from spectra: transform the frames back, weight them, and overlap-add them.

    With a window from `inverse_stft_window_fn` this inverts `stft`, except for the ends of the signals.

    >>> spectra = stft([1., 2., 3., 4., 5., 6.], 4, 2)
    >>> signal = inverse_stft(spectra, 4, 2, window_fn=inverse_stft_window_fn(2))
    >>> signal.numpy().round(3).tolist()[2:4]
    [3.0, 4.0]
    """
    stfts = convert_to_tensor(stfts)
    length, step = _scalar(frame_length, "frame_length"), _scalar(frame_step, "frame_step")
    size = _enclosing_power_of_two(frame_length) if fft_length is None else _scalar(fft_length, "fft_length")
    frames = resized(irfft(stfts, _sizes(size)), length)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, step)


@export("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: WindowFn = hann_window, name: Name = None
) -> Callable[..., Tensor]:
    """Return the window function for `inverse_stft` that compensates the window of `stft`.

    >>> inverse_stft_window_fn(2)(4, dtype=dtypes.float32).numpy().tolist()
    [0.0, 1.0, 1.0, 1.0]
    """

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        length, step = _scalar(frame_length, "frame_length"), _scalar(frame_step, "frame_step")
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        rows = reshape(resized(square(forward), overlaps * step), concat_sizes(overlaps, step))
        weights = tile(reduce_sum(rows, 0, True), concat_sizes(overlaps, 1))
        return forward / reshape(weights, [-1])[:length]  # type: ignore[no-any-return]

    return inverse_window


def concat_sizes(rows: Any, columns: Any) -> Tensor:
    """Return a shape of two sizes.

    >>> concat_sizes(2, 3).numpy().tolist()
    [2, 3]
    """
    sizes = [reshape(cast(size, dtypes.int32), [1]) for size in (rows, columns)]
    return concat(sizes, 0)  # type: ignore[no-any-return]


@export("signal.mdct")
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: WindowFn | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Return the modified discrete cosine transform of half-overlapping frames: half as many numbers per frame.

    Args:
        signals: real numbers, the samples in the last axis.
        frame_length: a multiple of 4.
        window_fn: a function of a length and `dtype` that returns a window; None for the constant `1 / sqrt(2)`.
        pad_end: also use the last frames, which end after the signal.
        norm: "ortho", or None.

    >>> mdct([0., 1., 2., 3., 4., 5.], 4).shape
    TensorShape([2, 2])
    """
    signals = convert_to_tensor(signals)
    length = _scalar(frame_length, "frame_length")
    if isinstance(frame_length, int) and frame_length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(signals, length, length // 2, pad_end=pad_end)
    frames = frames * _window(window_fn, length, frames.dtype)
    a, b, c, d = split(frames, 4, -1)
    folded = concat([-_reversed(c) - d, a - _reversed(b)], -1)
    return dct(folded, type=4, norm=norm)


@export("signal.inverse_mdct")
def inverse_mdct(
    mdcts: Any, window_fn: WindowFn | None = vorbis_window, norm: str | None = None, name: Name = None
) -> Tensor:
    """Invert `mdct` with the same `window_fn` and `norm`, except for the ends of the signals.

    >>> inverse_mdct(mdct([0., 1., 2., 3., 4., 5.], 4)).numpy().round(3).tolist()[2:4]
    [2.0, 3.0]
    """
    mdcts = convert_to_tensor(mdcts)
    half = shape_of(mdcts)[-1]
    folded = idct(mdcts, type=4, norm=norm)
    if norm is None:
        folded = folded * (0.5 / cast(half, folded.dtype))
    first, second = split(folded, 2, -1)
    frames = concat([second, -_reversed(second), -_reversed(first), -first], -1)
    return overlap_and_add(frames * _window(window_fn, half * 2, frames.dtype), half)


def _reversed(x: Tensor) -> Tensor:
    last = x.shape.rank - 1 if x.shape.rank is not None else reshape(shape_of(shape_of(x)), []) - 1
    return reverse(x, reshape(last, [1]))  # type: ignore[no-any-return]


def _window(window_fn: WindowFn | None, length: Tensor, dtype: dtypes.DType) -> Any:
    return math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=dtype)
