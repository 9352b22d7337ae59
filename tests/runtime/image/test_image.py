"""Images: numbers from TensorFlow 2.21, what must hold of any image, gradients by finite differences, refusals."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

RANDOM = np.random.default_rng(2)
IMAGE = np.arange(12, dtype="f").reshape(1, 3, 4, 1) ** 2


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=tolerance, atol=tolerance)


# method, antialias → [2, 3] of IMAGE by TensorFlow
RESIZED = {
    ("bilinear", False): [4.5, 9.5, 17.8333, 54.5, 75.5, 99.8333],
    ("bilinear", True): [7.2, 13.0, 21.6, 50.2, 68.0, 88.6],
    ("bicubic", False): [2.205, 6.25, 14.3388, 56.8329, 79.4763, 106.1635],
    ("bicubic", True): [4.2188, 9.7492, 18.5728, 50.4896, 70.4876, 93.7787],
    ("nearest", False): [0.0, 4.0, 9.0, 64.0, 100.0, 121.0],
    ("nearest", True): [0.0, 4.0, 9.0, 64.0, 100.0, 121.0],
    ("area", False): [6.25, 11.8333, 20.4167, 51.5833, 70.5, 92.4167],
    ("area", True): [6.25, 11.8333, 20.4167, 51.5833, 70.5, 92.4167],
    ("lanczos3", False): [0.0956, 3.3929, 11.3688, 57.4134, 80.55, 108.3653],
    ("lanczos3", True): [2.4472, 7.6099, 16.367, 50.766, 71.5023, 95.8329],
    ("lanczos5", False): [-1.6472, 0.6845, 8.2434, 59.4305, 82.1201, 110.0368],
    ("lanczos5", True): [1.8064, 6.7259, 15.3918, 51.1265, 71.9133, 96.4466],
    ("gaussian", False): [4.9605, 10.0304, 18.2658, 54.1883, 74.3635, 97.7043],
    ("gaussian", True): [10.242, 16.7599, 25.5703, 48.0768, 64.6275, 83.4708],
    ("mitchellcubic", False): [3.5069, 8.0982, 16.3007, 55.3225, 76.6173, 101.5233],
    ("mitchellcubic", True): [6.9719, 13.0542, 21.9312, 49.1564, 67.4603, 88.5587],
}


@pytest.mark.parametrize(("method", "antialias"), RESIZED)
def test_resize_has_tensorflows_numbers(method: str, antialias: bool) -> None:
    found = tf.image.resize(IMAGE, [2, 3], method, antialias=antialias)
    assert found.shape == (1, 2, 3, 1)
    close(found, RESIZED[method, antialias], 1e-4)


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "area", "lanczos3", "gaussian", "mitchellcubic"])
@pytest.mark.parametrize("size", [(2, 3), (5, 9)])
def test_the_gradient_of_resize_is_its_transpose(method: str, size: Any) -> None:
    x, dy = RANDOM.normal(size=(2, 3, 4, 2)).astype("f"), RANDOM.normal(size=(2, *size, 2)).astype("f")
    with tf.GradientTape() as tape:
        tape.watch(source := tf.constant(x))
        y = tf.image.resize(source, size, method)
    gradient = tape.gradient(y, source, output_gradients=tf.constant(dy))
    # <dy, A x> = <Aᵀ dy, x>
    close(np.sum(dy * y.numpy()), np.sum(gradient.numpy() * x), 1e-4)


def test_images_of_dynamic_size() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None, 3]), tf.TensorSpec([2], tf.int32)])
    def traced(image: Any, size: Any) -> Any:
        return (
            tf.image.resize(image, size),
            tf.image.resize(image, size, "nearest", preserve_aspect_ratio=True),
            tf.image.resize_with_pad(image, 6, 5),
            tf.image.resize_with_crop_or_pad(image, size[0], size[1]),
            tf.image.central_crop(image, 0.5),
            tf.image.rot90(image, size[0]),
            tf.image.ssim(image, image * 0.5, 1.0, 3),
            tf.image.sobel_edges(image[tf.newaxis]),
        )

    image, size = RANDOM.random((7, 9, 3)).astype("f"), [5, 4]
    expected = (
        tf.image.resize(image, size),
        tf.image.resize(image, size, "nearest", preserve_aspect_ratio=True),
        tf.image.resize_with_pad(image, 6, 5),
        tf.image.resize_with_crop_or_pad(image, 5, 4),
        tf.image.central_crop(image, 0.5),
        tf.image.rot90(image, 5),
        tf.image.ssim(image, image * 0.5, 1.0, 3),
        tf.image.sobel_edges(image[np.newaxis]),
    )
    for found, wanted in zip(traced(image, size), expected, strict=True):
        assert found.shape == wanted.shape
        close(found, wanted)
    with pytest.raises(tf.errors.InvalidArgumentError):
        traced(image, [0, 4])


def test_crops_and_padding() -> None:
    image = np.arange(24).reshape(4, 6, 1)
    assert tf.image.crop_to_bounding_box(image, 1, 2, 2, 3).numpy()[..., 0].tolist() == [
        [8, 9, 10],
        [14, 15, 16],
    ]
    assert tf.image.pad_to_bounding_box(image, 1, 2, 6, 9).numpy()[1:5, 2:8].tolist() == image.tolist()
    assert tf.image.resize_with_crop_or_pad(image, 2, 8).numpy()[..., 0].tolist() == [
        [0, 6, 7, 8, 9, 10, 11, 0],
        [0, 12, 13, 14, 15, 16, 17, 0],
    ]
    for call in (
        lambda: tf.image.crop_to_bounding_box(image, 3, 0, 2, 2),
        lambda: tf.image.pad_to_bounding_box(image, 1, 0, 4, 6),
        lambda: tf.image.central_crop(image, 0.0),
        lambda: tf.image.flip_up_down(image[0]),
        lambda: tf.image.resize(image[0], [2, 2]),
        lambda: tf.image.resize(image, [2, 2], "best"),
        lambda: tf.image.resize(image, [2, 2, 2]),
    ):
        with pytest.raises(ValueError):
            call()


def test_rotation_equals_numpys() -> None:
    image = RANDOM.random((2, 3, 4, 2))
    for k in range(-2, 5):
        np.testing.assert_array_equal(tf.image.rot90(image, k), np.rot90(image, k, (1, 2)))
    np.testing.assert_array_equal(tf.image.flip_left_right(image), image[:, :, ::-1])
    np.testing.assert_array_equal(tf.image.flip_up_down(image[0]), image[0, ::-1])
    np.testing.assert_array_equal(tf.image.transpose(image), image.swapaxes(1, 2))


def test_numbers_of_other_dtypes() -> None:
    bytes_ = tf.constant([0, 1, 255], tf.uint8)
    close(tf.image.convert_image_dtype(bytes_, tf.float32), [0.0, 1 / 255, 1.0])
    assert tf.image.convert_image_dtype(bytes_, tf.uint16).numpy().tolist() == [0, 256, 65280]
    assert tf.image.convert_image_dtype(tf.constant([32767], tf.int16), tf.uint8).numpy().tolist() == [255]
    assert tf.image.convert_image_dtype([0.5, 2.0, -1.0], tf.uint8, saturate=True).numpy().tolist() == [
        127,
        255,
        0,
    ]
    with pytest.raises(AttributeError, match="floating point or integer"):
        tf.image.convert_image_dtype(bytes_, tf.bool)


def test_color_conversions_are_inverse() -> None:
    image = RANDOM.random((3, 4, 3))
    close(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(image)), image)
    close(tf.image.yiq_to_rgb(tf.image.rgb_to_yiq(image)), image, 1e-4)
    close(tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(image)), image, 1e-4)
    close(tf.image.rgb_to_hsv([[[1.0, 0.5, 0.75]]]), [0.9166667, 0.5, 1.0])
    close(tf.image.rgb_to_hsv([[[0.0, 0.0, 0.0]]]), [0.0, 0.0, 0.0])
    close(tf.image.rgb_to_grayscale([[[1.0, 0.5, 0.25]]]), [0.6209])
    assert tf.image.grayscale_to_rgb([[[1], [2]]]).numpy().tolist() == [[[1, 1, 1], [2, 2, 2]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="size 3"):
        tf.image.rgb_to_hsv([[[1.0]]])
    with pytest.raises(TypeError, match="floating"):
        tf.image.rgb_to_yuv([[[1, 2, 3]]])


def test_adjustments() -> None:
    bytes_ = tf.constant([[[10, 200, 30]]], tf.uint8)
    assert tf.image.adjust_brightness(bytes_, 0.3).numpy().tolist() == [[[86, 255, 106]]]
    assert tf.image.adjust_gamma(bytes_, 0.5).numpy().tolist() == [[[50, 226, 87]]]
    assert tf.image.adjust_hue(bytes_, 0.25).numpy().tolist() == [[[10, 85, 200]]]
    assert tf.image.adjust_saturation(bytes_, 0.5).numpy().tolist() == [[[105, 200, 115]]]
    close(tf.image.adjust_contrast([[[1.0], [2.0], [6.0]]], 0.5), [2.0, 2.5, 4.5])
    standard = tf.image.per_image_standardization(RANDOM.random((2, 5, 5, 3)))
    close(tf.reduce_mean(standard, [1, 2, 3]), [0, 0])
    close(tf.math.reduce_std(standard, [1, 2, 3]), [1, 1])
    for call in (
        lambda: tf.image.adjust_gamma(bytes_, -1),
        lambda: tf.image.random_hue(bytes_, 0.7),
        lambda: tf.image.random_contrast(bytes_, 2.0, 1.0),
        lambda: tf.image.random_brightness(bytes_, -1.0),
    ):
        with pytest.raises(ValueError):
            call()


def test_random_adjustments_equal_tensorflows() -> None:
    image = tf.reshape(tf.range(12.0), [1, 4, 3]) / 12
    close(tf.image.stateless_random_brightness(image, 0.3, [1, 2])[0, 0, 0], 0.206436)
    close(tf.image.stateless_random_contrast(image, 0.3, 0.9, [1, 2])[0, 0, 0], 0.072586)
    tf.random.set_seed(5)
    close(tf.image.random_brightness(image, 0.3)[0, 0, 0], 0.075836)
    close(tf.image.random_crop(image, [1, 2, 2]), [0.25, 0.333333, 0.5, 0.583333])
    batch = tf.reshape(tf.range(8.0), [4, 1, 2, 1])
    close(tf.image.random_flip_left_right(batch, seed=3), [0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 7.0])
    close(tf.image.stateless_random_crop(image, [1, 2, 2], [4, 5]), [0.583333, 0.666667, 0.833333, 0.916667])
    with pytest.raises(tf.errors.InvalidArgumentError, match="size"):
        tf.image.random_crop(image, [1, 9, 1])


def test_differences_and_similarity() -> None:
    image = IMAGE / 121
    close(tf.image.total_variation(IMAGE), [451.0])
    down, right = tf.image.image_gradients(IMAGE)
    close(down[0, :2, :, 0], np.diff(IMAGE[0, :, :, 0], axis=0))
    close(right[0, :, :3, 0], np.diff(IMAGE[0, :, :, 0], axis=1))
    assert not down[0, 2].numpy().any() and not right[0, :, 3].numpy().any()
    close(tf.image.psnr(image, image * 0.5, 1.0), [12.450343])
    close(tf.image.ssim(image, image * 0.5, 1.0, 3), [0.641383])
    wide = np.tile(image, (1, 4, 4, 1))
    close(tf.image.ssim_multiscale(wide, wide**2, 1.0, (0.5, 0.5), 3), [0.919958])
    close(tf.image.sobel_edges(IMAGE)[0, 1, 1, 0], [320.0, 80.0])


def test_patches() -> None:
    image = np.arange(20).reshape(1, 4, 5, 1)
    found = tf.image.extract_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], "VALID").numpy()
    assert found.tolist() == [[[[0, 2, 5, 7], [2, 4, 7, 9]], [[10, 12, 15, 17], [12, 14, 17, 19]]]]
    same = tf.image.extract_patches(image, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME").numpy()
    assert same[0, 0, 0].tolist() == [0, 0, 0, 0, 0, 1, 0, 5, 6]
    x, dy = RANDOM.normal(size=(2, 4, 5, 3)), RANDOM.normal(size=(2, 4, 5, 27))
    with tf.GradientTape() as tape:
        tape.watch(source := tf.constant(x))
        y = tf.image.extract_patches(source, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    gradient = tape.gradient(y, source, output_gradients=tf.constant(dy))
    close(np.sum(dy * y.numpy()), np.sum(gradient.numpy() * x))


def test_images_of_ssim_multiscale_have_channels_of_known_number_in_graphs() -> None:
    one, other = np.random.default_rng(0).random((2, 2, 24, 24, 3)).astype(np.float32)
    wanted = tf.image.ssim_multiscale(one, other, 1.0, filter_size=1)
    found = tf.function(tf.image.ssim_multiscale)(one, other, 1.0, filter_size=1)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5)
