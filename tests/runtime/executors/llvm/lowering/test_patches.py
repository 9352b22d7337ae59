"""Native code extracts the windows of images that the kernel extracts, with zeros outside of the images."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

IMAGES = np.arange(2 * 7 * 6 * 3).reshape(2, 7, 6, 3) + 1


def patches(images: Any, size: int, stride: int, rate: int, padding: str) -> Any:
    return tf.image.extract_patches(
        images, [1, size, size - 1, 1], [1, stride, 1, 1], [1, rate, rate, 1], padding
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("size, stride, rate", [(2, 1, 1), (3, 2, 1), (3, 1, 2), (2, 3, 3)])
def test_windows_are_those_of_the_kernel(
    size: int, stride: int, rate: int, padding: str, given_up: list[str]
) -> None:
    compiled = tf.function(patches, jit_compile=True)
    for dtype in (tf.float32, tf.float64, tf.int32, tf.bool, tf.bfloat16, tf.complex64):
        images = tf.cast(IMAGES % 5, dtype)
        wanted, found = (f(images, size, stride, rate, padding) for f in (patches, compiled))
        assert found.dtype is dtype
        np.testing.assert_array_equal(found, wanted)
    assert given_up == []


def test_the_gradient_of_windows_adds_up_where_they_overlap() -> None:
    @tf.function(jit_compile=True)
    def gradient(images: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(images)
            total = tf.reduce_sum(patches(images, 2, 1, 1, "VALID"))
        return tape.gradient(total, images)

    found = gradient(tf.ones([1, 3, 2, 1]))
    assert found[0, :, :, 0].numpy().tolist() == [[1, 1], [2, 2], [1, 1]]
