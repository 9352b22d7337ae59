"""Fake quantization; the expected values are TensorFlow's."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import errors

X = np.array([-1.0, -0.5, 0.0, 0.26, 0.5, 1.0, 2.0, 7.0], np.float32)

STEP = -0.09921569

#       min   max  options                  values of X              gradients of min, max
CASES = {
    "8 bits": (-0.1, 1.0, {}, [STEP, STEP, 0, 0.25882354, 0.50039214, 1.0007843, 1.0007843, 1.0007843], (2, 2)),
    "4 bits": (0.2, 1.0, {"num_bits": 4}, [0, 0, 0, 0.26666668, 0.48000002, 0.8, 0.8, 0.8], (2, 3)),
    "narrow": (-2.0, -1.0, {"narrow_range": True}, [-1, -0.5, 0, 0, 0, 0, 0, 0], (0, 5)),
    "3 bits": (-6.0, 6.0, {"num_bits": 3, "narrow_range": True}, [0, 0, 0, 0, 0, 2, 2, 6], (0, 1)),
    "nothing observed": (0.0, 0.0, {}, [0] * 8, (0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("low, high, options, values, at_ends", CASES.values(), ids=CASES)
def test_values_and_gradients(low, high, options, values, at_ends):
    x, ends = tf.constant(X), (tf.constant(low), tf.constant(high))
    with tf.GradientTape() as tape:
        tape.watch([x, *ends])
        y = tf.function(tf.quantization.fake_quant_with_min_max_vars)(x, *ends, **options)
    np.testing.assert_array_equal(y, np.float32(values))
    inside, *found = tape.gradient(y, [x, *ends])
    assert tuple(map(float, found)) == at_ends
    assert float(tf.reduce_sum(inside)) == len(X) - sum(at_ends)


def test_constant_limits_have_the_same_values():
    expected = tf.quantization.fake_quant_with_min_max_vars(X, -2.0, 1.0)
    np.testing.assert_array_equal(tf.quantization.fake_quant_with_min_max_args(X, -2.0, 1.0), expected)


def test_each_channel_has_its_limits():
    rows = np.array([[-2.0, 1.0, 0.2], [0.0, -1.0, 2.0]], np.float32)
    low, high = tf.constant([-1.0, 0.0, 0.5]), tf.constant([1.0, 0.5, 3.0])
    with tf.GradientTape() as tape:
        tape.watch([low, high])
        y = tf.quantization.fake_quant_with_min_max_vars_per_channel(rows, low, high)
    assert [g.numpy().tolist() for g in tape.gradient(y, [low, high])] == [[1, 1, 0], [0, 1, 0]]
    ones = tf.quantization.fake_quant_with_min_max_vars_per_channel(
        np.ones([1, 3], np.float32), [-1.0, 0.0, 0.5], [1.0, 2.0, 3.0]
    )
    np.testing.assert_array_equal(ones, np.float32([[1.0039216, 1.0039216, 1]]))


@pytest.mark.parametrize("wrong", [{"num_bits": 1}, {"num_bits": 17}, {"min": 1.0, "max": 1.0}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(errors.InvalidArgumentError, match=r"num_bits must be between|min has to be smaller"):
        tf.quantization.fake_quant_with_min_max_args([1.0], **wrong)


@pytest.mark.parametrize("limits", [(-1.0, 1.0), ([-1.0, 0.0, 0.5], [1.0, 0.5, 3.0])])
def test_the_gradient_is_linear_in_the_gradient_that_it_is_given(limits):
    rows = np.array([[-2.0, 1.5, 0.7], [0.3, -1.0, 4.0]], np.float32)
    gradients = tf.constant([[0.5, -1.5, 2.0], [3.0, 0.25, -0.5]])
    weights = [tf.constant([[2.0, -3.0, 0.5], [1.5, 4.0, -2.0]]), tf.constant(7.0), tf.constant(-5.0)]
    backward = (
        tf.quantization.fake_quant_with_min_max_vars_gradient
        if isinstance(limits[0], float)
        else tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient
    )

    def total(g):
        return sum(
            tf.reduce_sum(w * part) for w, part in zip(weights, backward(g, rows, *limits), strict=True)
        )

    with tf.GradientTape() as tape:
        tape.watch(gradients)
        y = total(gradients)
    slopes = tape.gradient(y, gradients)
    np.testing.assert_allclose(tf.reduce_sum(slopes * gradients), y, rtol=1e-6)
    for index in np.ndindex(2, 3):
        one = np.zeros((2, 3), np.float32)
        one[index] = 1.0
        np.testing.assert_allclose(slopes[index], total(tf.constant(one)), rtol=1e-6)
