"""Variables of two replicas in checkpoints, saved models and copies."""

import copy

import agc.runtime as tf
import numpy as np
import pytest


class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.MEAN)
        self.seen = tf.Variable(
            3.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
        )

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x):
        return self.w * x


@pytest.fixture
def net(strategy):
    """A net with w = [1, 2], and `seen` 3 and 5 in the replicas."""
    with strategy.scope():
        made = Net()
    strategy.run(
        lambda: made.seen.assign_add(
            2.0 * float(tf.distribute.get_replica_context().replica_id_in_sync_group)
        )
    )
    return made


def values(variable):
    return [component.numpy().tolist() for component in variable.values]


def test_checkpoints_fit_all_strategies(strategy, net, tmp_path):
    path = tf.train.Checkpoint(net=net).write(tmp_path / "mirrored")
    plain = Net()
    tf.train.Checkpoint(net=plain).read(path).assert_consumed()
    assert float(plain.seen) == 8.0  # the sum over the replicas
    plain.w.assign([5.0, 6.0])
    tf.train.Checkpoint(net=net).read(tf.train.Checkpoint(net=plain).write(tmp_path / "plain"))
    assert values(net.w) == [[5.0, 6.0]] * 2
    assert values(net.seen) == [4.0, 4.0]


def test_checkpoints_wait_for_variables(strategy, net, tmp_path):
    later = tf.train.Checkpoint()
    later.read(tf.train.Checkpoint(net=net).write(tmp_path / "c"))
    later.net = tf.train.Checkpoint()
    with strategy.scope():
        later.net.w = tf.Variable([0.0, 0.0])
    assert values(later.net.w) == [[1.0, 2.0]] * 2


def test_variables_that_replicas_make_are_restored(strategy, tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(6.0)).write(tmp_path / "c")
    later = tf.train.Checkpoint()
    later.read(path)

    @tf.function
    def made():
        if not hasattr(later, "v"):
            later.v = tf.Variable(
                0.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
        return later.v.read_value()

    for _ in range(2):
        assert [float(part) for part in strategy.run(made).values] == [3.0, 3.0]


def test_saved_models_fit_all_strategies(strategy, net, tmp_path):
    policy = tf.saved_model.experimental.VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES
    options = tf.saved_model.SaveOptions(experimental_variable_policy=policy)
    tf.saved_model.save(net, tmp_path / "m", options=options)
    plain = tf.saved_model.load(tmp_path / "m")
    assert plain(tf.ones(2)).numpy().tolist() == [1.0, 2.0]
    assert float(plain.seen) == 8.0
    with strategy.scope():
        loaded = tf.saved_model.load(tmp_path / "m")
    assert loaded.w.aggregation is tf.VariableAggregation.MEAN
    loaded.w.assign([5.0, 5.0])
    assert loaded(tf.ones(2)).numpy().tolist() == [5.0, 5.0]
    parts = strategy.run(loaded, args=(tf.ones(2),))
    assert [part.numpy().tolist() for part in parts.values] == [[5.0, 5.0]] * 2


def test_replicas_call_loaded_functions_on_their_components(strategy, tmp_path):
    net = Net()
    tf.saved_model.save(net, tmp_path / "m")
    with strategy.scope():
        loaded = tf.saved_model.load(tmp_path / "m")
    loaded.w.values[1].assign([7.0, 7.0])
    for run in (strategy.run, tf.function(strategy.run)):
        parts = run(loaded.__call__, args=(tf.ones(2),))
        assert [part.numpy().tolist() for part in parts.values] == [[1.0, 2.0], [7.0, 7.0]]


def test_loaded_functions_change_the_variables_of_their_replica(strategy, tmp_path):
    class Counter(tf.Module):
        def __init__(self):
            self.n = tf.Variable(0.0)

        @tf.function(input_signature=[])
        def step(self):
            return self.n.assign_add(1.0)

    tf.saved_model.save(Counter(), tmp_path / "m")
    with strategy.scope():
        loaded = tf.saved_model.load(tmp_path / "m")
    loaded.step()
    strategy.run(loaded.step)
    tf.function(lambda: strategy.run(loaded.step))()
    assert values(loaded.n) == [3.0, 3.0]
    with pytest.raises(tf.errors.UnimplementedError, match=r"uses .*:0 in a graph across the replicas"):
        tf.function(lambda: loaded.step())()


def test_keras_models_are_saved_and_loaded(strategy, tmp_path):
    x, y = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "m.keras")
    plain = tf.keras.models.load_model(tmp_path / "m.keras")
    with strategy.scope():
        again = tf.keras.models.load_model(tmp_path / "m.keras")
    losses = [
        one.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"] for one in (model, plain, again)
    ]
    np.testing.assert_allclose(losses, [losses[0]] * 3, rtol=1e-5)


def test_copies_are_distributed(strategy, net):
    other = copy.deepcopy(net.seen)
    assert type(other) is type(net.seen)
    net.seen.assign(0.0)
    assert values(other) == [3.0, 5.0]
    assert strategy.extended.value_container(other.values[1]) is other
