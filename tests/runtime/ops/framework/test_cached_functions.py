"""Public functions that are cached give for each call what they give without the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

X = np.linspace(-1, 2, 128, dtype=np.float32).reshape(8, 16)
Y = np.cos(X)
IMAGES = np.sin(np.arange(432, dtype=np.float32)).reshape(2, 8, 9, 3)
C = tf.constant

CALLS: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = {
    "a size": (tf.image.resize, lambda k: (C(IMAGES * k), [4, 3 + k])),
    "a size that is a tensor": (tf.image.resize, lambda k: (C(IMAGES * k), C([4, 3 + k]))),
    "arrays": (tf.image.resize, lambda k: (IMAGES * k, np.array([4, 3 + k]))),
    "proportions": (tf.image.resize, lambda k: (C(IMAGES * k), (4, 3 + k), "nearest", True)),
    "a fraction": (tf.image.central_crop, lambda k: (C(IMAGES * k), 0.2 * k)),
    "a fraction that is a tensor": (tf.image.central_crop, lambda k: (C(IMAGES * k), C(0.2 * k))),
    "axes": (tf.nn.moments, lambda k: (C(X * k), [k % 2])),
    "axes that are a tensor": (tf.nn.moments, lambda k: (C(X * k), C([k % 2]))),
    "a variable": (tf.nn.moments, lambda k: (tf.Variable(X * k), None)),
    "float16": (tf.nn.moments, lambda k: (C(X * k, tf.float16), [0])),
    "a list and a tensor": (tf.clip_by_global_norm, lambda k: ([C(X * k), tf.Variable(Y)], 1.0 * k)),
    "a list with None": (tf.clip_by_global_norm, lambda k: ([C(X * k), None], C(1.0 * k))),
    "rows": (tf.clip_by_global_norm, lambda k: ([tf.IndexedSlices(C(X * k), C(range(8))), C(Y)], 1.0)),
    "a list": (tf.math.accumulate_n, lambda k: ([C(X * k), C(Y)],)),
    "parts": (tf.complex, lambda k: (C(X * k), C(Y))),
    "numbers": (tf.complex, lambda k: (1.0 * k, 2.0)),
    "complex numbers": (tf.signal.fft, lambda k: (C(X * k + 1j * Y),)),
    "a length": (tf.signal.rfft, lambda k: (C(X * k), [4 + k])),
    "a length that is a tensor": (tf.signal.rfft, lambda k: (C(X * k), C([4 + k]))),
}


@each_case("name", CALLS)
@pytest.mark.usefixtures("room_for_calls")
def test_calls_are_those_of_the_function_alone(name: str) -> None:
    function, arguments = CALLS[name]
    for k in (1, 2, 1, 3, 2, 1, 1, 3):
        found, expected = function(*arguments(k)), function._function(*arguments(k))  # type: ignore[attr-defined]
        tf.nest.assert_same_structure(found, expected)
        pairs = zip(parts(found), parts(expected), strict=True)
        for one, other in pairs:
            assert one.dtype is other.dtype and one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def parts(x: Any) -> list[Any]:
    return [each for each in tf.nest.flatten(x, expand_composites=True) if each is not None]


def test_zeros_next_to_a_tensor_keep_their_sign() -> None:
    x = tf.constant([0.0, -0.0])
    for _ in range(3):
        assert np.signbit((x * 0.0).numpy()).tolist() == [False, True]
        assert np.signbit((x * -0.0).numpy()).tolist() == [True, False]
        assert (x > 0.0).numpy().tolist() == (x > -0.0).numpy().tolist() == [False, False]
