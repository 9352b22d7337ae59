"""Operations without code of their own: compiled code calls the interpreter's kernels for them."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph


def test_unsupported_cases_of_a_rule_call_kernels() -> None:
    @tf.function(jit_compile=True)
    def spectrum(z: Any) -> Any:
        values, vectors = tf.linalg.eigh(z)
        return values, vectors, tf.linalg.det(z)

    z = tf.constant([[2.0, 1.0j], [-1.0j, 2.0]], tf.complex128)
    for found, expected in zip(spectrum(z), spectrum.python_function(z), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_kernels_accept_dynamic_sizes() -> None:
    def summary(x: Any) -> Any:
        values, places, counts = tf.unique_with_counts(x)
        found = tf.boolean_mask(tf.cast(values, tf.float32), counts > 1)
        low, high = tf.dynamic_partition(x, tf.cast(x > 2, tf.int32), 2)
        return values * counts, places, tf.math.igamma(found, found), low, high + 1

    x = tf.constant([3, 1, 3, 2, 1, 7])
    found = tf.function(summary, jit_compile=True)(x)
    for one, other in zip(found, summary(x), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_a_kernel_that_raises_is_an_error_with_the_users_line() -> None:
    @tf.function(jit_compile=True)
    def shuffled(index: Any) -> Any:
        total = tf.constant(0)
        for _ in tf.range(3):
            total += tf.random.experimental.index_shuffle(index, [1, 2], 4)
        return total

    assert int(shuffled(tf.constant(1))) == int(shuffled.python_function(tf.constant(1)))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"index must be in(.|\n)*test_kernel_calls.py:\d+, in shuffled"
    ):
        shuffled(tf.constant(7))


def test_a_kernel_is_called_with_or_without_pythons_lock() -> None:
    def transformed(x: Any) -> Any:
        return tf.abs(tf.math.special.expint(x * 2.0))

    for size in (8, 1 << 15):  # the lock is given up for long runs
        x = np.linspace(0.1, 1.0, size, dtype=np.float32)
        found = tf.function(transformed, jit_compile=True)(x)
        np.testing.assert_allclose(found, transformed(x), rtol=1e-6, atol=1e-6)


def test_the_printed_code_shows_kernel_calls() -> None:
    graph = tf.function(lambda x: tf.math.special.expint(x)).get_concrete_function(tf.TensorSpec([4])).graph
    assert "@agc_call(" in compile_graph.text(graph)
