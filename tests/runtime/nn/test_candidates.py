"""Sampled classes and the losses that need them: numbers from TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.nn import candidate_sampling

TRUE = [[1, 2], [3, 4]]


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=1e-5)


def test_samplers_draw_tensorflows_classes() -> None:
    tf.random.set_seed(3)
    drawn = candidate_sampling.log_uniform_candidate_sampler(TRUE, 2, 5, True, 10, seed=1)
    assert drawn.sampled_candidates.numpy().tolist() == [0, 4, 3, 5, 9]
    close(drawn.true_expected_count, [0.8112113, 0.6834334, 0.58484024, 0.5092007])
    close(drawn.sampled_expected_count, [0.9536051, 0.5092007, 0.58484024, 0.4500935, 0.30582446])
    drawn = candidate_sampling.uniform_candidate_sampler(TRUE, 2, 5, True, 10, seed=1)
    assert drawn.sampled_candidates.numpy().tolist() == [9, 3, 0, 4, 2]
    close(drawn.true_expected_count, [0.5] * 4)
    drawn = candidate_sampling.log_uniform_candidate_sampler(TRUE, 2, 5, False, 10, seed=1)
    assert drawn.sampled_candidates.numpy().tolist() == [0, 0, 4, 3, 3]
    weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    drawn = tf.nn.fixed_unigram_candidate_sampler(TRUE, 2, 3, True, 6, unigrams=weights, seed=1)
    assert drawn.sampled_candidates.numpy().tolist() == [5, 1, 3]
    close(drawn.true_expected_count, [0.4514631, 0.60343057, 0.7185652, 0.8043841])
    close(drawn.sampled_expected_count, [0.8671897, 0.4514631, 0.7185652])
    drawn = tf.nn.all_candidate_sampler(TRUE, 2, 5, True)
    assert drawn.sampled_candidates.numpy().tolist() == [0, 1, 2, 3, 4]
    hits = tf.nn.compute_accidental_hits(TRUE, [1, 3, 7, 0], 2)
    assert hits.indices.numpy().tolist() == [0, 1] and hits.ids.numpy().tolist() == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="different classes"):
        candidate_sampling.uniform_candidate_sampler(TRUE, 2, 11, True, 10)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        candidate_sampling.uniform_candidate_sampler(TRUE, 2, 2, True, 4)


def test_losses_over_all_classes_equal_the_full_losses() -> None:
    random = np.random.default_rng(1)
    weights, biases, x = (random.normal(size=shape).astype("f") for shape in ((6, 4), (6,), (3, 4)))
    drawn = tf.nn.all_candidate_sampler([[0], [2], [5]], 1, 6, True)
    found = tf.nn.sampled_softmax_loss(weights, biases, [[0], [2], [5]], x, 6, 6, sampled_values=drawn)
    logits = x @ weights.T + biases
    close(found, tf.nn.sparse_softmax_cross_entropy_with_logits([0, 2, 5], logits))
    found = tf.nn.nce_loss(weights, biases, [[0], [2], [5]], x, 6, 6, sampled_values=drawn)
    right = tf.nn.sigmoid_cross_entropy_with_logits(np.ones(3, "f"), logits[[0, 1, 2], [0, 2, 5]])
    others = tf.nn.sigmoid_cross_entropy_with_logits(np.zeros((3, 6), "f"), logits)
    close(found, right + tf.reduce_sum(others, 1))


def test_losses_in_a_graph_have_gradients() -> None:
    weights, biases, x = tf.Variable(tf.ones([6, 4])), tf.Variable(tf.zeros([6])), tf.ones([3, 4])

    @tf.function
    def gradients() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.nn.sampled_softmax_loss(weights, biases, [[0], [2], [5]], x, 3, 6, seed=1)
        return tape.gradient(loss, [weights, biases])

    of_weights, of_biases = gradients()
    assert tf.convert_to_tensor(of_weights).shape == (6, 4) and tf.convert_to_tensor(of_biases).shape == (6,)
