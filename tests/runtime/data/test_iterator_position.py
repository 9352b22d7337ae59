"""Checkpoints save the position of an iterator; restoring moves it, or one of an equal dataset."""

import agc.runtime as tf
import pytest

PIPELINES = {
    "batches": lambda: tf.data.Dataset.range(10).map(lambda x: x * x).batch(2),
    "repeated": lambda: tf.data.Dataset.range(3).repeat().batch(2).take(6).prefetch(2),
    "generated": lambda: tf.data.Dataset.from_generator(
        lambda: iter(range(7)), output_signature=tf.TensorSpec([], tf.int32)
    ),
}


def rest(iterator):
    return [element.numpy().tolist() for element in iterator]


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_an_iterator_goes_on_from_its_position(make, tmp_path):
    iterator = iter(make())
    next(iterator), next(iterator)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.write(tmp_path / "point")
    expected = rest(iterator)
    assert len(expected) > 2
    checkpoint.read(path).assert_consumed()
    assert rest(iterator) == expected
    other = iter(make())
    tf.train.Checkpoint(iterator=other).read(path)
    assert rest(other) == expected


def test_elements_that_graphs_take_are_counted(tmp_path):
    iterator = iter(tf.data.Dataset.range(6))
    taken = tf.function(lambda it: next(it) + next(it))
    assert int(taken(iterator)) == 1
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.write(tmp_path / "point")
    assert int(taken(iterator)) == 5
    checkpoint.read(path)
    assert int(taken(iterator)) == 5


@pytest.mark.parametrize(
    "dataset",
    [tf.data.Dataset.range(9).shuffle(3), tf.data.Dataset.random(seed=1).take(3)],
    ids=["shuffle", "random"],
)
def test_random_choices_are_refused(dataset):
    with pytest.raises(
        ValueError, match=r"position of the iterator `it`, whose dataset makes random choices"
    ):
        tf.train.Checkpoint(it=iter(dataset))
