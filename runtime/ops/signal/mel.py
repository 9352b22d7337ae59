"""The mel scale, and mel-frequency cepstral coefficients.

>>> linear_to_mel_weight_matrix(3, 8).shape
TensorShape([8, 3])
"""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.concat_split import concat
from ..arrays.creation import constant, zeros
from ..arrays.ranges import linspace
from ..arrays.reshape import expand_dims, reshape
from ..arrays.shape_ops import shape as shape_of
from ..framework.op import Name
from ..math.arithmetic import maximum, minimum
from ..math.cast import cast
from ..math.elementwise import log, rsqrt
from .dct import dct

_BREAK_FREQUENCY = 700.0
_HIGH_FREQUENCY_Q = 1127.0
"""Constants of the mel scale of the HTK book (Young et al.): `1127 * log(1 + f / 700)`."""


@export("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Return a matrix that maps spectra to the mel scale by `spectra @ matrix`, with half-overlapping triangles.

    Args:
        num_mel_bins: the number of columns.
        num_spectrogram_bins: the number of elements of a spectrum, from 0 to half of the sample rate.
        sample_rate: samples per second.
        lower_edge_hertz, upper_edge_hertz: the frequencies that the triangles cover.
        dtype: a floating point dtype.

    >>> linear_to_mel_weight_matrix(2, 4).numpy().round(2).tolist()
    [[0.0, 0.0], [0.4000000059604645, 0.6000000238418579], [0.0, 0.5099999904632568], [0.0, 0.0]]
    """
    kind = dtypes.as_dtype(dtype)
    _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, kind)
    rate = cast(sample_rate, kind)
    nyquist = rate / 2
    low, high = constant(lower_edge_hertz, kind), constant(upper_edge_hertz, kind)
    frequencies = linspace(constant(0.0, kind), nyquist, num_spectrogram_bins)[1:]
    mels = expand_dims(_mel(frequencies), 1)
    edges = linspace(_mel(low), _mel(high), num_mel_bins + 2)
    left, middle, right = (reshape(edges[i : num_mel_bins + i], [1, -1]) for i in range(3))
    rising, falling = (mels - left) / (middle - left), (right - mels) / (right - middle)
    weights = maximum(constant(0.0, kind), minimum(rising, falling))
    return concat([zeros([1, num_mel_bins], kind), weights], 0)  # type: ignore[no-any-return]


def _mel(frequencies: Tensor) -> Tensor:
    return _HIGH_FREQUENCY_Q * log(1.0 + frequencies / _BREAK_FREQUENCY)  # type: ignore[no-any-return]


def _check(bins: int, rate: Any, low: float, high: float, dtype: dtypes.DType) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if low < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low} >= upper_edge_hertz {high}")
    if not isinstance(rate, Tensor):
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {rate}")
        if high > rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                f"Got {high} for sample_rate: {rate}"
            )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


@export("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: Name = None) -> Tensor:
    """Return cepstral coefficients: the cosine transform of logarithmic mel spectra.

    >>> mfccs_from_log_mel_spectrograms([[1., 1.]]).numpy().round(3).tolist()
    [[2.0, 0.0]]
    """
    spectra = convert_to_tensor(log_mel_spectrograms)
    bins = spectra.shape.sizes[-1] if spectra.shape.sizes else None
    if bins == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {spectra}")
    if bins is not None:
        return dct(spectra, type=2) * (1 / math.sqrt(bins * 2.0))
    return dct(spectra, type=2) * rsqrt(cast(shape_of(spectra)[-1] * 2, spectra.dtype))  # type: ignore[no-any-return]
