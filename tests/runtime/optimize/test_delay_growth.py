"""Operations with big results run when these are first used; effects and operations that may fail keep their order."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
from agc.runtime.ir.parser import parse
from agc.runtime.optimize.delay_growth import delayed

STEP = """\
graph step(x: float32[64, 1], d: float32[1, 64]) -> float32[64, 64], float32[64, 64]
  g = matmul x, d                               : float32[64, 64]
  e = multiply d, 2.0                           : float32[1, 64]
  h = matmul x, e                               : float32[64, 64]
  i = exp h                                     : float32[64, 64]
  j = multiply g, 3.0                           : float32[64, 64]
  return i, j
"""


def order(text):
    return [operation.outputs[0].name for operation in delayed(parse(text).live_operations())]


def test_a_product_that_is_bigger_than_its_factors_waits_for_its_reader():
    assert order(STEP) == ["e", "h", "i", "g", "j"]


def test_a_product_of_unknown_sizes_may_fail_and_stays():
    unknown = STEP.replace("float32[1, 64]", "float32[?, 64]")
    assert order(unknown) == ["g", "e", "h", "i", "j"]


def test_results_that_only_the_graph_returns_come_last():
    assert order(STEP.replace("return i, j", "return i, g")) == ["e", "h", "i", "g"]


def test_a_step_with_delayed_gradients_trains_as_without_a_graph():
    def trained(wrap):
        x = tf.constant(np.linspace(-1, 1, 2 * 64, dtype=np.float32).reshape(2, 64))
        weights = [tf.Variable(tf.eye(64) * scale) for scale in (0.5, 1.5, 1.0)]

        @wrap
        def step():
            with tf.GradientTape() as tape:
                h = x
                for weight in weights:
                    h = tf.tanh(h @ weight)
                loss = tf.reduce_sum(h * h)
            for gradient, weight in zip(tape.gradient(loss, weights), weights, strict=True):
                weight.assign_sub(0.1 * gradient)

        step()
        return [weight.numpy() for weight in weights]

    graph = tf.function(jit_compile=False)
    for one, other in zip(trained(graph), trained(lambda step: step), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_delayed_result_is_computed_from_the_values_before_a_later_update():
    v = tf.Variable(np.ones((1, 64), np.float32))

    @tf.function(jit_compile=False)
    def outer():
        product = tf.matmul(v, v, transpose_a=True)
        v.assign_add(tf.ones((1, 64)))
        return product

    assert outer().numpy().max() == 1.0
    assert v.numpy().max() == 2.0
