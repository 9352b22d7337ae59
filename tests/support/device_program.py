"""The program of the tests of several devices in one process: it prints what it has found as JSON.

python device_program.py PART…     the parts are the functions at the end of `PARTS`
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import agc.runtime as tf
import numpy as np

DEVICES = 4
BATCH = 24
XLA = {"jit_compile": "xla"}

strategy = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(DEVICES)])
kinds = tf.VariableAggregation


def number() -> Any:
    """Return the number of the replica as a float."""
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def losses(chosen: Any, steps: int, **options: Any) -> dict[str, Any]:
    """Train on a dataset whose last batch has parts of different sizes."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(66, 8)).astype(np.float32)
    y = x @ generator.normal(size=(8, 1)).astype(np.float32)
    with chosen.scope():
        w = tf.Variable(0.3 * generator.normal(size=(8, 16)).astype(np.float32))
        v = tf.Variable(0.3 * generator.normal(size=(16, 1)).astype(np.float32))
        seen = tf.Variable(
            0,
            dtype=tf.int64,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=kinds.SUM,
        )

    def replica(batch: Any) -> Any:
        x, y = batch
        with tf.GradientTape() as tape:
            errors = tf.reduce_sum((tf.tanh(x @ w) @ v - y) ** 2, 1)
            loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
        gradients = tape.gradient(loss, [w, v])
        gradients = tf.distribute.get_replica_context().all_reduce("sum", gradients)
        for variable, gradient in zip([w, v], gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        seen.assign_add(tf.shape(x, tf.int64)[0])
        return loss

    @tf.function(**options)
    def step(batch: Any) -> Any:
        return chosen.reduce("SUM", chosen.run(replica, args=(batch,)), axis=None)

    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH).repeat()
    batches = iter(chosen.experimental_distribute_dataset(data))
    found = [float(step(next(batches))) for _ in range(steps)]
    equal = [bool(np.array_equal(one.numpy(), w.numpy())) for one in getattr(w, "values", [w])]
    return {"losses": found, "seen": int(seen.numpy()), "equal": equal, "graph": str(_graph(step, batches))}


def _graph(step: Any, batches: Any) -> Any:
    return step.get_concrete_function(next(batches)).graph


def train() -> Any:
    alone = losses(tf.distribute.get_strategy(), 50)
    return {"alone": alone, "devices": losses(strategy, 50, **XLA), "turns": losses(strategy, 3)}


def replica(x: Any) -> Any:
    """Use what replicas may call."""
    context = tf.distribute.get_replica_context()
    rank = number()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = context.all_reduce("mean", {"a": x * (rank + 1.0)})["a"]
    rows = context.all_gather(tf.stack([rank, rank + 0.5]), 0)
    merged = context.merge_call(
        lambda strategy, value: strategy.extended.reduce_to("SUM", value, None), (x + rank,)
    )
    gathered = context.merge_call(lambda strategy, value: strategy.gather(value, 0), (tf.reshape(rank, [1]),))
    slices = tf.IndexedSlices(
        tf.reshape(rank, [1, 1]), [context.replica_id_in_sync_group], tf.constant([4, 1])
    )
    dense = tf.convert_to_tensor(context.all_reduce("sum", slices))
    total = tf.zeros([])
    for _ in tf.range(2):
        total += context.all_reduce("sum", rank) if context.num_replicas_in_sync == DEVICES else 0.0
    return {
        "mean": y, "gradient": tape.gradient(y, x), "rows": rows, "merged": merged, "gathered": gathered,
        "dense": dense, "total": total,
    }  # fmt: skip


