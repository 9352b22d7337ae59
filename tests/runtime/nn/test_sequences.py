"""Connectionist temporal classification compared with its definition, a sum over all sequences of frames."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

LOGITS = np.random.default_rng(0).normal(size=(5, 3, 4)).astype("f")
LABELS = [[1, 2, 0], [3, 3, 1], [2, 0, 0]]


def by_definition(logits: Any, blank: int) -> Any:
    """The probability of all labels that frames can mean."""
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    found: Any = defaultdict(float)
    for frames in itertools.product(range(logits.shape[1]), repeat=len(logits)):
        labels = tuple(label for label, _ in itertools.groupby(frames) if label != blank)
        found[labels] += np.prod([shares[time, label] for time, label in enumerate(frames)])
    return found


def test_the_loss_is_a_sum_over_all_sequences() -> None:
    found = tf.nn.ctc_loss(LABELS, LOGITS, [2, 3, 1], [5, 4, 1], blank_index=0).numpy()
    for row, (count, frames) in enumerate([(2, 5), (3, 4), (1, 1)]):
        chance = by_definition(LOGITS[:frames, row].astype(float), 0)[tuple(LABELS[row][:count])]
        np.testing.assert_allclose(found[row], -np.log(chance), rtol=1e-5)
    # TensorFlow 2.21
    np.testing.assert_allclose(found, [3.297616, 5.6403656, 1.4799137], rtol=1e-5)


def test_a_label_may_equal_the_blank() -> None:
    with tf.GradientTape() as tape:
        logits = tf.constant(LOGITS)
        tape.watch(logits)
        found = tf.nn.ctc_loss(LABELS, logits, [3, 2, 2], [5, 5, 4], blank_index=0)
    np.testing.assert_allclose(found, [3.410471, 5.004779, 5.150537], rtol=1e-5)  # TensorFlow 2.21
    np.testing.assert_allclose(tf.reduce_sum(tape.gradient(found, logits), -1), 0.0, atol=1e-5)


def test_labels_in_other_forms() -> None:
    expected = tf.nn.ctc_loss(LABELS, LOGITS, [2, 2, 1], [5, 5, 4])
    sparse = tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], [1, 2, 3, 3, 2], [3, 3])
    np.testing.assert_allclose(tf.nn.ctc_loss(sparse, LOGITS, None, [5, 5, 4], blank_index=0), expected)
    floats = tf.constant([5.0, 5.0, 4.0])  # TensorFlow takes these lengths as floats too
    np.testing.assert_allclose(tf.nn.ctc_loss(LABELS, LOGITS, [2, 2, 1], floats), expected)
    turned = LOGITS.transpose(1, 0, 2)
    found = tf.nn.ctc_loss(LABELS, turned, [2, 2, 1], [5, 5, 4], logits_time_major=False)
    np.testing.assert_allclose(found, expected)
    last = np.roll(LOGITS, -1, 2)
    found = tf.nn.ctc_loss(np.array(LABELS) - 1, last, [2, 2, 1], [5, 5, 4], blank_index=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_gradient() -> None:
    logits, weights = LOGITS.astype("d"), np.array([1.0, 2.0, 3.0])

    def loss(x: Any) -> Any:
        return tf.reduce_sum(tf.nn.ctc_loss(LABELS, x, [2, 2, 1], [5, 5, 4]) * weights)

    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant(logits))
        y = loss(x)
    found = tape.gradient(y, x).numpy()
    for place in np.ndindex(logits.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = logits.copy()
            moved[place] += step
            ends.append(loss(moved).numpy())
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-7)


def test_ctc_losses_of_dynamic_and_empty_sizes() -> None:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None, 4]),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def traced(labels: Any, logits: Any, counts: Any, frames: Any) -> Any:
        return tf.nn.ctc_loss(labels, logits, counts, frames)

    np.testing.assert_allclose(
        traced(LABELS, LOGITS, [2, 2, 1], [5, 5, 4]), tf.nn.ctc_loss(LABELS, LOGITS, [2, 2, 1], [5, 5, 4])
    )
    none = np.zeros(0, "i")
    assert traced(np.zeros((0, 3), "i"), LOGITS[:, :0], none, none).shape == (0,)
    assert np.isinf(tf.nn.ctc_loss(LABELS, LOGITS, [2, 3, 1], [5, 3, 2]).numpy()).tolist() == [
        False,
        True,
        False,
    ]
    empty = tf.nn.ctc_loss(LABELS, LOGITS, [0, 0, 0], [5, 2, 0]).numpy()
    chances = [
        -np.log(by_definition(LOGITS[:frames, row].astype(float), 0)[()]) for row, frames in ((0, 5), (1, 2))
    ]
    np.testing.assert_allclose(empty, [*chances, 0], rtol=1e-5)


def test_decoders() -> None:
    (labels,), score = tf.nn.ctc_greedy_decoder(LOGITS, [5, 5, 4])
    assert tf.sparse.to_dense(labels).numpy().tolist() == [[2, 1, 0, 0], [2, 1, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_allclose(score, [[-4.6201673], [-4.7371073], [-3.908893]], rtol=1e-6)
    (labels,), _ = tf.nn.ctc_greedy_decoder(LOGITS, [5, 5, 4], merge_repeated=False, blank_index=0)
    assert labels.values.numpy().tolist() == [2, 1, 3, 2, 3, 1, 1, 1, 3, 1, 1, 3]
    (best, _), scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 5, 4], beam_width=100, top_paths=2)
    for row, frames in enumerate([5, 5, 4]):
        chances = sorted(
            by_definition(LOGITS[:frames, row].astype(float), 3).items(), key=lambda item: -item[1]
        )
        found = [int(label) for (at, _), label in zip(best.indices, best.values, strict=True) if at == row]
        assert tuple(found) == chances[0][0]
        np.testing.assert_allclose(scores[row], np.log([chance for _, chance in chances[:2]]), rtol=1e-4)
    narrow, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 5, 4], beam_width=3, top_paths=2)
    # TensorFlow 2.21
    np.testing.assert_allclose(scores[:, 0], [-3.0385764, -2.1948037, -2.2903633], rtol=1e-5)
    assert narrow[1].values.numpy().tolist() == [2, 0, 0, 2, 1, 0, 1]


def beam_by_definition(logits: Any, width: int) -> tuple[tuple[int, ...], float]:
    """The best of the `width` most probable prefixes of each frame; the last class is the blank."""
    beam: Any = {(): (1.0, 0.0)}  # the probability of a prefix that ends in a blank, and in its last label
    for frame in np.exp(logits) / np.exp(logits).sum(-1, keepdims=True):
        grown: Any = defaultdict(lambda: [0.0, 0.0])
        for prefix, (blank, label) in beam.items():
            grown[prefix][0] += (blank + label) * frame[-1]
            if prefix:
                grown[prefix][1] += label * frame[prefix[-1]]
            for new in range(len(frame) - 1):
                repeats = prefix[-1:] == (new,)
                grown[*prefix, new][1] += (blank if repeats else blank + label) * frame[new]
        beam = dict(sorted(grown.items(), key=lambda item: -sum(item[1]))[:width])
    labels, chances = max(beam.items(), key=lambda item: sum(item[1]))
    return labels, sum(chances)


def test_narrow_beams_keep_the_most_probable_prefixes() -> None:
    random = np.random.default_rng(5)
    for width in range(1, 7):
        logits = random.normal(size=(6, 1, 3)).astype("f")
        (found,), score = tf.nn.ctc_beam_search_decoder(logits, [6], beam_width=width)
        labels, chance = beam_by_definition(logits[:, 0].astype(float), width)
        assert tuple(found.values.numpy().tolist()) == labels
        np.testing.assert_allclose(score, [[np.log(chance)]], rtol=1e-4)


def test_longer_prefixes_replace_the_worst_in_turn() -> None:
    """TensorFlow's beam is not always that of the definition: a replaced prefix may lose its turn to grow."""
    logits = np.array([[1, 2.125, 2.25], [2, -1.875, 1.25], [-1, 1.125, 2.25]], "f")
    (found,), score = tf.nn.ctc_beam_search_decoder(logits[:, None], [3], beam_width=2)
    labels, chance = beam_by_definition(logits.astype(float), 2)
    assert tuple(found.values.numpy().tolist()) == labels == (0,)
    np.testing.assert_allclose(
        [score[0, 0], np.log(chance)], [-1.4296168, -1.4470953], rtol=1e-5
    )  # TensorFlow 2.21
    (found,), score = tf.nn.ctc_beam_search_decoder(np.zeros((3, 1, 1), "f"), [3], beam_width=2)
    assert not found.values.numpy().size and score.numpy() == 0  # a blank is the only class


def test_rows_of_labels() -> None:
    labels, places = tf.nn.ctc_unique_labels(LABELS)
    assert labels.numpy().tolist() == [[1, 2, 0], [3, 1, 0], [2, 0, 0]]
    assert places.numpy().tolist() == [[0, 1, 2], [0, 0, 1], [0, 1, 1]]
    collapsed, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    assert collapsed.numpy().tolist() == [[1, 2, 1], [3, 0, 0]] and lengths.numpy().tolist() == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((LABELS, LOGITS, [2, 2, 9], [5, 5, 4]), "label_length"),
        ((LABELS, LOGITS, [2, 2, 1], [5, 6, 4]), "logit_length"),
        (([[7]] * 3, LOGITS, [1, 1, 1], [5, 5, 4]), "labels must be in"),
        ((LABELS, LOGITS[0], [2, 2, 1], [5, 5, 4]), "rank 3"),
    ],
)
def test_refusals_name_the_mismatch(arguments: Any, words: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.nn.ctc_loss(*arguments)
