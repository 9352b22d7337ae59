"""Datasets of two replicas: split batches, pipelines from functions, loops and iterators in functions."""

import agc.runtime as tf
import pytest

SUM = tf.VariableAggregation.SUM


def rows(strategy, data):
    """Return the parts of each element as lists."""
    return [[part.numpy().tolist() for part in strategy.experimental_local_results(one)] for one in data]


@pytest.fixture
def batches(strategy):
    """Three batches of 0 … 8: [[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], []]."""
    return strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(4))


def test_batches_are_split(strategy, batches):
    assert rows(strategy, batches) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], []]]
    assert isinstance(batches, tf.distribute.DistributedDataset)
    spec = tf.TensorSpec([None], tf.int64)
    assert repr(batches.element_spec) == f"PerReplicaSpec({spec!r}, {spec!r})"


def test_nests_and_composite_rows_are_split(strategy):
    ragged = tf.ragged.constant([[1], [2, 3], [], [4, 5, 6]])
    data = tf.data.Dataset.from_tensor_slices({"ragged": ragged, "sparse": tf.sparse.eye(4)}).batch(3)
    first, last = strategy.experimental_distribute_dataset(data)
    assert [one.to_list() for one in first["ragged"].values] == [[[1], [2, 3]], [[]]]
    assert [one.to_list() for one in last["ragged"].values] == [[[4, 5, 6]], []]
    dense = [tf.sparse.to_dense(one).numpy().tolist() for one in last["sparse"].values]
    assert dense == [[[0.0, 0.0, 0.0, 1.0]], []]


def test_elements_without_rows_are_refused(strategy):
    with pytest.raises(ValueError, match=r"cannot share elements of rank 0: .* Batch the dataset"):
        strategy.experimental_distribute_dataset(tf.data.Dataset.range(4))


def test_datasets_from_functions_give_each_replica_a_batch(strategy):
    def made(context):
        return tf.data.Dataset.range(3).batch(context.get_per_replica_batch_size(2))

    assert rows(strategy, strategy.distribute_datasets_from_function(made)) == [[[0], [1]], [[2], []]]


def test_elements_of_a_fixed_size_have_no_empty_parts(strategy):
    data = strategy.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(3))
    assert rows(strategy, data) == [[0, 1]]


def test_a_pipeline_for_each_replica(strategy):
    def made(context):
        assert (
            str(context)
            == f"tf.distribute.InputContext(input pipeline id {context.input_pipeline_id}, total: 2)"
        )
        return tf.data.Dataset.range(2).map(lambda x: x + 10 * context.input_pipeline_id)

    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA
    )
    assert rows(strategy, strategy.distribute_datasets_from_function(made, options)) == [[0, 10], [1, 11]]


@pytest.mark.parametrize("given", ["dataset", "iterator", "captured"])
def test_loops_over_batches_are_staged(strategy, batches, given):
    @tf.function
    def total(data):
        found, count = tf.constant(0, tf.int64), 0
        for batch in batches if data is None else data:
            found += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch,)))
            count += 1
        return found, count

    data = {"dataset": batches, "iterator": iter(batches), "captured": None}[given]
    assert [int(one) for one in total(data)] == [36, 3]


def test_a_staged_loop_may_break(strategy, batches):
    @tf.function
    def total(data):
        found = tf.constant(0, tf.int64)
        for batch in data:
            found += strategy.reduce("SUM", batch, axis=0)
            if found > 5:
                break
        return found

    iterator = iter(batches)
    assert [int(total(iterator)), int(total(iterator)), int(total(iterator))] == [6, 22, 8]


def test_a_step_gets_its_batches_from_an_iterator(strategy, batches):
    with strategy.scope():
        total = tf.Variable(0, dtype=tf.int64, aggregation=SUM)

    @tf.function
    def steps(iterator, count):
        for _ in tf.range(count):
            strategy.run(lambda x: total.assign_add(tf.reduce_sum(x)), args=(next(iterator),))

    iterator = iter(batches)
    steps(iterator, 2)
    assert int(total) == 28
    with pytest.raises(tf.errors.OutOfRangeError):
        steps(iterator, 2)
    assert int(total) == 36


def test_optionals_end_a_loop(strategy, batches):
    @tf.function
    def total(iterator):
        found = tf.constant(0, tf.int64)
        for _ in tf.range(5):
            batch = iterator.get_next_as_optional()
            if not batch.has_value():
                break
            found += strategy.reduce("SUM", batch.get_value(), axis=0)
        return found

    assert int(total(iter(batches))) == 36


def test_specs_of_elements_are_signatures(strategy, batches):
    @tf.function(input_signature=[batches.element_spec])
    def step(batch):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch,)))

    assert [int(step(batch)) for batch in batches] == [6, 22, 8]
    assert step.experimental_get_tracing_count() == 1


def test_reduce_combines_all_batches(strategy, batches):
    total = batches.reduce(
        tf.constant(0, tf.int64), lambda now, batch: now + strategy.reduce("SUM", batch, axis=0)
    )
    assert int(total) == 36
