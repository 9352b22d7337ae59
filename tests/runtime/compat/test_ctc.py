"""`tf.compat.v1.nn.ctc_loss` and `ctc_beam_search_decoder`: numbers are TensorFlow's."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest

nn = tf.compat.v1.nn
LOGITS = np.random.RandomState(1).randn(7, 3, 5).astype(np.float32)
LENGTHS = [7, 6, 7]
LABELS = tf.SparseTensor(
    [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]], np.int32([1, 2, 0, 3, 3, 1]), [3, 3]
)
PATHS = np.float32([[9, 0, 0], [0, 0, 9], [9, 0, 0], [0, 9, 0]])[:, np.newaxis]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"inputs": LOGITS}, [5.49806, 9.43457, 5.05409]),
        ({"logits": LOGITS}, [5.49806, 9.43457, 5.05409]),
        ({"inputs": LOGITS.transpose(1, 0, 2), "time_major": False}, [5.49806, 9.43457, 5.05409]),
        ({"inputs": LOGITS, "preprocess_collapse_repeated": True}, [5.49806, 9.43457, 5.0073]),
    ],
)
def test_loss(given, expected):
    eager = nn.ctc_loss(LABELS, sequence_length=LENGTHS, **given)
    graph = tf.function(lambda: nn.ctc_loss(LABELS, sequence_length=LENGTHS, **given))()
    assert np.allclose(eager, expected, atol=2e-5)
    assert np.allclose(graph, expected, atol=2e-5)


def test_loss_has_gradients():
    x = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = nn.ctc_loss(LABELS, x, LENGTHS)
    sizes = tf.reduce_sum(tf.abs(tape.gradient(loss, x)), [0, 2])
    assert np.allclose(sizes, [6.14012, 8.64685, 6.17664], atol=2e-5)


@pytest.mark.parametrize(
    ("labels", "given", "error", "message"),
    [
        (LABELS, {"inputs": LOGITS, "logits": LOGITS}, ValueError, "and not as both"),
        (LABELS, {}, ValueError, "takes the logits"),
        ([[1]], {"inputs": LOGITS}, TypeError, "to be a SparseTensor"),
        (LABELS, {"inputs": LOGITS, "ctc_merge_repeated": False}, ValueError, "ctc_merge_repeated=False"),
    ],
)
def test_wrong_arguments(labels, given, error, message):
    with pytest.raises(error, match=message):
        nn.ctc_loss(labels, sequence_length=LENGTHS, **given)


def test_decoder_merges_equal_labels_also_across_blanks():
    (merged,), scores = nn.ctc_beam_search_decoder(PATHS, [4])
    (plain,), same = nn.ctc_beam_search_decoder(PATHS, [4], merge_repeated=False)
    assert plain.values.numpy().tolist() == [0, 0, 1]
    assert merged.values.numpy().tolist() == [0, 1]
    assert merged.indices.numpy().tolist() == [[0, 0], [0, 1]]
    assert merged.dense_shape.numpy().tolist() == [1, 2]
    assert np.array_equal(scores, same)


def test_second_names_are_tensorflow_2s_functions():
    assert nn.ctc_loss_v2 is tf.nn.ctc_loss
    assert nn.ctc_beam_search_decoder_v2 is tf.nn.ctc_beam_search_decoder
