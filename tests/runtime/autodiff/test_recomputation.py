"""`tf.recompute_grad` saves memory in plans and in native code: the residuals of a block live for a short time."""

from __future__ import annotations

import tracemalloc
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.ops.math.cast import optimization_barrier
from agc.runtime.optimize import optimize

ROWS, SIZE, BLOCKS, LAYERS = 512, 16, 6, 5
RANDOM = np.random.default_rng(0)
WEIGHTS = RANDOM.standard_normal((BLOCKS, LAYERS, SIZE, SIZE), np.float32) / np.float32(SIZE**0.5)
X = RANDOM.standard_normal((ROWS, SIZE), np.float32)
ACTIVATION = 4 * ROWS * SIZE


def block(x: Any, *weights: Any) -> Any:
    for weight in weights:
        x = tf.tanh(tf.matmul(x, weight))
    return x


def gradients(x: Any, is_recomputed: bool) -> Any:
    weights = [list(map(tf.constant, some)) for some in WEIGHTS]
    with tf.GradientTape() as tape:
        tape.watch([x, weights])
        y, layer = x, tf.recompute_grad(block) if is_recomputed else block
        for some in weights:
            y = layer(y, *some)
        loss = tf.reduce_sum(tf.square(y))
    return tape.gradient(loss, [x, weights[0][1], weights[-1][0]])


def graph_of(is_recomputed: bool) -> Any:
    function = tf.function(lambda x: gradients(x, is_recomputed), jit_compile=False)
    return function.get_concrete_function(tf.constant(X))


def test_plans_hold_the_inputs_of_blocks_and_one_block() -> None:
    peaks = []
    for is_recomputed in (False, True):
        concrete, x = graph_of(is_recomputed), tf.constant(X)
        concrete(x), concrete(x)
        tracemalloc.start()
        concrete(x)
        peaks.append(tracemalloc.get_traced_memory()[1] / ACTIVATION)
        tracemalloc.stop()
    assert peaks[0] > BLOCKS * LAYERS
    assert peaks[1] < BLOCKS + LAYERS + 5


def test_native_code_assigns_fewer_buffers() -> None:
    sizes = []
    for is_recomputed in (False, True):
        graph = graph_of(is_recomputed).graph
        unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
        sizes.append(sum(slot.size for slot in unit.slots) / ACTIVATION)
    assert sizes[0] > BLOCKS * LAYERS
    assert sizes[1] < BLOCKS + LAYERS + 5


@pytest.mark.parametrize("jit_compile", [False, True])
def test_gradients_of_recomputed_blocks_are_the_same(jit_compile: bool) -> None:
    wanted = gradients(tf.constant(X), False)
    found = tf.function(lambda x: gradients(x, True), jit_compile=jit_compile)(tf.constant(X))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_second_derivatives_pass_through_a_recomputed_block() -> None:
    @tf.function
    def second(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.recompute_grad(lambda x: x**4)(x)
            slope = tape.gradient(y, x)
        return outer.gradient(slope, x)

    np.testing.assert_allclose(second(tf.constant([1.0, 2.0])), [12.0, 48.0])


def test_a_barrier_keeps_equal_operations_apart() -> None:
    @tf.function
    def twice(x: Any) -> Any:
        return tf.exp(x) + tf.exp(optimization_barrier(x, []))

    graph = optimize(twice.get_concrete_function(tf.TensorSpec([3])).graph)
    assert str(graph).count("= exp") == 2
