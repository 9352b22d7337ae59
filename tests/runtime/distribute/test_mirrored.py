"""`MirroredStrategy` with two replicas on logical CPUs: values, variables, reductions, datasets and training."""

import agc.runtime as tf
import numpy as np
import pytest

distribute = tf.distribute
SUM = tf.VariableAggregation.SUM


def number():
    return tf.cast(distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def parts(strategy, value):
    return [part.numpy().tolist() for part in strategy.experimental_local_results(value)]


@pytest.fixture(params=["eager", "around run", "in run"])
def run(request, strategy):
    """Run a function in the replicas: eagerly, in a `tf.function`, or with a `tf.function` as the argument."""

    def called(function, args=()):
        if request.param == "in run":
            function = tf.function(function)
        if request.param == "around run":
            return tf.function(lambda args: strategy.run(function, args=args))(args)
        return strategy.run(function, args=args)

    return called


def test_results_and_arguments_are_those_of_the_replica(strategy, run):
    values = run(lambda: {"x": number() + 1.0, "n": None})
    assert values["n"] is None
    assert parts(strategy, values["x"]) == [1.0, 2.0]
    assert parts(strategy, run(lambda x: 2.0 * x, args=(values["x"],))) == [2.0, 4.0]


def test_collective_operations_wait_for_all_replicas(strategy, run):
    def replica():
        context = distribute.get_replica_context()
        rows = tf.stack([number(), number() + 2.0])
        merged = context.merge_call(lambda strategy, x: strategy.reduce("SUM", x), args=(number(),))
        return context.all_reduce("mean", rows), context.all_gather(rows, 0), merged

    mean, gathered, merged = run(replica)
    assert parts(strategy, mean) == [[0.5, 2.5]] * 2
    assert parts(strategy, gathered) == [[0.0, 2.0, 1.0, 3.0]] * 2
    assert parts(strategy, merged) == [1.0]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("NONE", [0.0, 1.0]), ("SUM", [1.0] * 2), ("MEAN", [0.5] * 2), ("ONLY_FIRST_REPLICA", [0.0] * 2)],
)
def test_updates_of_mirrored_variables_are_aggregated(strategy, run, aggregation, expected):
    with strategy.scope():
        v = tf.Variable(0.0, aggregation=getattr(tf.VariableAggregation, aggregation))
    run(lambda: (v.assign_add(number()), number())[1])
    assert [float(one) for one in v.values] == expected
    v.assign(7.0)
    assert [float(one) for one in v.values] == [7.0, 7.0]
    assert float(v + 1.0) == 8.0


def test_means_of_integers(strategy):
    values = strategy.run(lambda: tf.cast(3.0 * number(), tf.int32))
    assert strategy.reduce("MEAN", values).numpy() == 1.5
    with strategy.scope(), pytest.raises(ValueError, match="aggregation=MEAN and a non-floating dtype"):
        tf.Variable(1, aggregation=tf.VariableAggregation.MEAN)


def test_variables_without_synchronization_are_refused(strategy):
    with strategy.scope(), pytest.raises(ValueError, match="`NONE` variable synchronization mode"):
        tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)


def test_the_number_of_a_replica_is_a_tensor(strategy, run):
    numbers = run(lambda: distribute.get_replica_context().replica_id_in_sync_group)
    assert [(x.dtype, int(x)) for x in numbers.values] == [(tf.int32, 0), (tf.int32, 1)]
    assert distribute.get_replica_context().replica_id_in_sync_group == 0


def test_values_of_all_replicas_are_given_to_each(strategy):
    assert strategy.experimental_local_results([1, 2]) == ([1, 2], [1, 2])
    assert strategy.experimental_local_results(3) == (3,)


def test_aggregations_are_reductions():
    kinds = tf.VariableAggregation
    assert distribute.ReduceOp.from_variable_aggregation(kinds.MEAN) is distribute.ReduceOp.MEAN
    with pytest.raises(ValueError, match=r"Could not convert from `tf.VariableAggregation` .*NONE"):
        distribute.ReduceOp.from_variable_aggregation(kinds.NONE)


def test_options_of_collectives_are_checked():
    options = distribute.experimental.CommunicationOptions
    assert options(implementation="RING").implementation.name == "RING"
    with pytest.raises(ValueError, match="`bytes_per_pack` must be >=0"):
        options(bytes_per_pack=-1)


