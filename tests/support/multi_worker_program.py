"""The program of each worker in the tests of several processes; each writes what it has found as JSON.

python multi_worker_program.py FOLDER PART…     the parts are the functions at the end of `PARTS`
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np

STEPS = 50
BATCH = 24
SAVED = 25  # the step after which `train` saves


class Training:
    """A model, its data, and the losses of its steps; the batches are uneven at the end of an epoch."""

    def __init__(self, strategy: Any, executor: str = "plan") -> None:
        self.strategy = strategy
        generator = np.random.default_rng(0)
        x = generator.normal(size=(64, 8)).astype(np.float32)
        y = x @ generator.normal(size=(8, 1)).astype(np.float32)
        own = np.random.default_rng(
            strategy.worker
        )  # other numbers in each worker: those of the first one count
        with strategy.scope():
            self.w = tf.Variable(0.3 * own.normal(size=(8, 16)).astype(np.float32))
            self.v = tf.Variable(0.3 * own.normal(size=(16, 1)).astype(np.float32))
            self.step = tf.Variable(0, dtype=tf.int64)
            self.seen = tf.Variable(
                0,
                dtype=tf.int64,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH).repeat()
        self.data = strategy.experimental_distribute_dataset(data)
        self.train_step = tf.function(self._train_step, experimental_executor=executor)

    def _train_step(self, batch: Any) -> Any:
        self.step.assign_add(1)
        return self.strategy.reduce("SUM", self.strategy.run(self.replica, args=(batch,)), axis=None)

    def replica(self, batch: Any) -> Any:
        x, y = batch
        with tf.GradientTape() as tape:
            errors = tf.reduce_sum((tf.tanh(x @ self.w) @ self.v - y) ** 2, 1)
            loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
        gradients = tape.gradient(loss, [self.w, self.v])
        gradients = tf.distribute.get_replica_context().all_reduce("sum", gradients)
        for variable, gradient in zip([self.w, self.v], gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        self.seen.assign_add(tf.cast(tf.shape(x)[0], tf.int64))
        return loss

    def losses(self, start: int, stop: int, folder: Path | None = None) -> list[float]:
        found = []
        checkpoint = tf.train.Checkpoint(w=self.w, v=self.v, step=self.step, seen=self.seen)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1) if folder else None
        if start and manager is not None:
            manager.restore_or_initialize()
        for number, batch in enumerate(self.data):
            if number < start:
                continue
            if number == stop:
                break
            found.append(float(self.train_step(batch)))
            if manager is not None and number + 1 == SAVED:
                manager.save()
        return found


def train(strategy: Any, folder: Path) -> Any:
    training = Training(strategy)
    losses = training.losses(0, STEPS, folder / "checkpoints")
    other = Training(strategy, "interpret").losses(0, 3)
    return {"losses": losses, "interpreted": other, "seen": int(training.seen.numpy())}


def resume(strategy: Any, folder: Path) -> Any:
    training = Training(strategy)
    losses = training.losses(SAVED, STEPS, folder / "checkpoints")
    return {"losses": losses, "seen": int(training.seen.numpy()), "step": int(training.step.numpy())}


def values(strategy: Any, folder: Path) -> Any:
    """Use what replicas may call, and what the program calls across them."""
    found: dict[str, Any] = {}

    def replica(x: Any) -> Any:
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context.all_reduce("mean", {"a": x * (number + 1.0)})["a"]
        rows = context.all_gather(tf.fill([context.replica_id_in_sync_group + 1], number), 0)
        merged = context.merge_call(
            lambda strategy, value: strategy.extended.reduce_to("SUM", value, None), (x,)
        )
        slices = tf.IndexedSlices(tf.reshape(number, [1, 1]), [context.replica_id_in_sync_group], [4, 1])
        dense = tf.convert_to_tensor(context.all_reduce("sum", slices))
        return {"mean": y, "gradient": tape.gradient(y, x), "rows": rows, "merged": merged, "slices": dense}

    for name, run in (("eager", strategy.run), ("graph", tf.function(strategy.run))):
        result = run(replica, args=(tf.constant(2.0),))
        found[name] = {key: value.numpy().tolist() for key, value in result.items()}
    with strategy.scope():
        kinds = tf.VariableAggregation
        variables = {
            kind.name: tf.Variable(1.0, aggregation=kind)
            for kind in (kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA)
        }
    rank = float(strategy.rank)
    for variable in variables.values():
        strategy.run(lambda variable=variable: variable.assign_add(tf.constant(rank + 1.0)))
    found["variables"] = {name: float(variable.numpy()) for name, variable in variables.items()}
    found["axis"] = float(strategy.reduce("MEAN", tf.range(strategy.rank + 1.0), axis=0))
    found["gathered"] = strategy.gather(tf.constant([strategy.rank]), 0).numpy().tolist()
    found["devices"] = strategy.extended.worker_devices
    found["chief"] = strategy.extended.should_checkpoint
    return found


def data(strategy: Any, folder: Path) -> Any:
    """Distribute datasets by each policy; the elements are lists of rows."""
    found = {}
    numbers = tf.data.Dataset.range(10).batch(4)
    for policy in tf.data.experimental.AutoShardPolicy.OFF, tf.data.experimental.AutoShardPolicy.DATA:
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = policy
        shared = strategy.experimental_distribute_dataset(numbers.with_options(options))
        found[policy.name] = [batch.numpy().tolist() for batch in shared]
    for index, rows in enumerate((3, 1, 2)):
        (folder / f"{strategy.rank}-{index}.txt").write_text(
            "\n".join(f"{index}{row}" for row in range(rows))
        )
    names = [str(folder / f"{strategy.rank}-{index}.txt") for index in range(3)]
    lines = {
        "FILE": tf.data.TextLineDataset(names),
        "interleave": tf.data.Dataset.from_tensor_slices(names)
        .shuffle(3)
        .interleave(tf.data.TextLineDataset),
    }
    for name, dataset in lines.items():
        shared = strategy.experimental_distribute_dataset(dataset.map(tf.strings.to_number).batch(2))
        found[name] = [batch.numpy().astype(int).tolist() for batch in shared]
    shuffled = strategy.experimental_distribute_dataset(numbers.unbatch().shuffle(10, seed=1).batch(4))
    iter(shuffled)  # takes the order of the first iteration
    found["shuffled"] = [batch.numpy().tolist() for batch in shuffled]
    found["cardinality"] = int(strategy.experimental_distribute_dataset(numbers).cardinality)
    found["local"] = len(strategy.experimental_local_results(strategy.run(lambda: tf.constant(1.0))))
    own = strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(2 * context.input_pipeline_id).batch(1)
    )
    found["function"] = [batch.numpy().tolist() for batch in own]
    return found


def save(strategy: Any, folder: Path) -> Any:
    """Save under one path, and as in TensorFlow's guide under a path for each worker."""
    with strategy.scope():
        variable = tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    shared = checkpoint.save(str(folder / "shared" / "ckpt"))
    own = checkpoint.write(str(folder / f"own-{strategy.rank}" / "ckpt"))
    return {
        "shared": tf.train.latest_checkpoint(folder / "shared") == shared,
        "own": Path(f"{own}.index").exists(),
    }


