"""Hashed feature crosses are TensorFlow's numbers, in eager code and in graphs."""

import agc.runtime as tf
import pytest

LETTERS = tf.constant([["a", "b"], ["q", ""]])
ENDS = tf.constant([["x"], ["y"]])
HASHES = [1484974617627318892, 3552177129620670004, 5017840080739111620, 2533207016434753747]


def test_hashes_are_those_of_tensorflow():
    crossed = tf.sparse.cross_hashed([LETTERS, ENDS])
    assert crossed.values.numpy().tolist() == HASHES
    assert crossed.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    traced = tf.function(lambda a, b: tf.sparse.cross_hashed([a, b]).values)
    assert traced(LETTERS, ENDS).numpy().tolist() == HASHES


def test_integers_buckets_and_keys():
    numbers = tf.constant([[1, 2]]), tf.constant([[-3]], tf.int64)
    assert tf.sparse.cross_hashed([numbers[0], LETTERS[:1, :1]], num_buckets=100).values.numpy().tolist() == [
        45,
        93,
    ]
    assert tf.sparse.cross_hashed(numbers, hash_key=5).values.numpy().tolist() == [
        3020688770473706464, 2120089421081318279,
    ]  # fmt: skip


def test_ragged_and_sparse_features():
    ragged = tf.ragged.constant([["a", "b"], []])
    assert tf.ragged.cross_hashed([ragged, ENDS]).to_list() == [HASHES[:2], []]
    assert tf.ragged.cross_hashed([ragged, tf.constant([[7], [8]])], 100, 9).to_list() == [[52, 12], []]
    assert tf.sparse.cross_hashed([tf.sparse.from_dense(LETTERS), ENDS]).values.numpy().tolist() == HASHES[:3]


@pytest.mark.parametrize(
    ("inputs", "options", "error"),
    [
        ("a", {}, TypeError),
        ([[1]], {}, TypeError),
        ([tf.constant(["a"])], {}, ValueError),
        ([tf.constant([["a"]]), LETTERS], {}, tf.errors.InvalidArgumentError),
        ([tf.constant([[1.0]])], {}, tf.errors.InvalidArgumentError),
        ([LETTERS], {"num_buckets": -1}, tf.errors.InvalidArgumentError),
    ],
)
def test_inputs_that_cannot_be_crossed_are_refused(inputs, options, error):
    with pytest.raises(error):
        tf.sparse.cross_hashed(inputs, **options)