def test_variables_synchronized_on_read(strategy, run):
    on_read = tf.VariableSynchronization.ON_READ
    with strategy.scope():
        v = tf.Variable(1.0, synchronization=on_read, aggregation=tf.VariableAggregation.SUM)
    v.assign(2.0)
    run(lambda: (v.assign_add(number() + 1.0), number())[1])
    assert [float(one) for one in v.values] == [2.0, 3.0]
    assert float(v.read_value()) == 5.0
    with pytest.raises(ValueError, match="does not support `assign_add`"):
        v.assign_add(1.0)


def test_parts_of_integers_add_up_to_what_is_assigned(strategy):
    on_read = tf.VariableSynchronization.ON_READ
    with strategy.scope():
        v = tf.Variable(0, synchronization=on_read, aggregation=tf.VariableAggregation.SUM)
    v.assign(7)
    assert [int(one) for one in v.values] == [4, 3]
    v._array = np.array(-5, np.int32)
    assert int(v.read_value()) == -5


def test_reductions_over_an_axis_weigh_elements(strategy):
    values = strategy.run(lambda: tf.ones([1 + int(number())]) * number())
    assert float(strategy.reduce("MEAN", values, axis=0)) == pytest.approx(2 / 3)
    assert strategy.gather(values, 0).numpy().tolist() == [0.0, 1.0, 1.0]
    assert float(strategy.reduce("MEAN", tf.constant(3.0))) == 3.0
    with pytest.raises(ValueError, match="non-DistributedValues value"):
        strategy.reduce("SUM", tf.constant(3.0))
    assert float(strategy.reduce("SUM", tf.constant([1.0, 2.0]), axis=0)) == 6.0  # in each of the replicas
    rows = strategy.run(lambda: tf.reshape(tf.range(4.0), [2, 2]) * (number() + 1.0))
    assert strategy.reduce("MEAN", rows, axis=-1).numpy().tolist() == [0.75, 3.75]
    nest = {"rows": rows, "n": 1}
    assert strategy.gather(nest, 1)["rows"].shape == [2, 4]
    assert [one["n"] for one in strategy.experimental_local_results(nest)] == [1, 1]


def test_values_from_functions(strategy):
    made = strategy.experimental_distribute_values_from_function(
        lambda context: (context.replica_id_in_sync_group, context.num_replicas_in_sync)
    )
    assert [one.values for one in made] == [(0, 1), (2, 2)]


def test_gradients_are_summed_over_replicas(strategy, run):
    with strategy.scope():
        w = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)

    def replica():
        with tf.GradientTape() as tape:
            loss = (number() + 1.0) * w * w
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return gradient

    assert parts(strategy, run(replica)) == [2.0, 4.0]
    np.testing.assert_allclose([float(one) for one in w.values], [0.4, 0.4], rtol=1e-6)


@pytest.mark.parametrize(("op", "expected"), [("sum", [11.0, 17.0]), ("mean", [5.5, 8.5])])
def test_all_reduce_has_a_gradient(strategy, run, op, expected):
    """The replicas have x = 1 and 2; the gradient of x * all_reduce(x * x) is as in TensorFlow."""

    def replica():
        x = number() + 1.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * distribute.get_replica_context().all_reduce(op, x * x)
        return tape.gradient(y, x)

    assert parts(strategy, run(replica)) == expected


def test_all_gather_has_a_gradient(strategy, run):
    def replica():
        x = tf.ones([1 + distribute.get_replica_context().replica_id_in_sync_group, 1])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(
                [[1.0], [2.0], [3.0]] * distribute.get_replica_context().all_gather(x, -2) ** 2.0
            )
        return tape.gradient(y, x)

    assert parts(strategy, run(replica)) == [[[4.0]], [[8.0], [12.0]]]


def test_a_tape_around_all_replicas(strategy):
    with strategy.scope():
        w = tf.Variable(3.0)

    def replica():
        return w * distribute.get_replica_context().all_reduce("sum", w * (number() + 1.0))

    def step():
        with tf.GradientTape() as tape:
            loss = strategy.reduce("SUM", strategy.run(replica))
        return tape.gradient(loss, w.values)

    for found in (step(), tf.function(step)()):
        assert [float(gradient) for gradient in found] == [15.0, 21.0]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("NONE", [3.0, 4.0]), ("SUM", [5.0] * 2), ("MEAN", [3.5] * 2), ("ONLY_FIRST_REPLICA", [3.0] * 2)],
)
def test_scatter_updates_are_aggregated(strategy, run, aggregation, expected):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], aggregation=getattr(tf.VariableAggregation, aggregation))
    rows = lambda: tf.IndexedSlices([number() + 1.0], [1])  # noqa: E731
    run(lambda: (v.scatter_add(rows()), number())[1])
    assert [float(component[1]) for component in v.values] == expected
    if aggregation in ("SUM", "MEAN"):
        with pytest.raises(
            NotImplementedError, match=r"scatter_max is only supported .* got: .*" + aggregation
        ):
            run(lambda: (v.scatter_max(rows()), number())[1])
    v.scatter_update(tf.IndexedSlices([9.0], [0]))
    assert [float(component[0]) for component in v.values] == [9.0, 9.0]


