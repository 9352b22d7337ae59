"""Later calls with the same types run the operations of image functions at once, with the same results and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "adjust_brightness": lambda f, x: f(x, 0.25),
    "adjust_contrast": lambda f, x: f(x, tf.constant(1.5)),
    "adjust_gamma": lambda f, x: f(x, gamma=2.0),
    "adjust_hue": lambda f, x: f(x, 0.3),
    "adjust_saturation": lambda f, x: f(x, np.float32(1.5)),
    "convert_image_dtype": lambda f, x: f(x, tf.uint8, saturate=True),
    "flip_left_right": lambda f, x: f(x),
    "flip_up_down": lambda f, x: f(tf.Variable(x)),
    "hsv_to_rgb": lambda f, x: f(x),
    "per_image_standardization": lambda f, x: f(x),
    "rgb_to_grayscale": lambda f, x: f(x),
    "rgb_to_hsv": lambda f, x: f(x.numpy()),
    "rgb_to_yiq": lambda f, x: f(x),
}


def called(function: Callable[..., Any], call: Callable[[Any, Any], Any], x: Any) -> Any:
    """Return dtype and elements of the result of a call, or its error."""
    try:
        found = call(function, x)
    except Exception as error:
        return type(error), str(error)
    return found.dtype, found.numpy().tobytes(), found.shape


@each_case("name", FUNCTIONS)
@each_case("dtype", ["uint8", "int32", "float16", "float32", "float64"])
def test_all_calls_do_what_the_function_does(name: str, dtype: str) -> None:
    function, call = getattr(tf.image, name), FUNCTIONS[name]
    random = np.random.default_rng(0)
    for shape in ((2, 4, 5, 3), (4, 5, 3), (0, 4, 5, 3), (4, 5, 2), (3,)):
        for _ in range(4):
            x = tf.constant((random.random(shape) * (1 if dtype.startswith("float") else 255)).astype(dtype))
            assert called(function, call, x) == called(function.python_function, call, x)


def test_a_number_that_a_function_refuses_is_refused_after_others() -> None:
    image = tf.ones([2, 2, 3])
    for delta in (0.5, 0.5, 0.5, 0.25):
        tf.image.adjust_hue(image, delta)
    with pytest.raises(ValueError, match="interval"):
        tf.image.adjust_hue(image, 1.5)


def test_gradients_of_a_conversion_are_those_of_its_operations() -> None:
    image = tf.constant([[[0.2, 0.5, 0.25]]])
    gradients = []
    for function in (tf.image.rgb_to_hsv.python_function, *[tf.image.rgb_to_hsv] * 4):
        with tf.GradientTape() as tape:
            tape.watch(image)
            hue = function(image)[..., 0]
        gradients.append(tape.gradient(hue, image).numpy().tolist())
    assert gradients == gradients[:1] * 5
