"""Casts from float64 to float16, for which processors have no instruction: rounded once, as NumPy does it."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest


def doubles() -> np.ndarray:
    """Numbers of all sizes, all float16, the middle between each two of them, and what is next to the middle."""
    finite = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    finite = np.sort(finite[np.isfinite(finite)])
    middle = (finite[1:] + finite[:-1]) / 2
    patterns = np.random.default_rng(0).integers(0, 2**64, 20_000, np.uint64).view(np.float64)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 65519.99, 65520.0, 1e300, -1e300]
    return np.concatenate(
        [finite, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), patterns, ends]
    )


@pytest.mark.parametrize("take", [np.asarray, lambda x: x[::2]])
def test_every_cast_is_rounded_once(take: object) -> None:
    x = take(doubles())
    with np.errstate(all="ignore"):
        wanted = x.astype(np.float16)
    found = tf.function(lambda x: tf.cast(x, tf.float16), jit_compile=True)(tf.constant(x)).numpy()
    is_nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(found), is_nan)
    np.testing.assert_array_equal(found[~is_nan].view(np.uint16), wanted[~is_nan].view(np.uint16))


@pytest.mark.parametrize("name", ["bessel_i0", "bessel_i1e", "spence", "dawsn", "expint"])
def test_float64_results_are_rounded_by_a_library_function(name: str) -> None:
    """LLVM merges their last cast to float32 with the one to float16."""
    function = getattr(tf.math.special, name)
    x = tf.constant([0.5], tf.float16)
    assert tf.function(function, jit_compile=True)(x).numpy() == pytest.approx(function(x).numpy(), rel=2e-3)