def test_scatter_updates_of_variables_synchronized_on_read(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], synchronization=tf.VariableSynchronization.ON_READ, aggregation=SUM)
    strategy.run(lambda: (v.scatter_add(tf.IndexedSlices([number()], [1])), number())[1])
    assert [one.numpy().tolist() for one in v.values] == [[1.0, 2.0], [1.0, 3.0]]
    with pytest.raises(NotImplementedError, match="doesn't support `scatter_add` across replicas"):
        v.scatter_add(tf.IndexedSlices([1.0], [0]))


def test_losses_are_averaged_over_all_replicas(strategy, run):
    def replica():
        loss = tf.nn.compute_average_loss(tf.stack([number(), 1.0]))
        return loss + tf.nn.scale_regularization_loss([8.0])

    assert parts(strategy, run(replica)) == [4.25, 4.5]
    with (
        strategy.scope(),
        pytest.raises(RuntimeError, match="compute_average_loss` in cross replica context"),
    ):
        tf.nn.compute_average_loss([1.0])


def test_methods_that_are_functions_run_in_lock_step(strategy):
    class Step(tf.Module):
        def __init__(self):
            self.total = tf.Variable(0.0, aggregation=SUM)

        @tf.function
        def add(self, x):
            self.total.assign_add(x * (number() + 1.0))
            return distribute.get_replica_context().all_reduce("sum", 1.0 * x)

    with strategy.scope():
        step = Step()
    assert parts(strategy, strategy.run(step.add, args=(tf.constant(2.0),))) == [4.0, 4.0]
    strategy.run(step.add, args=(tf.constant(2.0),))
    assert [float(one) for one in step.total.values] == [12.0, 12.0]
    assert step.add.experimental_get_tracing_count() <= 1


def test_an_error_in_a_replica_is_raised(strategy):
    def replica():
        if distribute.get_replica_context().replica_id_in_sync_group == 1:
            raise KeyError("second")
        distribute.get_replica_context().all_reduce("sum", tf.constant(1.0))

    with pytest.raises(KeyError, match="second"):
        strategy.run(replica)


@pytest.mark.parametrize("name", ["run", "reduce", "gather", "scope"])
def test_methods_of_strategies_are_called_across_replicas(strategy, name):
    calls = {
        "run": lambda one: one.run(number),
        "reduce": lambda one: one.reduce("SUM", number()),
        "gather": lambda one: one.gather(number(), 0),
        "scope": lambda one: one.scope().__enter__(),
    }
    with pytest.raises(RuntimeError, match="Method requires being in cross-replica context"):
        strategy.run(lambda: calls[name](strategy))
    other = distribute.OneDeviceStrategy("CPU:0")
    if name == "scope":
        with strategy.scope(), pytest.raises(RuntimeError, match=r"Mixing different tf.distribute.Strategy"):
            calls[name](other)


def test_a_merge_call_in_a_staged_branch_is_refused(strategy):
    def replica(x):
        if x > 0.0:
            x = distribute.get_replica_context().all_reduce("sum", x)
        return x

    with pytest.raises(RuntimeError, match="condition or loop"):
        tf.function(lambda x: strategy.run(replica, args=(x,)))(tf.constant(1.0))


def test_devices_of_the_strategy(monkeypatch):
    monkeypatch.setattr("agc.runtime.config.devices._configurations", {})
    one = tf.config.LogicalDeviceConfiguration()
    (cpu,) = tf.config.list_physical_devices()
    tf.config.set_logical_device_configuration(cpu, [one, one])
    try:
        assert distribute.MirroredStrategy().num_replicas_in_sync == 2
    finally:
        tf.config.set_logical_device_configuration(cpu, [one])
    with pytest.raises(ValueError, match="Duplicates"):
        distribute.MirroredStrategy(["CPU:0", "CPU:0"])


def test_ways_to_reduce_are_accepted():
    for ops in (
        distribute.ReductionToOneDevice(),
        distribute.NcclAllReduce(2),
        distribute.HierarchicalCopyAllReduce(),
    ):
        assert distribute.MirroredStrategy(["CPU:0", "CPU:1"], ops).num_replicas_in_sync == 2
    own = type("Own", (distribute.CrossDeviceOps,), {})()
    with pytest.raises(tf.errors.UnimplementedError, match="`cross_device_ops` is a Own"):
        distribute.MirroredStrategy(cross_device_ops=own)
    with pytest.raises(tf.errors.UnimplementedError, match="without an `accumulation_fn`"):
        distribute.ReductionToOneDevice(accumulation_fn=sum)


