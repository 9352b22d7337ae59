"""Programs as in TensorFlow's guides to distributed training: Keras, own loops, input, saving and loading.

Programs of several processes are in test_multi_worker.py.
"""

import os

import agc.runtime as tf
import numpy as np
import pytest


@pytest.fixture(params=["mirrored", "multi-worker"])
def strategy(request):
    """Two replicas in one process, and the strategy for several processes in one."""
    if request.param == "mirrored":
        return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    return tf.distribute.MultiWorkerMirroredStrategy()


@pytest.fixture
def images():
    generator = np.random.default_rng(3)
    x = generator.normal(size=(36, 4, 4, 1)).astype(np.float32)
    return x, (x.mean((1, 2, 3)) > 0).astype(np.int64)


def build_model():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [tf.keras.Input((4, 4, 1)), layers.Conv2D(2, 3, activation="relu"), layers.Flatten(), layers.Dense(2)]
    )


def test_keras_trains_with_callbacks_and_loads_with_and_without_the_strategy(strategy, images, tmp_path):
    per_replica = 6
    batch_size = per_replica * strategy.num_replicas_in_sync
    train = tf.data.Dataset.from_tensor_slices(images).cache().shuffle(36, seed=1).batch(batch_size)
    test = tf.data.Dataset.from_tensor_slices(images).batch(batch_size)
    with strategy.scope():
        model = build_model()
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(0.01),
            metrics=["accuracy"],
        )
    rates = []

    class PrintRate(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            rates.append(round(float(self.model.optimizer.learning_rate), 4))

    callbacks = [
        tf.keras.callbacks.ModelCheckpoint(
            filepath=os.path.join(tmp_path, "ckpt_{epoch}.weights.h5"), save_weights_only=True
        ),
        tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.01 if epoch < 1 else 0.001),
        PrintRate(),
    ]
    model.fit(train, epochs=2, callbacks=callbacks, verbose=0)
    assert rates == [0.01, 0.001]
    expected = model.evaluate(test, verbose=0)
    model.load_weights(tmp_path / "ckpt_2.weights.h5")
    np.testing.assert_allclose(model.evaluate(test, verbose=0), expected, rtol=1e-6)
    model.save(tmp_path / "model.keras")
    alone = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(alone.evaluate(test, verbose=0), expected, rtol=1e-5)
    with strategy.scope():
        again = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.evaluate(test, verbose=0), expected, rtol=1e-5)


def test_an_own_loop_trains_tests_and_restores(strategy, images, tmp_path):
    batch_size = 6 * strategy.num_replicas_in_sync
    datasets = [tf.data.Dataset.from_tensor_slices(images).batch(batch_size) for _ in range(2)]
    train, test = map(strategy.experimental_distribute_dataset, datasets)
    with strategy.scope():
        model = build_model()
        optimizer = tf.keras.optimizers.Adam(0.01)
        checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
        test_loss = tf.keras.metrics.Mean(name="test_loss")
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")

    def compute_loss(labels, predictions):
        return tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=batch_size)

    def train_step(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            loss = compute_loss(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    def test_step(inputs):
        x, y = inputs
        predictions = model(x, training=False)
        test_loss.update_state(loss_object(y, predictions))
        accuracy.update_state(y, predictions)

    @tf.function
    def distributed_train_step(inputs):
        return strategy.reduce(
            tf.distribute.ReduceOp.SUM, strategy.run(train_step, args=(inputs,)), axis=None
        )

    @tf.function
    def distributed_test_step(inputs):
        strategy.run(test_step, args=(inputs,))

    losses = []
    for _ in range(3):
        total = sum(float(distributed_train_step(inputs)) for inputs in train)
        losses.append(total / (36 / batch_size))
    assert losses[-1] < losses[0]
    for inputs in test:
        distributed_test_step(inputs)
    path = checkpoint.save(tmp_path / "ckpt")
    x, y = images
    plain = build_model()
    tf.train.Checkpoint(model=plain).restore(path).expect_partial()
    wanted = loss_object(y, plain(x))
    assert float(test_loss.result()) == pytest.approx(float(tf.reduce_mean(wanted)), rel=1e-5)
    assert float(accuracy.result()) == pytest.approx(float(np.mean(np.argmax(plain(x), 1) == y)))


def test_input_is_distributed_in_batches_by_functions_and_by_values(strategy):
    count = strategy.num_replicas_in_sync
    global_batch = 2 * count
    dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(4 * count).batch(global_batch)
    shared = strategy.experimental_distribute_dataset(dataset)

    @tf.function(input_signature=[shared.element_spec])
    def step(inputs):
        return strategy.reduce(
            "SUM", strategy.run(lambda b: tf.reduce_sum(b[0] + b[1]), args=(inputs,)), axis=None
        )

    assert [float(step(inputs)) for inputs in shared] == [4.0 * count] * 2

    @tf.function
    def epoch(iterator):
        total = 0.0
        for _ in tf.range(2):
            total += step(next(iterator))
        return total

    assert float(epoch(iter(shared))) == 8.0 * count

    def dataset_fn(context):
        batch_size = context.get_per_replica_batch_size(global_batch)
        dataset = tf.data.Dataset.from_tensors([1.0]).repeat(8 * count).batch(batch_size)
        return dataset.shard(context.num_input_pipelines, context.input_pipeline_id).prefetch(2)

    own = strategy.distribute_datasets_from_function(dataset_fn)
    assert sum(float(strategy.reduce("SUM", each, axis=0)[0]) for each in own) == 8.0 * count
    values = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(float(context.replica_id_in_sync_group))
    )
    summed = strategy.run(lambda x: tf.distribute.get_replica_context().all_reduce("sum", x), args=(values,))
    assert float(strategy.experimental_local_results(summed)[0]) == sum(range(count))


def test_saved_models_serve_and_train_on(strategy, tmp_path):
    with strategy.scope():
        module = tf.Module()
        module.w = tf.Variable([1.0, 2.0])
    module.serve = tf.function(lambda x: x * module.w, input_signature=[tf.TensorSpec([None, 2])])
    tf.saved_model.save(module, tmp_path / "model", signatures=module.serve)
    x = tf.constant([[1.0, 1.0], [2.0, 2.0]])
    served = tf.saved_model.load(tmp_path / "model").signatures["serving_default"](x)
    assert next(iter(served.values())).numpy().tolist() == [[1.0, 2.0], [2.0, 4.0]]
    with strategy.scope():
        loaded = tf.saved_model.load(tmp_path / "model")
    batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(2))
    for batch in batches:
        parts = strategy.experimental_local_results(strategy.run(loaded.serve, args=(batch,)))
        assert np.concatenate(parts).tolist() == [[1.0, 2.0], [2.0, 4.0]]
