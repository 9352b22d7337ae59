"""Which iterations draw seeds, and when: TensorFlow's orders also after iterators that nothing has read."""

from __future__ import annotations

import agc.runtime as tf
import pytest

D = tf.data.Dataset


def shuffled():
    return D.range(6).shuffle(6, seed=4)


def numbers(ds):
    return [int(x) for x in ds]


ORDERS = [numbers(ds) for ds in [shuffled()] for _ in range(12)]

SAME_ELEMENTS = {
    "take_while": lambda ds: ds.take_while(lambda x: x >= 0),
    "unique": lambda ds: ds.unique(),
    "ignore_errors": lambda ds: ds.ignore_errors(),
    "assert_cardinality": lambda ds: ds.apply(tf.data.experimental.assert_cardinality(6)),
    "window": lambda ds: ds.window(2).flat_map(lambda part: part),
    "group_by_window": lambda ds: ds.group_by_window(lambda x: x * 0, lambda key, part: part, 6),
    "concatenate": lambda ds: ds.concatenate(D.range(0)),
    "repeat": lambda ds: ds.repeat(1),
    "repeat forever": lambda ds: ds.repeat().take(6),
    "cache": lambda ds: ds.cache(),
    "choose_from_datasets": lambda ds: D.choose_from_datasets([ds], D.range(1).repeat()),
    "prefetch": lambda ds: ds.map(lambda x: x, num_parallel_calls=2).prefetch(1),
}


@pytest.mark.parametrize("change", SAME_ELEMENTS.values(), ids=SAME_ELEMENTS)
def test_an_iterator_that_nothing_reads_draws_the_seeds_of_its_source(change):
    ds = change(shuffled())
    iter(ds)
    assert numbers(ds) == ORDERS[1]


def test_a_shuffle_leaves_the_seeds_of_its_source_to_the_first_element():
    ds = shuffled().shuffle(1)
    iter(ds)
    assert [numbers(ds), numbers(ds)] == ORDERS[:2]


def test_a_shuffle_draws_its_own_seeds_without_an_element():
    ds = shuffled()
    iter(ds)
    assert numbers(ds) == ORDERS[1]


def test_the_second_dataset_of_concatenate_draws_when_it_begins():
    ds = D.range(1).concatenate(shuffled())
    iter(ds)
    assert numbers(ds) == [0, *ORDERS[0]]


def test_a_group_by_reducer_draws_the_seeds_of_its_source():
    last = tf.data.experimental.Reducer(lambda key: key, lambda state, x: x, lambda state: state)
    ds = shuffled().apply(tf.data.experimental.group_by_reducer(lambda x: x * 0, last))
    iter(ds)
    assert numbers(ds) == ORDERS[1][-1:]


@pytest.mark.parametrize(("initial", "step"), [([0.5, 0.5], 1), (None, 5)])
def test_rejection_resample_draws_as_often_as_tensorflow(initial, step):
    # The classes are balanced, so nothing is rejected: the elements have the order of the source.
    ds = shuffled().rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], initial, seed=2)
    first = 0 if initial else 1  # an estimate opens the source before the elements do
    found = [numbers(ds.map(lambda kind, x: x)) for _ in range(2)]
    assert found == [ORDERS[first], ORDERS[first + step]]


def test_a_dataset_of_a_function_starts_again_at_every_call():
    assert numbers(D.range(2).flat_map(lambda x: shuffled())) == ORDERS[0] * 2
    twice = D.range(2).flat_map(lambda x: shuffled().repeat(2))
    assert [numbers(twice), numbers(twice)] == [(ORDERS[0] + ORDERS[1]) * 2] * 2


def test_a_dataset_in_a_loop_of_a_graph_starts_again_in_every_round():
    @tf.function
    def orders():
        found = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for _ in tf.range(2):
            for x in D.range(6).shuffle(6, seed=4):
                found = found.write(found.size(), x)
        return found.stack()

    assert [orders().numpy().tolist(), orders().numpy().tolist()] == [ORDERS[0] * 2] * 2


def test_a_cache_of_a_function_is_filled_again_at_every_call():
    ds = D.range(2).flat_map(lambda x: D.range(3).map(lambda y: tf.random.uniform([])).cache())
    first, second = [float(x) for x in ds], [float(x) for x in ds]
    assert len(set(first)) == 6
    assert len(second) == 6
