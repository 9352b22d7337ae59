"""`tf.distribute` in one process: one replica, with the contexts and errors of TensorFlow."""

import contextlib
import threading

import agc.runtime as tf
import numpy as np
import pytest

distribute = tf.distribute
STRATEGIES = {
    "default": distribute.get_strategy,
    "mirrored": distribute.MirroredStrategy,
    "one device": lambda: distribute.OneDeviceStrategy("/cpu:0"),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_training_step_runs_in_the_replica(name):
    strategy = STRATEGIES[name]()
    with strategy.scope():
        v = tf.Variable(2.0)

    @tf.function
    def step(batch):
        def replica(x):
            context = distribute.get_replica_context()
            if tf.reduce_sum(x) > 100.0:
                x = -x
            v.assign_add(context.all_reduce("sum", tf.reduce_mean(x)))
            return tf.reduce_sum(x)

        return strategy.reduce(distribute.ReduceOp.SUM, strategy.run(replica, args=(batch,)), axis=None)

    data = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]).batch(2)
    )
    assert [float(step(batch)) for batch in data] == [3.0, 7.0]
    assert float(v) == 2.0 + 1.5 + 3.5


def test_contexts_are_those_of_tensorflow():
    strategy = distribute.MirroredStrategy()
    seen = []

    def look():
        seen.append((distribute.has_strategy(), distribute.in_cross_replica_context()))

    look()
    with strategy.scope():
        look()
        strategy.run(look)
        strategy.run(lambda: distribute.get_replica_context().merge_call(lambda _: look()))
        assert distribute.get_strategy() is strategy
    assert seen == [(False, False), (True, True), (True, False), (True, True)]
    assert distribute.get_replica_context().num_replicas_in_sync == 1


def test_the_only_worker_writes_checkpoints_and_summaries():
    for strategy in (tf.distribute.get_strategy(), tf.distribute.OneDeviceStrategy("CPU:0")):
        extended = strategy.extended
        assert (extended.should_checkpoint, extended.should_save_summary) == (True, True)
        assert not extended._in_multi_worker_mode()  # Keras Tuner asks


def test_an_axis_is_reduced():
    strategy = distribute.get_strategy()
    np.testing.assert_array_equal(strategy.reduce("MEAN", tf.constant([[1.0, 3.0]]), axis=1), [2.0])
    with pytest.raises(ValueError, match="SUM or MEAN"):
        strategy.reduce("largest", tf.constant(1.0), axis=None)


def test_datasets_come_from_functions():
    strategy = distribute.MirroredStrategy()
    data = strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(2))
    )
    assert [batch.numpy().tolist() for batch in data] == [[0, 1], [2, 3]]


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="'/gpu:0' does not exist"):
        distribute.OneDeviceStrategy("/gpu:0")
    with pytest.raises(ValueError, match="'/gpu:1' does not exist"):
        distribute.MirroredStrategy(["/cpu:0", "/gpu:1"])
    for name in ("TPUStrategy", "ParameterServerStrategy"):
        with pytest.raises(tf.errors.UnimplementedError, match=f"{name} needs servers or accelerators"):
            getattr(distribute, name)()


def test_the_chosen_strategy_makes_the_variables():
    strategy = distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    distribute.experimental_set_strategy(strategy)
    try:
        assert distribute.get_strategy() is strategy
        assert len(strategy.unwrap(tf.Variable(1.0))) == 2
    finally:
        distribute.experimental_set_strategy(None)
    assert not distribute.has_strategy()


def test_replicas_share_variables_in_central_storage():
    strategy = distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        total, plain = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM), tf.Variable(1.0)
    strategy.run(lambda: total.assign_add(tf.constant(2.0) * plain))
    assert float(total) == 5.0
    assert strategy.experimental_local_results(total) == total.values
    with pytest.raises(
        ValueError, match="must specify an aggregation method to update a AggregatingVariable"
    ):
        strategy.run(lambda: plain.assign_add(1.0))


def test_one_replica_in_central_storage_updates_variables_without_an_aggregation():
    strategy = distribute.experimental.CentralStorageStrategy()
    with strategy.scope():
        total = tf.Variable(1.0)
    assert float(strategy.run(lambda: total.assign_add(2.0))) == 3.0
    assert float(total) == 3.0


def test_variables_of_one_replica_are_mirrored():
    strategy = distribute.MirroredStrategy()
    modes = []

    def creator(next_creator, **kwargs):
        modes.append((kwargs["synchronization"], kwargs["aggregation"]))
        return next_creator(**kwargs)

    with strategy.scope(), tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        tf.Variable(1.0)
    assert modes[1] == (tf.VariableSynchronization.AUTO, tf.VariableAggregation.NONE)
    strategy.run(lambda: v.assign_add(2.0))
    assert (float(v), len(v.values), type(v).__name__) == (3.0, 1, "MirroredVariable")


def test_run_enters_the_scope_of_a_subclass():
    class Doubling(distribute.MirroredStrategy):
        @contextlib.contextmanager
        def scope(self):
            double = lambda make, initial_value, **kwargs: make(initial_value=2.0 * initial_value, **kwargs)  # noqa: E731
            with super().scope(), tf.variable_creator_scope(double):
                yield

    for devices in (["CPU:0"], ["CPU:0", "CPU:1"]):
        assert float(Doubling(devices).run(lambda: tf.Variable(1.0))) == 2.0


def test_a_scope_may_be_entered_without_a_block():
    strategy = distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    made = []

    def enter():
        strategy.scope().__enter__()
        made.append(tf.Variable(1.0))

    thread = threading.Thread(target=enter)  # the scope ends with the thread
    thread.start()
    thread.join()
    assert len(strategy.unwrap(made[0])) == 2
