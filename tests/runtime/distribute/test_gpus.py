"""Functions and strategies on GPUs: `pytest -m gpu` where JAX has some. Elsewhere the tests are skipped."""

import agc.runtime as tf
import numpy as np
import pytest
from support.gpus import demand_gpus
from support.workers import run_workers

pytestmark = pytest.mark.gpu

XLA = {"jit_compile": "xla"}


def training(strategy, **options):
    """Return the losses of ten steps, and the weights."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(32, 8)).astype(np.float32)
    y = x @ generator.normal(size=(8, 1)).astype(np.float32)
    with strategy.scope():
        w = tf.Variable(tf.zeros([8, 1]))

    def replica(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.reduce_sum((x @ w - y) ** 2, 1), global_batch_size=16)
        (gradient,) = tf.distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, [w]))
        w.assign_sub(0.1 * gradient)
        return loss

    @tf.function(**options)
    def step(batch):
        return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)

    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(5)
    losses = [float(step(batch)) for batch in strategy.experimental_distribute_dataset(data)]
    return losses, w.numpy(), step


def test_devices_are_listed():
    (name,) = demand_gpus()
    assert name == "/device:GPU:0"
    assert tf.config.list_physical_devices("GPU")[0].device_type == "GPU"


def test_programs_with_variables_run_on_a_gpu():
    demand_gpus()
    with tf.device("GPU:0"):
        total = tf.Variable(tf.zeros([64, 64]))

        @tf.function(**XLA)
        def step(x):
            for _ in tf.range(3):
                total.assign_add(x @ x)
            return tf.reduce_sum(total)

        assert float(step(tf.ones([64, 64]))) == 3 * 64.0**3
    np.testing.assert_allclose(total, np.full((64, 64), 192.0), rtol=1e-5)


@pytest.mark.parametrize(
    "make", [tf.distribute.OneDeviceStrategy, lambda name: tf.distribute.MirroredStrategy([name])]
)
def test_one_gpu_trains_like_the_cpu(make):  # fmt: skip
    (name,) = demand_gpus()
    expected, weights, _ = training(tf.distribute.get_strategy())
    losses, found, _ = training(make(name), **XLA)
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    np.testing.assert_allclose(found, weights, rtol=1e-4)


def test_all_gpus_train_like_one_cpu():
    names = demand_gpus(2)
    expected, weights, _ = training(tf.distribute.get_strategy())
    strategy = tf.distribute.MirroredStrategy()
    assert strategy.num_replicas_in_sync >= len(names)
    losses, found, step = training(strategy)
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    np.testing.assert_allclose(found, weights, rtol=1e-4)
    assert step.experimental_get_tracing_count() == 1


def test_processes_with_a_gpu_each_train_like_one(tmp_path, monkeypatch):
    """Each process takes its own GPU, of those that CUDA shows to all."""
    demand_gpus(2)
    monkeypatch.setenv("AGC_TEST_GPU_EACH", "1")
    ended = run_workers(2, tmp_path, ["train", "compiled"])
    assert ended.codes == [0, 0]
    first, second = (found["train"]["losses"] for found in ended.found)
    np.testing.assert_allclose(first, second, rtol=1e-6)
    np.testing.assert_allclose(ended.found[0]["compiled"]["xla"], first, rtol=1e-4)