def preempt(strategy: Any, folder: Path) -> Any:
    """Let the last worker get SIGTERM in its second step; all save, and would exit."""
    step = tf.Variable(0)
    ended: list[int] = []
    tools = tf.distribute.experimental
    config = tools.TerminationConfig(exit_fn=lambda: ended.append(int(step)))
    checkpoint = tf.train.Checkpoint(step=step)
    path = str(folder / "preempted")
    handler = tools.PreemptionCheckpointHandler(strategy.cluster_resolver, checkpoint, path, config)

    def count() -> None:
        if int(step.assign_add(1)) == 2 and strategy.worker == strategy.workers - 1:
            os.kill(os.getpid(), signal.SIGTERM)

    while not ended:
        handler.run(count)
    return {"ended": ended, "files": sorted(file.name for file in Path(path).glob("*.index"))}


def fit(strategy: Any, folder: Path) -> Any:
    """Train a model of Keras, with callbacks that write the same files in all workers."""
    keras = tf.keras
    keras.utils.set_random_seed(1)
    generator = np.random.default_rng(0)
    x = generator.normal(size=(40, 4)).astype(np.float32)
    y = (x.sum(1, keepdims=True) > 0).astype(np.float32)
    with strategy.scope():
        model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1, "sigmoid")]
        )
        schedule = keras.optimizers.schedules.CosineDecay(0.05, 20)
        model.compile(keras.optimizers.Adam(schedule), "binary_crossentropy", metrics=["accuracy"])
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(40, seed=1).batch(12)
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=2),
        keras.callbacks.ModelCheckpoint(folder / "best" / "model.keras", save_best_only=True),
        keras.callbacks.BackupAndRestore(folder / "backup"),
    ]
    history = model.fit(data, validation_data=(x, y), epochs=4, verbose=0, callbacks=callbacks).history
    best = keras.models.load_model(folder / "best" / "model.keras").evaluate(x, y, batch_size=8, verbose=0)
    evaluated = model.evaluate(x, y, batch_size=8, verbose=0)
    predicted = model.predict(x, batch_size=8, verbose=0)
    return {"history": history, "evaluated": evaluated, "best": best, "predicted": predicted.tolist()}


