"""Accuracies of elements have the shape of the elements, and any threshold."""

import agc.runtime as tf
import numpy as np
import pytest

metrics = tf.keras.metrics


@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 3), ()])
def test_there_is_one_for_each_element(shape):
    truth = np.resize([1.0, 0.0], shape)
    right = metrics.binary_accuracy(tf.constant(truth), tf.constant(truth * 0.9))
    assert right.shape == shape
    assert np.all(right.numpy() == 1)


def test_a_weight_counts_all_elements_of_a_sample():
    truth, guess = [[1.0, 0.0], [1.0, 1.0]], [[0.9, 0.8], [0.1, 0.7]]
    for metric in (metrics.BinaryAccuracy(), metrics.Accuracy()):
        rounded = np.round(guess)
        assert float(metric(truth, rounded)) == 0.5
        metric.reset_state()
        assert float(metric(truth, rounded, sample_weight=[1.0, 0.0])) == 0.5


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, 2 / 3), (2.0, 2 / 3), (-3.0, 2 / 3)])
def test_a_threshold_may_be_one_of_logits(threshold, expected):
    metric = metrics.BinaryAccuracy(threshold=threshold)
    metric.update_state([0.0, 1.0, 1.0], [-2.0, 3.0, -1.0])
    assert float(metric.result()) == pytest.approx(expected)
