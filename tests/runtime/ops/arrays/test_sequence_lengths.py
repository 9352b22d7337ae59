"""sequence_mask and reverse_sequence."""

import agc.runtime as tf


def test_sequence_mask() -> None:
    assert tf.sequence_mask([1, 3], 4, dtype=tf.int32).numpy().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]
    traced = tf.function(tf.sequence_mask)(tf.constant([1, 2]))
    assert traced.numpy().tolist() == [[True, False], [True, True]]


def test_reverse_sequence_turns_the_first_part_of_each_row() -> None:
    assert tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist() == [
        [2, 1, 3],
        [6, 5, 4],
    ]
    turned = tf.reverse_sequence([[1, 2], [3, 4], [5, 6]], [3, 0], seq_axis=0, batch_axis=1)
    assert turned.numpy().tolist() == [[5, 2], [3, 4], [1, 6]]
