"""Native code for processors that lack features of this one: AGC_LEAVE_OUT names those that it does without."""

from __future__ import annotations

import os
import subprocess
import sys

import agc.runtime as tf
import numpy as np
import pytest

VECTORS = "avx512,amx"
HALF_FLOATS = f"{VECTORS},avx,fma,f16c,sse3,ssse3,sse4,popcnt,bmi,lzcnt,movbe,xsave,vaes,vpclmulqdq,gfni"
"""Words for all features of a processor beyond those that each x86-64 has; it converts no 16-bit floats."""


def check_programs(left_out: str) -> None:
    """Compare native code with plans, and its casts with NumPy's."""
    from agc.runtime.executors.llvm.processor import features

    assert not any(features().get(name) for name in left_out.split(","))

    def mixed(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        total = tf.constant(0.0)
        for row in x:
            if tf.reduce_sum(row) > 0.0:
                total += tf.reduce_logsumexp(tf.sin(row))
        narrow = tf.cast(x, tf.float16)
        product = tf.matmul(x, y)
        return [total, product, tf.sort(x, axis=1), tf.math.erf(x), narrow * narrow, tf.round(x * 3.0)]

    numbers = np.random.default_rng(3).normal(size=(2, 40, 40)).astype(np.float32)
    x, y = tf.constant(numbers[0]), tf.constant(numbers[1])
    found = tf.function(mixed, jit_compile=True)(x, y)
    for a, b in zip(found, tf.function(mixed, jit_compile=False)(x, y), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-4)
    check_casts()
    check_extremes()


def check_extremes() -> None:
    """Products of pairs of numbers do not overflow on the way, where no instruction gives their rounding errors."""
    functions = {
        "arctan": (tf.atan, [1.7e308, -1e305, 1e300, 5e-324, np.inf, -np.inf, 0.0, np.nan]),
        "arctan2": (tf.atan2, [1e300, -1e-300, 3.5e147, -1.9e-237, 5e-324, 1.7e308, 1.0]),
        "power": (tf.pow, [1.7e308, 1e300, 2.0, 0.5, 1e-300, 1.0 + 2**-52, 3.7]),
        "sinh": (tf.sinh, [700.0, -1e-300, 0.1]),
    }
    for name, (function, numbers) in functions.items():
        expected_of = getattr(np, name)
        arguments = np.meshgrid(*[np.array(numbers)] * expected_of.nin)
        with np.errstate(all="ignore"):
            expected = expected_of(*arguments)
        found = tf.function(function, jit_compile=True)(*map(tf.constant, arguments))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14, atol=0.0)


def check_casts() -> None:
    """Compare casts of all float16, and of the numbers at and next to the ends of what rounds to each."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    numbers = halves.astype(np.float32)
    widened = tf.function(lambda x: tf.cast(x, tf.float32), jit_compile=True)(halves).numpy()
    np.testing.assert_array_equal(np.signbit(widened), np.signbit(numbers))
    np.testing.assert_array_equal(widened, numbers)
    finite = np.sort(numbers[np.isfinite(numbers)]).astype(np.float64)
    ends = np.append((finite[1:] + finite[:-1]) / 2, [65520.0, -65520.0, 1e30, -1e30, 1e-30, -1e-30])
    for dtype in (np.float32, np.float64):
        middle = ends.astype(dtype)
        values = np.concatenate([np.nextafter(middle, dtype(-9e9)), middle, np.nextafter(middle, dtype(9e9))])
        with np.errstate(over="ignore"):
            expected = values.astype(np.float16)
        narrowed = tf.function(lambda x: tf.cast(x, tf.float16), jit_compile=True)(values).numpy()
        np.testing.assert_array_equal(narrowed.view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize("left_out", [VECTORS, HALF_FLOATS], ids=["vectors", "half floats"])
def test_programs_run_on_lesser_processors(left_out: str) -> None:
    program = f"import sys; sys.path[:0] = {sys.path}; import {__name__} as t; t.check_programs({left_out!r})"
    environment = {**os.environ, "AGC_LEAVE_OUT": left_out}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=300)
