"""Kernels of NumPy that JAX traces: all sizes compile, also those for which the kernel takes a way of its own."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.xla import XlaFunction

numbers = np.random.default_rng(5)
ROWS = numbers.normal(size=(4000, 3)).astype(np.float32)  # short rows, which NumPy's kernels add by columns
MATRIX = numbers.normal(size=(600, 600)).astype(
    np.float32
)  # a product that NumPy's kernels divide into parts

CASES = {
    "sum": (lambda x: tf.reduce_sum(x, -1), ROWS),
    "mean": (lambda x: tf.reduce_mean(x, -1), ROWS),
    "standard deviation": (lambda x: tf.math.reduce_std(x, -1), ROWS),
    "norm": (lambda x: tf.norm(x, axis=-1), ROWS),
    "softmax": (lambda x: tf.nn.softmax(x), ROWS),
    "matvec": (lambda x: tf.linalg.matvec(x, x[0]), MATRIX),
    "matmul": (lambda x: x @ x, MATRIX),
    "tensordot": (lambda x: tf.gradients(tf.tensordot(x, x, [[0], [0]]) ** 2, x)[0], MATRIX),
}


@pytest.mark.parametrize("name", CASES)
def test_large_arrays_are_computed_by_xla(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_the_plan(*_: object) -> None:
        raise AssertionError("the plan computed this")

    monkeypatch.setattr(XlaFunction, "fail", in_the_plan)
    function, x = CASES[name]
    found = tf.function(function, jit_compile="xla")(tf.constant(x))
    expected = tf.function(function, jit_compile=False)(tf.constant(x))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-3 * np.abs(expected).max())
