"""Images in other sizes, windows, frames, sums over neighbors: compiled, with their gradients."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

PICTURES = np.random.default_rng(2).normal(size=(2, 5, 6, 3)).astype(np.float32)


def resized(x: Any) -> Any:
    return [tf.image.resize(x, [8, 4], method) for method in ("bilinear", "nearest", "area")]


def windows(x: Any) -> Any:
    return [
        tf.image.extract_patches(x, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 2, 1], padding)
        for padding in ("SAME", "VALID")
    ]


def frames(x: Any) -> Any:
    return [
        tf.signal.frame(x, 3, 2, pad_end=True, pad_value=7.0, axis=1),
        tf.signal.frame(x, 2, 1),
        tf.signal.overlap_and_add(x, 2),
    ]


def neighbors(x: Any) -> Any:
    return [tf.nn.local_response_normalization(x, 1, 1.0, 0.5, 0.75)]


def blocks(x: Any) -> Any:
    wide = tf.pad(x, [[0, 0], [1, 0], [2, 2], [0, 1]], "REFLECT")
    return [
        tf.nn.space_to_depth(wide, 2),
        tf.nn.depth_to_space(wide, 2),
        tf.space_to_batch(x, [5, 2], [[0, 0], [1, 1]]),
        tf.batch_to_space(x, [2, 1], [[1, 2], [0, 0]]),
    ]


def running(x: Any) -> Any:
    return [
        tf.math.cumulative_logsumexp(x, 1),
        tf.math.cumulative_logsumexp(x, 2, exclusive=True, reverse=True)[:, :, :4],
        tf.reduce_prod(x, [1, 3]),
        tf.repeat(x, [2, 0, 1], 3),
        tf.tile(x, [1, 2, 1, 1]),
    ]


@pytest.mark.parametrize("layer", [resized, windows, frames, neighbors, blocks, running])
def test_values_and_gradients_agree_with_the_interpreter(layer: Any) -> None:
    def program(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = layer(x)
            loss = tf.add_n([tf.reduce_sum(part * part) for part in parts])
        return [*parts, tape.gradient(loss, x)]

    graph = tf.function(program).get_concrete_function(tf.constant(PICTURES)).graph
    for found, wanted in zip(JitFunction(graph).run([PICTURES]), interpret(graph, [PICTURES]), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


def test_directions_of_complex_numbers() -> None:
    z = np.array([3 + 4j, 0, -2, np.inf + 1j, 5 - np.inf * 1j, np.nan, complex(np.inf, np.inf)])
    graph = tf.function(lambda x: tf.sign(x)).get_concrete_function(tf.constant(z)).graph
    expected = [0.6 + 0.8j, 0, -1, *[complex(np.nan, np.nan)] * 4]  # as TensorFlow 2.21; np.sign differs
    np.testing.assert_array_equal(JitFunction(graph).run([z])[0], expected)
    np.testing.assert_allclose(tf.sign(z), expected, rtol=1e-15)
