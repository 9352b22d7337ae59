"""The namespace `tf.signal`: Fourier and cosine transforms, frames, windows, spectra, with TensorFlow's names."""
# Namespace signal: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.signal.dct import dct, idct
from .ops.signal.fft_api import (
    fft, fft2d, fft3d, fftnd, fftshift, ifft, ifft2d, ifft3d, ifftnd, ifftshift, irfft, irfft2d, irfft3d,
    irfftnd, rfft, rfft2d, rfft3d, rfftnd,
)
from .ops.signal.frame import frame, overlap_and_add
from .ops.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from .ops.signal.stft import inverse_mdct, inverse_stft, inverse_stft_window_fn, mdct, stft
from .ops.signal.window_functions import (
    hamming_window, hann_window, kaiser_bessel_derived_window, kaiser_window, vorbis_window,
)

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "hamming_window", "hann_window", "idct",
    "ifft", "ifft2d", "ifft3d", "ifftnd", "ifftshift", "inverse_mdct", "inverse_stft",
    "inverse_stft_window_fn", "irfft", "irfft2d", "irfft3d", "irfftnd", "kaiser_bessel_derived_window",
    "kaiser_window", "linear_to_mel_weight_matrix", "mdct", "mfccs_from_log_mel_spectrograms",
    "overlap_and_add", "rfft", "rfft2d", "rfft3d", "rfftnd", "stft", "vorbis_window",
]

_explain(__name__)