def guide(strategy: Any, folder: Path) -> Any:
    """Train as TensorFlow's guides to several workers do: a loop with a model, metrics and checkpoints to resume from.

    The first call stops in the middle of an epoch; the second one restores what the first has saved.
    """
    keras = tf.keras
    keras.utils.set_random_seed(2)
    per_worker, steps_per_epoch = 12 // strategy.num_replicas_in_sync, 5

    def dataset_fn(context: Any) -> Any:
        assert context.get_per_replica_batch_size(12) == per_worker
        generator = np.random.default_rng(4)
        images = generator.normal(size=(60, 6, 6, 1)).astype(np.float32)
        labels = (images.mean((1, 2, 3)) > 0).astype(np.int64)
        dataset = tf.data.Dataset.from_tensor_slices((images, labels)).repeat()
        return dataset.shard(context.num_input_pipelines, context.input_pipeline_id).batch(per_worker)

    with strategy.scope():
        model = keras.Sequential(
            [keras.Input((6, 6, 1)), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten()]
        )
        model.add(keras.layers.Dense(2))
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build(model.trainable_variables)
        accuracy = keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
        epoch = tf.Variable(tf.constant(0, tf.int64), name="epoch")
        step_in_epoch = tf.Variable(tf.constant(0, tf.int64), name="step_in_epoch")
    dataset = strategy.distribute_datasets_from_function(dataset_fn)
    resolver = strategy.cluster_resolver
    is_chief = resolver.task_type is None or resolver.task_id == 0

    def step_fn(inputs: Any) -> Any:
        x, y = inputs
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.nn.compute_average_loss(loss_of(y, logits), global_batch_size=12)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(y, logits)
        return loss

    @tf.function
    def train_step(iterator: Any) -> Any:
        return strategy.reduce(
            tf.distribute.ReduceOp.SUM, strategy.run(step_fn, args=(next(iterator),)), axis=None
        )

    checkpoint = tf.train.Checkpoint(model=model, epoch=epoch, step_in_epoch=step_in_epoch)
    shared = folder / "guide"
    own = shared if is_chief else folder / f"workertemp_{resolver.task_id}"
    manager = tf.train.CheckpointManager(checkpoint, directory=str(own), max_to_keep=1)
    latest = tf.train.latest_checkpoint(str(shared))
    if latest:
        checkpoint.restore(latest)
    found: dict[str, Any] = {"restored": [int(epoch), int(step_in_epoch)], "losses": [], "accuracy": []}
    iterator = iter(dataset)
    for _ in range(int(epoch) * steps_per_epoch + int(step_in_epoch)):
        next(iterator)
    while int(epoch) < 3:
        while int(step_in_epoch) < steps_per_epoch:
            found["losses"].append(float(train_step(iterator)))
            step_in_epoch.assign_add(1)
            if not latest and int(epoch) == 1 and int(step_in_epoch) == 2:
                manager.save()
        found["accuracy"].append(float(accuracy.result()))
        accuracy.reset_state()
        epoch.assign_add(1)
        step_in_epoch.assign(0)
    if not is_chief and not latest:
        tf.io.gfile.rmtree(str(own))
    return found


def compiled(strategy: Any, folder: Path) -> Any:
    """Train by native code and by XLA, and run a function whose shapes differ in the workers."""
    from agc.runtime.executors.llvm.jit_function import JitFunction
    from agc.runtime.executors.xla import XlaFunction

    gave_up: list[str] = []
    for compiler in (JitFunction, XlaFunction):
        fail = compiler.fail
        compiler.fail = lambda self, arguments, fail=fail: [  # type: ignore[method-assign]
            gave_up.append(type(self).__name__),
            fail(self, arguments),
        ][1]
    found: dict[str, Any] = {
        executor: Training(strategy, executor).losses(0, STEPS) for executor in ("native", "xla")
    }
    found["gave up"] = list(gave_up)

    def gathered(rows: Any) -> Any:
        context = tf.distribute.get_replica_context()
        total = tf.zeros([2])
        for _ in tf.range(2):
            total += context.all_reduce("sum", rows[0])
        return context.all_gather(rows, 0) + total

    rank = strategy.rank
    for executor in ("native", "xla"):
        run = tf.function(gathered, experimental_executor=executor)
        for name, count in (("even", 2), ("uneven", rank + 1)):
            rows = tf.reshape(tf.range(2.0 * count), [count, 2]) + float(rank)
            found[f"{executor} {name}"] = strategy.run(run, args=(rows,)).numpy().tolist()
    found["ran uneven shapes"] = gave_up[len(found["gave up"]) :]
    return found