def values() -> Any:
    results = strategy.run(tf.function(replica, **XLA), args=(tf.constant(2.0),))
    found = {key: [part.numpy().tolist() for part in value.values] for key, value in results.items()}
    with strategy.scope():
        variables = {
            kind.name: tf.Variable(1.0, aggregation=kind)
            for kind in (kinds.NONE, kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA)
        }
        table = tf.Variable(tf.zeros([4]), aggregation=kinds.SUM)
        drawing = tf.random.Generator.from_seed(5)

    @tf.function(**XLA)
    def update(number_of: Any, variables: Any) -> Any:
        for variable in variables.values():
            variable.assign_add(number_of + 1.0)
        tf.distribute.get_replica_context().merge_call(assigns, args=(variables,))
        table.scatter_add(tf.IndexedSlices([1.0], [2]))
        return drawing.normal([2])

    with strategy.scope():
        shared = tf.Variable(0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=kinds.SUM)

    def assigns(strategy: Any, variables: Any) -> None:
        shared.assign(7)

    each = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(float(context.replica_id_in_sync_group))
    )
    drawn = strategy.run(update, args=(each, variables))
    found["variables"] = {
        name: [float(one) for one in variable.values] for name, variable in variables.items()
    }
    found["shared"] = [int(one) for one in shared.values]
    found["table"] = [one.numpy().tolist() for one in table.values]
    drawing.reset_from_seed(5)
    expected = strategy.run(lambda: drawing.normal([2]))
    found["drawn"] = [one.numpy().tolist() for one in drawn.values]
    found["drawn in turns"] = [one.numpy().tolist() for one in expected.values]
    return found


def refusals() -> Any:
    """Run what takes turns, or threads of the CPU, and return the reasons and the results."""
    plain = tf.Variable(0.0)

    def assigns() -> Any:
        return plain.assign_add(number() + 1.0)

    def draws() -> Any:
        return tf.random.stateless_normal([1], [1, 2]) + 0.0 * tf.random.normal([1])

    def unique(x: Any) -> Any:
        return tf.reduce_sum(tf.unique(x).y) + number()

    found = {}
    for name, function, args in (
        ("assigns", assigns, ()),
        ("draws", draws, ()),
        ("unique", unique, (tf.constant([1.0, 1.0, 2.0]),)),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = strategy.run(tf.function(function, **XLA), args=args)
        found[name] = [
            [str(each.message) for each in caught],
            [part.numpy().tolist() for part in result.values],
        ]
    many = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(DEVICES + 1)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = many.run(tf.function(lambda: number() + 1.0, **XLA))
    found["missing"] = [[str(each.message) for each in caught], [float(part) for part in result.values]]

    def picked(x: Any, index: Any) -> Any:
        (total,) = tf.distribute.get_replica_context().all_reduce("sum", [x])
        return total[index + tf.distribute.get_replica_context().replica_id_in_sync_group]

    try:
        strategy.run(tf.function(picked, **XLA), args=(tf.constant([1.0, 2.0, 3.0]), tf.constant(0)))
    except tf.errors.InvalidArgumentError as error:
        found["error"] = str(error)
    return found


def accelerators() -> Any:
    """Take the CPUs of JAX for GPUs: functions run on them without `jit_compile`."""
    from agc.runtime.core import devices
    from agc.runtime.executors.xla import library

    of_kind = library._device
    library._device = lambda kind, number: of_kind("cpu", number)
    devices.placement.accelerators = lambda: ["GPU"] * DEVICES  # type: ignore[method-assign]
    gpus = tf.distribute.MirroredStrategy()
    one = tf.distribute.OneDeviceStrategy("GPU:3")
    with gpus.scope():
        total = tf.Variable(0.0, aggregation=kinds.SUM)
    step = tf.function(lambda: gpus.run(lambda: total.assign_add(number())))
    step()
    return {
        "count": gpus.num_replicas_in_sync,
        "total": [float(each) for each in total.values],
        "devices": gpus.extended.worker_devices,
        "graph": str(step.get_concrete_function().graph),
        "one": float(one.run(tf.function(lambda: 2.0 * tf.ones([]), **XLA))),
    }


def fit() -> Any:
    """Train a model of Keras, and evaluate it."""
    keras = tf.keras
    generator = np.random.default_rng(0)
    x = generator.normal(size=(50, 4)).astype(np.float32)
    y = (x.sum(1, keepdims=True) > 0).astype(np.float32)
    found = []
    for jit_compile in (False, True):
        keras.utils.set_random_seed(1)
        with strategy.scope():
            model = keras.Sequential(
                [keras.Input((4,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1, "sigmoid")]
            )
            model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", jit_compile=jit_compile)
        history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
        found.append([history["loss"], model.evaluate(x, y, batch_size=8, verbose=0)])
    return found


PARTS = {part.__name__: part for part in (train, values, refusals, accelerators, fit)}


if __name__ == "__main__":
    print(json.dumps({part: PARTS[part]() for part in sys.argv[1:]}))
