"""Fourier transforms in native code: calls of NumPy, so the interpreter's results to the last bit."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

S = tf.signal


def transforms(x: Any, z: Any) -> list[Any]:
    """Transform along the last axes, with other lengths too: cut, or padded with zeros."""
    return [
        S.fft(z), S.ifft(z), S.rfft(x), S.irfft(z), S.rfft(x, [6]), S.rfft(x, [11]), S.irfft(z, [5]), S.irfft(z, [16]),
        S.fft2d(z), S.ifft2d(z), S.rfft2d(x), S.irfft2d(z), S.rfft2d(x, [3, 6]), S.irfft2d(z, [4, 5]),
        S.fft3d(z), S.ifft3d(z), S.rfft3d(x), S.irfft3d(z),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transforms_equal_numpys(dtype: Any) -> None:
    x = tf.constant(np.random.default_rng(1).normal(size=(2, 3, 4, 9)).astype(dtype))
    z = tf.complex(x, x[::-1])
    found = tf.function(transforms, jit_compile=True)(x, z)
    for one, other in zip(found, transforms(x, z), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_a_spectral_method_and_its_gradient() -> None:
    def diffused(u: Any) -> Any:
        waves = tf.cast(tf.range(9), tf.float64)
        for _ in tf.range(5):
            u = S.irfft(S.rfft(u) * tf.cast(tf.exp(-0.01 * waves * waves), tf.complex128))
        return u

    u = tf.constant(np.random.default_rng(3).normal(size=16))
    slopes = []
    for jit in (True, False):
        function = tf.function(diffused, jit_compile=jit)
        with tf.GradientTape() as tape:
            tape.watch(u)
            y = tf.reduce_sum(function(u) ** 2)
        slopes.append(tape.gradient(y, u))
    np.testing.assert_allclose(*slopes, rtol=1e-12)