def devices(strategy: Any, folder: Path) -> Any:
    """Use several devices in each worker."""
    found: dict[str, Any] = {
        executor: Training(strategy, executor).losses(0, STEPS) for executor in ("plan", "xla")
    }
    found["devices"] = strategy.extended.worker_devices
    kinds = tf.VariableAggregation
    with strategy.scope():
        made = {kind.name: tf.Variable(float(strategy.worker), aggregation=kind) for kind in kinds}

    def replica() -> Any:
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        for variable in made.values():
            variable.assign_add(number + 1.0)
        rows = context.all_gather(tf.fill([context.replica_id_in_sync_group + 1], number), 0)
        return {"rows": rows, "mean": context.all_reduce("mean", number), "number": number}

    for name, run in (("eager", strategy.run), ("graph", tf.function(strategy.run))):
        for variable in made.values():
            variable.assign(0.0)
        result = run(replica)
        found[name] = {
            "rows": [part.numpy().tolist() for part in result["rows"].values],
            "mean": [float(part) for part in result["mean"].values],
            "sum": float(strategy.reduce("SUM", result["number"], axis=None)),
            "mean of rows": float(strategy.reduce("MEAN", result["rows"], axis=0)),
            "gathered": strategy.gather(strategy.run(_row, args=(result["number"],)), 0).numpy().tolist(),
            "variables": {kind: [float(part) for part in variable.values] for kind, variable in made.items()},
        }
    gather = tf.function(
        lambda x: tf.distribute.get_replica_context().all_gather(2.0 * x, 0), jit_compile="xla"
    )
    for name, rows in (("even", lambda one: 2), ("uneven", lambda one: one.replica_id_in_sync_group + 1)):
        parts = strategy.experimental_distribute_values_from_function(
            lambda one, rows=rows: tf.fill([rows(one)], float(one.replica_id_in_sync_group))
        )
        found[name] = [part.numpy().tolist() for part in strategy.run(gather, args=(parts,)).values]
    numbers = strategy.experimental_distribute_values_from_function(lambda one: one.replica_id_in_sync_group)
    found["numbers"] = list(numbers.values)
    own = strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(3 + context.input_pipeline_id).batch(1)
    )
    found["function"] = [[part.numpy().tolist() for part in batch.values] for batch in own]
    return found


def _row(value: Any) -> Any:
    return tf.reshape(value, [1])


def failing(strategy: Any, folder: Path, worker: int, number: int) -> Any:
    """Let a worker send a signal to itself; the others report the error of their next step, and end that worker.

    The limit is short from here on only: until now a slow machine may have stopped workers for some seconds.
    """
    from agc.runtime.distribute.worker_health import silence_limit
    from agc.runtime.kernels.collectives import active

    os.environ["AGC_WORKER_SILENCE"] = "2" if number == signal.SIGSTOP else "30"
    active.engine.health._limit = silence_limit()  # type: ignore[attr-defined]
    file = folder / "failing"
    if strategy.rank == worker:
        file.write_text(str(os.getpid()))
        os.kill(os.getpid(), number)
    start = time.monotonic()
    try:
        strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("sum", tf.constant(1.0)))
    except tf.errors.UnavailableError as error:
        return {"error": str(error), "seconds": time.monotonic() - start}
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)


def kill_last(strategy: Any, folder: Path) -> Any:
    return failing(strategy, folder, strategy.num_replicas_in_sync - 1, signal.SIGKILL)


def kill_chief(strategy: Any, folder: Path) -> Any:
    return failing(strategy, folder, 0, signal.SIGKILL)


def stop_last(strategy: Any, folder: Path) -> Any:
    return failing(strategy, folder, strategy.num_replicas_in_sync - 1, signal.SIGSTOP)


def stop_chief(strategy: Any, folder: Path) -> Any:
    return failing(strategy, folder, 0, signal.SIGSTOP)


PARTS = {
    part.__name__: part
    for part in (
        *(train, compiled, resume, values, data, save, preempt, fit, guide, devices),
        *(kill_last, kill_chief, stop_last, stop_chief),
    )
}


def main() -> None:
    folder, *parts = sys.argv[1:]
    options = tf.distribute.experimental.CommunicationOptions(timeout_seconds=100.0)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    found: dict[str, Any] = {}
    for part in parts:
        found[part] = PARTS[part](strategy, Path(folder))
        (Path(folder) / f"worker-{strategy.worker}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