def test_replicas_share_the_variables_that_they_make(strategy):
    def replica():
        v = tf.Variable(1.0 + number())
        return v.assign_add(number()) and v

    made = strategy.run(replica)
    assert [float(one) for one in made.values] == [1.0, 2.0]


def test_variables_of_replicas_must_have_the_same_names(strategy):
    def replica():
        return tf.Variable(1.0, name=f"v{int(number())}")

    with pytest.raises(
        RuntimeError, match=r"variable v1 with mismatching name on device 1: replica 0 makes v0"
    ):
        strategy.run(replica)


@pytest.mark.parametrize(
    ("optimizer", "loss"),
    [
        (lambda o: o.SGD(0.1, momentum=0.9), [0.79071, 0.70456]),
        (lambda o: o.Adam(0.1), [0.82772, 0.27086]),
        (lambda o: o.Adam(0.1, use_ema=True, weight_decay=0.01, clipnorm=0.5), [0.82441, 0.26730]),
    ],
)
def test_optimizers_with_slots_train_as_in_tensorflow(optimizer, loss):
    """The losses are those of TensorFlow 2.21 with two replicas: each replica updates its part of the slots once."""
    layers = tf.keras.layers
    x = np.random.RandomState(0).rand(10, 2).astype("f")
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        model = tf.keras.Sequential([
            tf.keras.Input((2,)),
            layers.Dense(3, kernel_initializer="ones", activation="tanh"),
            layers.Dense(1, kernel_initializer="ones"),
        ])  # fmt: skip
        model.compile(optimizer(tf.keras.optimizers), "mse")
    found = model.fit(x, x.sum(1, keepdims=True), epochs=2, batch_size=4, shuffle=False, verbose=0)
    np.testing.assert_allclose(found.history["loss"], loss, atol=1e-5)


def test_models_are_built_and_trained_inside_of_the_scope(strategy):
    x = np.ones((4, 2), np.float32)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
        model.fit(x, np.zeros((4, 1)), batch_size=4, verbose=0)
    (kernel,) = model.get_weights()
    np.testing.assert_allclose(kernel, [[0.6], [0.6]], rtol=1e-6)


def test_generators_draw_other_numbers_in_each_replica(strategy, run):
    """The numbers are those of TensorFlow 2.21: the key is a hash of the generator's key and the replica."""
    with strategy.scope():
        generator = tf.random.Generator.from_seed(5)
    drawn = parts(strategy, run(lambda: generator.normal([2])))
    np.testing.assert_allclose(drawn, [[0.1972597, -0.363173], [-1.3070067, -0.2949743]], atol=1e-6)
    np.testing.assert_allclose(generator.normal([2]), [-0.603774, 0.0843654], atol=1e-6)
    assert [int(one[0]) for one in generator.state.values] == [1029, 1029]


def test_models_are_trained_on_distributed_datasets(strategy):
    x = np.ones((4, 2), np.float32)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
        data = tf.data.Dataset.from_tensor_slices((x, np.zeros((4, 1)))).batch(4)
        model.fit(strategy.experimental_distribute_dataset(data), verbose=0)
    (kernel,) = model.get_weights()
    np.testing.assert_allclose(kernel, [[0.6], [0.6]], rtol=1e-6)


@pytest.mark.parametrize("is_traced", [False, True])
def test_functions_that_replicas_call_use_their_components(strategy, is_traced):
    with strategy.scope():
        v = tf.Variable([0.0, 0.0])

    @tf.function
    def inner(x):
        v.assign_add(x)
        return v.read_value() * (number() + 1.0)

    step = lambda: strategy.run(lambda: inner(tf.stack([number(), 1.0])))  # noqa: E731
    run = tf.function(step) if is_traced else step
    assert parts(strategy, run()) == [[0.0, 1.0], [2.0, 2.0]]
    run()
    assert [one.numpy().tolist() for one in v.values] == [[0.0, 2.0], [2.0, 2.0]]
    with pytest.raises(tf.errors.UnimplementedError, match="traced outside of this replica"):
        strategy.run(inner.get_concrete_function(tf.ones(2)), args=(tf.ones(2),))
    inner([1.0, 1.0])  # across replicas: all components
    assert [one.numpy().tolist() for one in v.values] == [[1.0, 3.0], [3.0, 3.0]]
