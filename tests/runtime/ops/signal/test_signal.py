"""tf.signal: values of TensorFlow 2.21, NumPy's transforms, and signals that come back; gradients by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.everywhere import everywhere

S = tf.signal
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(2, 3, 4, 5))
C = X + 1j * X[::-1] ** 2


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transforms_are_numpys(rank: int) -> None:
    axes, suffix = tuple(range(-rank, 0)), "" if rank == 1 else f"{rank}d"
    pairs = [
        ("fft", np.fft.fftn, C),
        ("ifft", np.fft.ifftn, C),
        ("rfft", np.fft.rfftn, X),
        ("irfft", np.fft.irfftn, C),
    ]
    for name, reference, x in pairs:
        function = getattr(S, name + suffix)
        np.testing.assert_allclose(everywhere(function, x), reference(x, axes=axes), atol=1e-12)
        if name.startswith(("rfft", "irfft")):
            sizes = [3, 4, 7][:rank]
            given = everywhere(lambda x, f=function, n=sizes: f(x, n), x)
            np.testing.assert_allclose(given, reference(x, sizes, axes), atol=1e-12)


def test_transforms_along_any_axes() -> None:
    for norm in (None, "ortho", "forward"):
        for name, x in (("fftn", C), ("ifftn", C), ("rfftn", X), ("irfftn", C)):
            function, reference = getattr(S, name + "d"), getattr(np.fft, name)
            given = function(tf.constant(x), axes=[0, 2], norm=norm).numpy()
            np.testing.assert_allclose(given, reference(x, axes=(0, 2), norm=norm), atol=1e-12)
            given = function(tf.constant(x), [3, 6], norm=norm).numpy()
            np.testing.assert_allclose(given, reference(x, (3, 6), (-2, -1), norm), atol=1e-12)
    assert S.fft([1.0, 2.0]).dtype == tf.complex64
    assert S.rfft([1, 2, 3]).dtype == tf.complex64
    assert S.rfft(tf.constant([1.0, 2.0], tf.float64)).dtype == tf.complex128


def test_transforms_of_nothing_and_refusals() -> None:
    assert S.fft(tf.zeros([0], tf.complex64)).shape == [0]
    assert S.rfft(tf.zeros([0, 4])).shape == [0, 3]
    assert S.irfft(tf.zeros([2, 1], tf.complex64)).shape == [2, 0]
    refused = tf.errors.InvalidArgumentError
    with pytest.raises(refused, match="rank of at least 2"):
        S.fft2d(tf.zeros([3], tf.complex64))
    with pytest.raises(refused, match=r"must have shape \[2\]"):
        S.rfft2d(tf.ones([2, 3]), [3])
    with pytest.raises(refused, match="must be positive"):
        S.rfft([1.0], [0])


def test_shifts() -> None:
    assert everywhere(S.fftshift, [[1, 2, 3], [4, 5, 6]]).tolist() == [[6, 4, 5], [3, 1, 2]]
    assert S.fftshift([[1, 2, 3], [4, 5, 6]], axes=1).numpy().tolist() == [[3, 1, 2], [6, 4, 5]]
    assert S.ifftshift([1, 2, 3], axes=[0]).numpy().tolist() == [2, 3, 1]


WINDOWS: dict[str, tuple[Callable[[], Any], list[float]]] = {
    "hann even": (lambda: S.hann_window(4), [0, 0.5, 1, 0.5]),
    "hann odd": (lambda: S.hann_window(5), [0, 0.5, 1, 0.5, 0]),
    "hann symmetric": (lambda: S.hann_window(4, periodic=False), [0, 0.75, 0.75, 0]),
    "hann one": (lambda: S.hann_window(1), [1]),
    "hann none": (lambda: S.hann_window(0), []),
    "hamming": (lambda: S.hamming_window(4), [0.08, 0.54, 1, 0.54]),
    "kaiser": (lambda: S.kaiser_window(5), [5.2773448e-05, 2.1567266e-01, 1, 2.1567266e-01, 5.2773448e-05]),
    "kaiser integer": (lambda: S.kaiser_window(3, tf.constant(3)), [0.20488471, 1, 0.20488471]),
    "kaiser one": (lambda: S.kaiser_window(1), [1]),
    "derived": (
        lambda: S.kaiser_bessel_derived_window(6),
        [0.00713103, 0.70710677, 0.99997455, 0.99997455, 0.70710677, 0.00713103],
    ),
    "vorbis": (lambda: S.vorbis_window(5), [0.14943586, 0.8563191, 1, 0.8563191, 0.14943568]),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_tensorflows(name: str) -> None:
    window, expected = WINDOWS[name]
    np.testing.assert_allclose(window().numpy(), expected, rtol=2e-6, atol=2e-7)


def test_windows_of_dynamic_length() -> None:
    for window in (
        S.hann_window,
        S.hamming_window,
        S.kaiser_window,
        S.kaiser_bessel_derived_window,
        S.vorbis_window,
    ):
        np.testing.assert_array_equal(everywhere(window, 6), window(6).numpy())
    with pytest.raises(ValueError, match="floating point"):
        S.hann_window(4, dtype=tf.int32)
    with pytest.raises(ValueError, match="rank 0"):
        S.hann_window([4])


def test_frames() -> None:
    seven = list(range(7))
    assert everywhere(lambda x: S.frame(x, 3, 2), seven).tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    padded = everywhere(lambda x: S.frame(x, 3, 2, pad_end=True, pad_value=9), seven)
    assert padded.tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 9, 9]]
    assert S.frame([0, 1], 3, 2).shape == [0, 3]
    assert S.frame([[1, 2, 3], [4, 5, 6]], 2, 1, axis=0).numpy().tolist() == [[[1, 2, 3], [4, 5, 6]]]
    assert everywhere(S.overlap_and_add, [[1, 2, 3], [4, 5, 6]], 5).tolist() == [1, 2, 3, 0, 0, 4, 5, 6]
    assert S.overlap_and_add([[1, 2, 3], [4, 5, 6]], 1).numpy().tolist() == [1, 6, 8, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="frame_step must be positive"):
        S.frame(seven, 3, 0)
    with pytest.raises(ValueError, match="must be an integer"):
        S.overlap_and_add([[1.0, 2.0]], 1.0)


COSINES = {
    (2, None): [12, -3.4641013, 0],
    (2, "ortho"): [3.4641016, -1.4142134, 0],
    (3, None): [7.4641013, -5, 0.53589886],
    (3, "ortho"): [3.2163086, -1.8721392, 0.3878816],
    (4, None): [6.3131933, -5.6568537, 3.4847658],
    (4, "ortho"): [2.5773504, -2.3094008, 1.4226496],
}


@pytest.mark.parametrize(("type", "norm"), COSINES)
def test_cosine_transforms(type: int, norm: str | None) -> None:
    given = everywhere(lambda x: S.dct(x, type=type, norm=norm), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(given, COSINES[type, norm], atol=1e-6)
    back = S.idct(S.dct(tf.constant(X), type=type, norm=norm), type=type, norm=norm).numpy()
    np.testing.assert_allclose(back, X if norm else X * 2 * X.shape[-1], atol=1e-12)


def test_the_other_arguments_of_cosine_transforms() -> None:
    np.testing.assert_allclose(S.dct([1.0, 2.0, 3.0], n=2).numpy(), [6, -1.4142135], rtol=1e-6)
    longer = S.dct([1.0, 2.0, 3.0], n=5).numpy()
    np.testing.assert_allclose(longer, [12, 4.2532544, -5.618034, -2.6286554, 3.3819664], rtol=1e-6)
    first = tf.constant([1.0, 2.0, 4.0], tf.float64)
    np.testing.assert_allclose(S.dct(first, type=1).numpy(), [9, -3, 1], atol=1e-12)  # x0 + 2 x1 ± x2
    for arguments, kind in (
        ({"type": 5}, ValueError),
        ({"axis": 0}, NotImplementedError),
        ({"n": -2}, ValueError),
    ):
        with pytest.raises(kind):
            S.dct([1.0], **arguments)


def test_spectrograms_are_inverted() -> None:
    x = np.cumsum(np.sin(np.arange(24.0) * 1.7)).reshape(2, 12)

    def there_and_back(signal: Any) -> Any:
        spectra = S.stft(signal, 4, 2)
        return S.inverse_stft(spectra, 4, 2, window_fn=S.inverse_stft_window_fn(2))

    np.testing.assert_allclose(everywhere(there_and_back, x)[:, 2:-2], x[:, 2:-2], atol=1e-12)
    for norm in (None, "ortho"):
        back = S.inverse_mdct(S.mdct(tf.constant(x), 4, norm=norm), norm=norm).numpy()
        np.testing.assert_allclose(back[:, 2:-2], x[:, 2:-2], atol=1e-12)
    with pytest.raises(ValueError, match="multiple of 4"):
        S.mdct(x, 6)


def test_spectrograms_are_tensorflows() -> None:
    spectra = S.stft(tf.range(10.0), 4, 2).numpy()
    expected = [[4, -2 + 1j, 0], [8, -4 + 1j, 0], [12, -6 + 1j, 0], [16, -8 + 1j, 0]]
    np.testing.assert_allclose(spectra, expected, atol=1e-5)
    assert S.stft(tf.range(10.0), 5, 2, pad_end=True).shape == [5, 5]
    given = S.mdct(tf.range(12.0), 4).numpy()[:2]
    np.testing.assert_allclose(given, [[-5.607321, -0.2148695], [-11.189502, 0.70122933]], rtol=1e-5)
    given = S.mdct(tf.range(12.0), 4, window_fn=None, pad_end=True).numpy()[-1]
    np.testing.assert_allclose(given, [-0.54119587, 1.3065625], rtol=1e-5)
    window = S.inverse_stft_window_fn(3)(7, tf.float32).numpy()
    np.testing.assert_allclose(window, [0, 0.4, 1.2, 1, 1.2, 0.4, 0], atol=1e-6)


def test_mels() -> None:
    matrix = S.linear_to_mel_weight_matrix(3, 8).numpy()
    expected = [[0, 0, 0], [0.98019224, 0.01980773, 0], [0.10500877, 0.8949912, 0], [0, 0.4681815, 0.5318185]]
    np.testing.assert_allclose(matrix[:4], expected, atol=2e-6)
    given = everywhere(S.mfccs_from_log_mel_spectrograms, np.arange(6.0, dtype=np.float32)[None])
    np.testing.assert_allclose(given, [[8.6602535, -4.1625614, 0, -0.40824831, 0, -0.0800792]], atol=1e-6)
    for arguments in ({"num_mel_bins": 0}, {"upper_edge_hertz": 9000.0}, {"lower_edge_hertz": 5000.0}):
        with pytest.raises(ValueError, match=r"must|>="):
            S.linear_to_mel_weight_matrix(**arguments)


DIFFERENTIABLE: dict[str, Callable[[Any], Any]] = {
    "rfft": lambda x: tf.abs(S.rfft(x)),
    "rfft cut": lambda x: tf.abs(S.rfft(x, [3])),
    "rfft2d longer": lambda x: tf.abs(S.rfft2d(x, [4, 7])),
    "irfft": lambda x: S.irfft(tf.complex(x, x * 0.5)),
    "irfft2d odd": lambda x: S.irfft2d(tf.complex(x, x * 0.5), [3, 5]),
    "fft": lambda x: tf.abs(S.fft(tf.complex(x, x * x))),
    "ifft2d": lambda x: tf.abs(S.ifft2d(tf.complex(x, x * x))),
    "frame": lambda x: S.frame(x, 3, 2, pad_end=True),
    "frame of rows": lambda x: S.frame(x, 2, 1, axis=0),
    "overlap_and_add": lambda x: S.overlap_and_add(x, 2),
    "dct": lambda x: S.dct(x, norm="ortho"),
    "idct": lambda x: S.idct(x),
    "stft": lambda x: tf.abs(S.stft(x, 4, 1)),
    "mdct": lambda x: S.mdct(x, 4),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_slopes(name: str) -> None:
    function = DIFFERENTIABLE[name]
    x = np.random.default_rng(7).normal(size=(3, 6))

    def total(values: Any) -> Any:
        y = function(values)
        weights = np.cos(np.arange(y.numpy().size) + 1.0).reshape(y.shape)
        return tf.reduce_sum(y * weights)

    with tf.GradientTape() as tape:
        start = tf.constant(x)
        tape.watch(start)
        y = total(start)
    given = tape.gradient(y, start).numpy()
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        slope = (float(total(tf.constant(x + step))) - float(total(tf.constant(x - step)))) / 2e-6
        np.testing.assert_allclose(given[place], slope, rtol=1e-5, atol=1e-7)


def test_a_traced_spectrum_has_a_static_number_of_bins() -> None:
    def spectrum(x):
        found = tf.signal.stft(x, 256, 128)
        assert found.shape.as_list() == [None, 124, 129]
        return tf.signal.inverse_stft(found, 256, 128)

    traced = tf.function(spectrum, input_signature=[tf.TensorSpec([None, 16000])])
    assert traced(tf.zeros([2, 16000])).shape == (2, 16000 // 128 * 128)


def test_a_dtype_is_no_type_of_a_cosine_transform():
    """`tf.int32` is equal to its number, 3."""
    with pytest.raises(ValueError, match="Types I, II, III and IV"):
        tf.signal.idct([1.0, 2.0], tf.int32)
